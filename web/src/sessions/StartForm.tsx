/** Starting an agent: which one, what it is to do, and where. Leads to its screen. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState, type FormEvent, type KeyboardEvent } from "react";
import { newConfirmId } from "../api/client";
import { explain, Refused } from "../api/problem";
import { refresh, sessionsQuery } from "../api/queries";
import { agentTypesQuery, startSession } from "../api/session-queries";
import type { AgentType, NewSession } from "../api/types";
import { goToOne } from "../app/routes";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";

const ROLES = ["", "coach", "manager"] as const;

export function StartForm({ onLeave }: { onLeave: () => void }) {
  const { data, error } = useQuery(agentTypesQuery);
  const [name, setName] = useState<string | null>(null);
  const [task, setTask] = useState("");
  const [role, setRole] = useState<(typeof ROLES)[number]>("");
  const [here, setHere] = useState(false);
  const ids = useId();
  const choice = useRef<HTMLSelectElement>(null);
  const agents = data?.agents ?? [];
  const usable = agents.filter((one) => one.usable);
  const agent = usable.find((one) => one.name === name) ?? usable.find((one) => one.takes_task) ?? usable[0];
  const start = useMutation({
    mutationFn: ({ wanted, confirmId }: { wanted: NewSession; confirmId: string }) => startSession(wanted, confirmId),
    onSuccess: ({ id }) => {
      announce(`Started ${plainText(id)}`);
      void refresh(sessionsQuery.queryKey);
      goToOne("session", id);
    },
    onError: (problem) => announce(`Not started. ${explain(problem)}`),
  });
  useEffect(() => choice.current?.focus({ preventScroll: true }), []);

  function go(event: FormEvent): void {
    event.preventDefault();
    if (agent === undefined || start.isPending) return;
    const wanted = { agent: agent.name, task: agent.takes_task ? task : "", worktree: !here, ...(role !== "" && { role }) };
    start.mutate({ wanted, confirmId: newConfirmId() });
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== "Escape" || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onLeave();
  }

  const failed = start.error ?? error;
  const pointsAtTask = start.error instanceof Refused && start.error.pointer === "/task";
  return (
    <form className="card start-form" aria-label="Start an agent" onSubmit={go} onKeyDown={onKeyDown}>
      <div className="field">
        <label htmlFor={`${ids}-agent`}>Agent</label>
        <select
          ref={choice}
          id={`${ids}-agent`}
          className="line-input"
          value={agent?.name ?? ""}
          aria-describedby={`${ids}-about`}
          onChange={(event) => setName(event.target.value)}
        >
          {agents.map((one) => (
            <option key={one.name} value={one.name} disabled={!one.usable}>
              {optionOf(one)}
            </option>
          ))}
        </select>
        <p id={`${ids}-about`} className="card-hint">
          {agent ? aboutOf(agent) : "None of the types can be used here; gemba agents says why."}
        </p>
      </div>
      <div className="field">
        <label htmlFor={`${ids}-task`}>
          Task {agent?.takes_task === false && <span className="field-optional">it takes none</span>}
        </label>
        <textarea
          id={`${ids}-task`}
          className="line-input"
          rows={4}
          value={task}
          disabled={agent?.takes_task === false}
          aria-invalid={pointsAtTask || undefined}
          onChange={(event) => setTask(event.target.value)}
        />
      </div>
      <div className="start-choices">
        <div className="field">
          <label htmlFor={`${ids}-role`}>Role</label>
          <select
            id={`${ids}-role`}
            className="line-input"
            value={role}
            onChange={(event) => setRole(event.target.value as typeof role)}
          >
            <option value="">none</option>
            <option value="coach">coach: may ask, raises no blocker</option>
            <option value="manager">manager: may ask and block</option>
          </select>
        </div>
        <div className="field">
          <label htmlFor={`${ids}-where`}>Where</label>
          <select
            id={`${ids}-where`}
            className="line-input"
            value={here ? "here" : "tree"}
            onChange={(event) => setHere(event.target.value === "here")}
          >
            <option value="tree">in a worktree and on a branch of its own</option>
            <option value="here">in the workspace itself, beside whoever works there</option>
          </select>
        </div>
      </div>
      {failed !== null && (
        <p className="mark" data-tone="bad" role="alert">
          <Icon name="warn" />
          <span>{plainText(explain(failed))}</span>
        </p>
      )}
      <div className="bar">
        <button type="submit" className="button" data-main disabled={agent === undefined || start.isPending}>
          {start.isPending ? "Starting…" : "Start"}
        </button>
        <button type="button" className="quiet" onClick={onLeave}>
          Cancel
        </button>
      </div>
    </form>
  );
}

function optionOf({ name, why_not: whyNot }: AgentType): string {
  return plainText(whyNot === null ? name : `${name}: ${whyNot}`);
}

function aboutOf({ description, interaction_mode: mode, headless }: AgentType): string {
  const words = description === "" ? "" : `${plainText(description)}. `;
  return `${words}${headless ? "Takes one prompt and ends" : "Can be typed to"}; ${mode} mode.`;
}
