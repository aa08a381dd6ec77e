/** What is done to all that are selected: one change for each of them, or the PM goes through them. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useId, useState, type FormEvent, type KeyboardEvent } from "react";
import { newConfirmId } from "../api/client";
import { explain } from "../api/problem";
import { refresh } from "../api/queries";
import { askToRefine, BACKLOG, changeItem, PM, type BacklogItem, type ItemChange, type ItemState } from "../api/refine-queries";
import { agentTypesQuery } from "../api/session-queries";
import { ModelNeeded, usePersonasFor } from "../consults/WhomFields";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { labelsIn, stateWords, STATES } from "./rows";
import { placeItem } from "./useChange";

interface Props {
  chosen: BacklogItem[];
  onAsked: (consult: string) => void;
  onLeave: () => void;
  onClear: () => void;
}

type Each = (item: BacklogItem) => ItemChange;

export function ChosenBar({ chosen, onAsked, onLeave, onClear }: Props) {
  const ids = useId();
  const [guidance, setGuidance] = useState("");
  const [agent, setAgent] = useState("");
  const [label, setLabel] = useState("");
  const agents = useQuery(agentTypesQuery).data?.agents ?? [];
  const asSet = usePersonasFor("refine").find(({ id }) => id === PM)?.answered_by ?? "";
  const ask = useMutation({
    mutationFn: (confirmId: string) =>
      askToRefine(
        chosen.map(({ id }) => id),
        agent,
        guidance.trim(),
        confirmId,
      ),
    // Where nobody can answer, a consult that has failed is kept: one is enough.
    retry: false,
    onSuccess: ({ id }) => {
      announce("Asked");
      onAsked(id);
    },
    onError: (error) => announce(`Not asked. ${explain(error)}`),
  });
  const change = useMutation({
    mutationFn: (each: Each) => changeAll(chosen, each),
    onSuccess: ({ done, refused }) => {
      announce(refused.length === 0 ? `${done} changed` : `${done} changed, ${refused.length} not`);
      return refresh(BACKLOG);
    },
  });
  const all = (each: Each) => !change.isPending && change.mutate(each);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== "Escape" || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    onLeave();
  }

  function go(event: FormEvent): void {
    event.preventDefault();
    if (!ask.isPending) ask.mutate(newConfirmId());
  }

  return (
    <form className="bulk refine-chosen" aria-label="What is selected" onSubmit={go} onKeyDown={onKeyDown}>
      <div className="bulk-head">
        <strong>{chosen.length.toLocaleString()} selected</strong>
        <button type="button" className="quiet" onClick={onClear}>
          Select none
        </button>
      </div>
      <div className="refine-fields">
        <div className="field">
          <label htmlFor={`${ids}-priority`}>Priority of all</label>
          <select
            id={`${ids}-priority`}
            className="line-input"
            value=""
            onChange={(event) => {
              const priority = Number(event.target.value);
              all(() => ({ priority }));
            }}
          >
            <option value="" disabled>
              change…
            </option>
            {[0, 1, 2, 3, 4].map((priority) => (
              <option key={priority} value={priority}>
                P{priority}
              </option>
            ))}
          </select>
        </div>
        <div className="field">
          <label htmlFor={`${ids}-state`}>State of all</label>
          <select
            id={`${ids}-state`}
            className="line-input"
            value=""
            onChange={(event) => {
              const state = event.target.value as ItemState;
              all(() => ({ state }));
            }}
          >
            <option value="" disabled>
              change…
            </option>
            {STATES.map((state) => (
              <option key={state} value={state}>
                {stateWords(state)}
              </option>
            ))}
          </select>
        </div>
        <div className="field">
          <label htmlFor={`${ids}-label`}>Add labels to all</label>
          <input
            id={`${ids}-label`}
            className="line-input"
            type="text"
            autoComplete="off"
            value={label}
            onChange={(event) => setLabel(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
              event.preventDefault();
              const more = labelsIn(label);
              if (more.length > 0) all((item) => ({ labels: [...new Set([...item.labels, ...more])] }));
              setLabel("");
            }}
          />
        </div>
      </div>
      <div className="refine-fields">
        <div className="field refine-guidance">
          <label htmlFor={`${ids}-guidance`}>
            What the PM should mind <span className="field-optional">may be empty</span>
          </label>
          <input
            id={`${ids}-guidance`}
            data-ask
            className="line-input"
            type="text"
            autoComplete="off"
            maxLength={2_000}
            value={guidance}
            onChange={(event) => setGuidance(event.target.value)}
          />
        </div>
        <div className="field">
          <label htmlFor={`${ids}-agent`}>Answered by</label>
          <select id={`${ids}-agent`} className="line-input" value={agent} onChange={(event) => setAgent(event.target.value)}>
            <option value="">{asSet === "" ? "as set" : `as set: ${plainText(asSet)}`}</option>
            {agents
              .filter(({ name }) => name !== "builtin")
              .map((one) => (
                <option key={one.name} value={one.name} disabled={!one.usable}>
                  {plainText(one.why_not === null ? one.name : `${one.name}: ${one.why_not}`)}
                </option>
              ))}
          </select>
          <ModelNeeded skill="refine" agent={agent || asSet} />
        </div>
        <button type="submit" className="button" aria-disabled={ask.isPending}>
          {ask.isPending ? "Asking…" : "Ask the PM to refine"}
        </button>
      </div>
      {ask.isError && (
        <p className="mark" data-tone="bad" role="alert">
          <Icon name="warn" />
          <span>{plainText(explain(ask.error))}</span>
        </p>
      )}
      {change.data !== undefined && change.data.refused.length > 0 && (
        <ul className="refine-said" role="alert">
          {change.data.refused.map(({ id, why }) => (
            <li key={id}>{plainText(`${id}: ${why}`)}</li>
          ))}
        </ul>
      )}
    </form>
  );
}

/** One after the other, each with the version that was shown; what is refused stops none of the others. */
async function changeAll(chosen: BacklogItem[], each: Each) {
  const refused: { id: string; why: string }[] = [];
  let done = 0;
  for (const item of chosen) {
    try {
      placeItem(await changeItem(item.id, each(item), item.version, newConfirmId()));
      done += 1;
    } catch (error) {
      refused.push({ id: item.id, why: explain(error) });
    }
  }
  return { done, refused };
}
