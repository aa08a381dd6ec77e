/** Starting a team: what is to be done, by which agents, for which epic. Planned only, nothing begins before one says so. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState, type FormEvent, type KeyboardEvent } from "react";
import { newConfirmId } from "../api/client";
import { explain, Refused } from "../api/problem";
import { queryClient, refresh } from "../api/queries";
import { agentTypesQuery } from "../api/session-queries";
import { startTeam } from "../api/team-deeds";
import { teamQuery, TEAMS } from "../api/team-queries";
import type { NewTeam } from "../api/types";
import { itemQuery } from "../api/work-queries";
import { goToOne } from "../app/routes";
import { Parents } from "../board/Filters";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { textOfEpic } from "./epic";

const ROLES = ["5", "4", "3", "2", "1"];
const EMPTY = "Nothing was started: say what is to be done, or choose an epic.";
type Ending = "keep" | "merge" | "archive";

export function StartTeam({ epic: given, onLeave }: { epic: string; onLeave: () => void }) {
  const { data: types, error: unread } = useQuery(agentTypesQuery);
  const [typed, setText] = useState<string | null>(null);
  const [epic, setEpic] = useState(given);
  const [name, setName] = useState<string | null>(null);
  const [roles, setRoles] = useState("5");
  const [reviewer, setReviewer] = useState("builtin");
  const [ending, setEnding] = useState<Ending>("keep");
  const [isEmpty, setIsEmpty] = useState(false);
  const item = useQuery({ ...itemQuery(epic), enabled: epic !== "" }).data;
  const ids = useId();
  const box = useRef<HTMLTextAreaElement>(null);
  // What somebody typed is theirs; until then the epic says what is to be done.
  const text = typed ?? (item === undefined || item.id !== epic ? "" : textOfEpic(item));
  const agents = types?.agents.filter(({ takes_task }) => takes_task) ?? [];
  const usable = agents.filter((one) => one.usable);
  const agent = usable.find((one) => one.name === name) ?? usable.find((one) => one.name !== "builtin") ?? usable[0];
  const start = useMutation({
    mutationFn: ({ wanted, confirmId }: { wanted: NewTeam; confirmId: string }) => startTeam(wanted, confirmId),
    onSuccess: (run) => {
      announce(run.state === "planned" ? "Planned; it waits for your start" : `Started a team of ${run.roles.length}`);
      queryClient.setQueryData(teamQuery(run.id).queryKey, run);
      void refresh([...TEAMS, "list"]);
      goToOne("team", run.id);
    },
    onError: (problem) => announce(`Not started. ${explain(problem)}`),
  });
  useEffect(() => box.current?.focus({ preventScroll: true }), []);

  function go(planOnly: boolean): void {
    if (agent === undefined || start.isPending) return;
    if (text.trim() === "") {
      box.current?.focus();
      setIsEmpty(true);
      announce(EMPTY);
      return;
    }
    const wanted = {
      text,
      agent: agent.name,
      max_roles: Number(roles),
      plan_only: planOnly,
      settings: { reviewer, on_complete: ending },
      ...(epic !== "" && { epic_id: epic }),
    };
    start.mutate({ wanted, confirmId: newConfirmId() });
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      onLeave();
    }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      go(false);
    }
  }

  const failed = start.error ?? unread;
  const pointer = start.error instanceof Refused ? start.error.pointer : null;
  return (
    <form
      className="card start-form"
      aria-label="Start a team"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        go(false);
      }}
      onKeyDown={onKeyDown}
    >
      <div className="field">
        <label htmlFor={`${ids}-text`}>What is to be done</label>
        <textarea
          ref={box}
          id={`${ids}-text`}
          className="line-input"
          rows={5}
          value={text}
          placeholder="Investigate why the search is slow, fix it, and test it"
          aria-invalid={pointer === "/text" || isEmpty || undefined}
          aria-describedby={`${ids}-about`}
          onChange={(event) => {
            setText(event.target.value);
            setIsEmpty(false);
          }}
        />
        <p id={`${ids}-about`} className="card-hint">
          Its words decide which roles take part: investigate, plan, design, write, implement, review, test and their like.
        </p>
      </div>
      <div className="start-choices">
        <div className="field">
          <label htmlFor={`${ids}-agent`}>Agents</label>
          <select
            id={`${ids}-agent`}
            className="line-input"
            value={agent?.name ?? ""}
            aria-invalid={pointer === "/agent" || undefined}
            onChange={(event) => setName(event.target.value)}
          >
            {agent === undefined && <option value="">none can be used here</option>}
            {agents.map((one) => (
              <option key={one.name} value={one.name} disabled={!one.usable}>
                {plainText(one.why_not === null ? one.name : `${one.name}: ${one.why_not}`)}
              </option>
            ))}
          </select>
        </div>
        <div className="field">
          <span className="field-label" aria-hidden="true">
            Epic <span className="field-optional">optional</span>
          </span>
          <Parents value={epic} onValue={setEpic} none="none" label="Epic, optional" />
        </div>
      </div>
      <details className="as-table">
        <summary>How it runs</summary>
        <div className="start-choices">
          <div className="field">
            <label htmlFor={`${ids}-reviewer`}>Who reviews at the gates</label>
            <select id={`${ids}-reviewer`} className="line-input" value={reviewer} onChange={(event) => setReviewer(event.target.value)}>
              <option value="builtin">the built-in reviewer</option>
              <option value="person">you, on a card each time</option>
            </select>
          </div>
          <div className="field">
            <label htmlFor={`${ids}-roles`}>At most so many roles</label>
            <select id={`${ids}-roles`} className="line-input" value={roles} onChange={(event) => setRoles(event.target.value)}>
              {ROLES.map((many) => (
                <option key={many}>{many}</option>
              ))}
            </select>
          </div>
          <div className="field">
            <label htmlFor={`${ids}-ending`}>When all is done</label>
            <select id={`${ids}-ending`} className="line-input" value={ending} onChange={(event) => setEnding(event.target.value as Ending)}>
              <option value="keep">keep the branch for me to look at</option>
              <option value="merge">merge the branch</option>
              <option value="archive">keep the branch, archive the run</option>
            </select>
          </div>
        </div>
      </details>
      {isEmpty && text.trim() === "" && (
        <p className="mark" data-tone="bad" role="alert">
          <Icon name="warn" />
          <span>{EMPTY}</span>
        </p>
      )}
      {failed !== null && (
        <p className="mark" data-tone="bad" role="alert">
          <Icon name="warn" />
          <span>{plainText(explain(failed))}</span>
        </p>
      )}
      <div className="bar">
        <button type="submit" className="button" data-main disabled={agent === undefined || start.isPending}>
          <Icon name="play" /> {start.isPending ? "Working…" : "Start"}
        </button>
        <button type="button" className="button" disabled={agent === undefined || start.isPending} onClick={() => go(true)}>
          Plan only
        </button>
        <button type="button" className="quiet" onClick={onLeave}>
          Cancel
        </button>
      </div>
    </form>
  );
}
