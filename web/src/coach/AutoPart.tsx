/** Auto-dispatch on one card: its switches, what holds it now, and the last starts with every reason. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { AUTO, autoQuery, autoStartsQuery, switchAuto } from "../api/auto-queries";
import { newConfirmId } from "../api/client";
import { explain } from "../api/problem";
import { refresh } from "../api/queries";
import type { components } from "../api/schema";
import { linkToOne } from "../app/routes";
import { Failure } from "../sessions/AskOnce";
import { Age } from "../ui/Age";
import { announce } from "../ui/announce";
import { plainText } from "../ui/plain-text";
import { sessionName } from "../ui/session-name";

type AutoStart = components["schemas"]["AutoStart"];
type AutoType = components["schemas"]["AutoType"];

export function AutoPart() {
  const status = useQuery(autoQuery);
  const begun = useQuery(autoStartsQuery).data?.starts ?? [];
  const title = useId();
  if (status.data === undefined) return null;
  const { switch: whole, types, holds, running, max_parallel } = status.data;
  const usable = types.filter((one) => one.unusable === null || one.switch.on);
  // The switches show these already.
  const told = holds.filter((hold) => hold.kind !== "off" && hold.kind !== "type_off");
  return (
    <section className="section" aria-labelledby={title}>
      <h2 id={title} className="section-title">
        Starts by itself
        <span className="section-hint">
          {running} of {max_parallel} at work
        </span>
      </h2>
      <ul className="rows" aria-label="What may start">
        <Switch label="Ready work starts without me" on={whole.on} agentType={null} />
        {usable.map((one) => (
          <Switch key={one.agent_type} label={labelOf(one)} on={one.switch.on} agentType={one.agent_type} />
        ))}
      </ul>
      {told.length > 0 && (
        <ul className="rows" aria-label="What holds it">
          {told.map((hold) => (
            <li key={`${hold.kind} ${hold.agent_type ?? ""}`} className="row">
              <p className="row-warning">{plainText(hold.text)}</p>
            </li>
          ))}
        </ul>
      )}
      {begun.length > 0 && (
        <ul className="rows" aria-label="Started last">
          {begun.map((start) => (
            <Started key={start.id} start={start} />
          ))}
        </ul>
      )}
    </section>
  );
}

function labelOf(one: AutoType): string {
  return `${plainText(one.agent_type)}: ${one.living} of ${one.max_parallel} run`;
}

function Switch({ label, on, agentType }: { label: string; on: boolean; agentType: string | null }) {
  const turn = useMutation({
    mutationFn: (wanted: boolean) => switchAuto(wanted, agentType, newConfirmId()),
    onSuccess: (made) => announce(`${label}: ${made.on ? "on" : "off"}`),
    onError: (error) => announce(`Not switched. ${explain(error)}`),
    onSettled: () => refresh(AUTO),
  });
  return (
    <li className="row switch-row">
      <label>
        <input
          type="checkbox"
          role="switch"
          checked={turn.isPending ? turn.variables : on}
          disabled={turn.isPending}
          onChange={(event) => turn.mutate(event.target.checked)}
        />
        {label}
      </label>
      <Failure of="Not switched" error={turn.error} />
    </li>
  );
}

function Started({ start }: { start: AutoStart }) {
  return (
    <li className="row" data-state={start.state} data-tone={start.trouble === null ? undefined : "warn"}>
      <div className="row-words">
        <p className="row-title" dir="auto">
          {plainText(start.title)}
        </p>
        <p className="row-note">
          {start.state} · {plainText(start.item_id)} ·{" "}
          <a {...linkToOne("session", start.session_id)}>{sessionName(start.session_id)}</a> ·{" "}
          <Age since={start.created_at} ago />
        </p>
        {start.trouble !== null && <p className="row-warning">{plainText(start.trouble)}</p>}
        <details>
          <summary>Why: {start.score} points</summary>
          <ul>
            <li>{plainText(start.because)}</li>
            {start.reasons.map((line) => (
              <li key={line.kind}>
                {line.points === 0 ? "" : `${line.points > 0 ? "+" : ""}${line.points} `}
                {plainText(line.text)}
              </li>
            ))}
          </ul>
        </details>
      </div>
    </li>
  );
}
