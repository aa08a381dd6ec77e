/**
 * The backlog as one dense table: looked through by key, changed in place, and gone through by the PM, whose proposals
 * stand beneath the rows that they are about.
 */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { consultQuery } from "../api/consult-queries";
import { BACKLOG_STATES, backlogQuery, wholesQuery } from "../api/refine-queries";
import { useParameter } from "../app/routes";
import { Kbd } from "../ui/Kbd";
import { EmptyState, ReadError, Skeletons } from "../ui/Notice";
import { AdvicePart } from "./AdvicePart";
import { ChosenBar } from "./ChosenBar";
import type { FieldName } from "./EditFields";
import { ItemRow } from "./ItemRow";
import { adviceOf, inOrder, matching, stateWords } from "./rows";
import { focusRow, useKeptFocus, useRefineKeys } from "./useRefineKeys";

const STEP = 200;
const NOBODY: readonly number[] = [];

export function RefineScreen() {
  const backlog = useQuery(backlogQuery);
  const wholes = useQuery(wholesQuery).data?.items;
  const [text, setText] = useState("");
  const [state, setState] = useParameter("state");
  const [consultId, setConsultId] = useParameter("consult");
  const [limit, setLimit] = useState(STEP);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [edited, setEdited] = useState<{ id: string; field: FieldName } | null>(null);
  const consult = useQuery({ ...consultQuery(consultId), enabled: consultId !== "", staleTime: 0 }).data;

  const all = useMemo(() => inOrder(backlog.data?.items ?? []), [backlog.data]);
  const found = useMemo(() => matching(all, text, state), [all, text, state]);
  const shown = found.slice(0, limit);
  const chosen = all.filter(({ id }) => selected.has(id));
  const advice = useMemo(
    () => adviceOf(consult?.validated_lines ?? [], new Set(found.map(({ id }) => id))),
    [consult, found],
  );
  const canApply = consult?.status === "running" || consult?.status === "completed";

  const select = useCallback((id: string) => setSelected((known) => toggled(known, id)), []);
  const edit = useCallback(
    (id: string | null, field: FieldName = "priority") => setEdited(id === null ? null : { id, field }),
    [],
  );
  const everything = () => new Set(shown.map(({ id }) => id));
  useKeptFocus(shown);
  useRefineKeys({
    select,
    selectAll: () => setSelected((known) => (shown.every(({ id }) => known.has(id)) ? new Set() : everything())),
    selectNone: () => setSelected(new Set()),
    edit,
  });

  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Refine</h1>
        <p>
          What nobody has begun. Go through it with <Kbd>j</Kbd> and <Kbd>k</Kbd>, change it where it stands, or select
          some and have the PM say what is wrong with them.
        </p>
      </header>
      {backlog.isPending && <Skeletons count={3} label="Reading the backlog" />}
      {backlog.isError && backlog.data === undefined && (
        <ReadError what="The backlog" error={backlog.error} onRetry={() => void backlog.refetch()} />
      )}
      {consult && (
        <AdvicePart consult={consult} advice={advice} canApply={canApply} onPutAway={() => setConsultId("")} />
      )}
      {backlog.data?.items.length === 0 && (
        <EmptyState title="Nothing is in the backlog">
          <p>What is made, or taken in from elsewhere, stands here until somebody begins it:</p>
          <pre tabIndex={0} aria-label="How to make an item">
            <code>gemba item add "Rate limits on the API" --state backlog</code>
          </pre>
        </EmptyState>
      )}
      {all.length > 0 && (
        <>
          <div className="filters">
            <input
              className="line-input"
              type="search"
              aria-label="Look for words in the backlog"
              placeholder="Words, ids, labels"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
            <select
              className="line-input"
              aria-label="Which states"
              value={state}
              onChange={(event) => setState(event.target.value)}
            >
              <option value="">every state</option>
              {BACKLOG_STATES.map((each) => (
                <option key={each} value={each}>
                  {stateWords(each)}
                </option>
              ))}
            </select>
            <span className="found" role="status">
              {found.length.toLocaleString()} of {(backlog.data?.total ?? 0).toLocaleString()}
            </span>
          </div>
          <div className="panel refine-panel">
            <table className="refine">
              <caption className="visually-hidden">The backlog, what matters most first</caption>
              <thead>
                <tr>
                  <th scope="col">
                    <span className="visually-hidden">Selected</span>
                  </th>
                  <th scope="col">
                    P<span className="visually-hidden">riority</span>
                  </th>
                  <th scope="col">Item</th>
                  <th scope="col">Kind</th>
                  <th scope="col">State</th>
                  <th scope="col">Part of</th>
                  <th scope="col">Labels</th>
                  <th scope="col">Tokens</th>
                  <th scope="col">Age</th>
                </tr>
              </thead>
              {shown.map((item) => (
                <ItemRow
                  key={item.id}
                  item={item}
                  wholes={wholes ?? []}
                  isSelected={selected.has(item.id)}
                  edits={edited?.id === item.id ? edited.field : null}
                  said={advice.byItem.get(item.id)}
                  consult={consultId}
                  applied={consult?.applied_idx ?? NOBODY}
                  canApply={canApply}
                  onSelect={select}
                  onEdit={edit}
                />
              ))}
            </table>
          </div>
          {found.length > shown.length && (
            <p className="more">
              <button type="button" className="button" onClick={() => setLimit(limit + STEP)}>
                Show more
              </button>
            </p>
          )}
          {found.length === 0 && <p className="found">Nothing has all of these words.</p>}
        </>
      )}
      {chosen.length > 0 && (
        <ChosenBar
          chosen={chosen}
          onAsked={setConsultId}
          onClear={() => setSelected(new Set())}
          onLeave={() => focusRow(document.querySelector<HTMLElement>("tbody[data-selected] .refine-row") ?? undefined)}
        />
      )}
    </>
  );
}

function toggled(known: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(known);
  if (!next.delete(id)) next.add(id);
  return next;
}
