/** A reply that nobody has read: why, how often it was tried, and the ways on: again, to another session, or told by hand. */
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { sessionsQuery } from "../api/queries";
import type { Escalation } from "../api/types";
import { useWords } from "../ui/Age";
import { plainText } from "../ui/plain-text";
import { formatSpan } from "../ui/time";
import { deeds, type Deed } from "./deeds";

interface Props {
  escalation: Escalation;
  onDeed: (deed: Deed) => void;
}

export function Undelivered({ escalation, onDeed }: Props) {
  const [picking, setPicking] = useState(false);
  const { attempts, next_attempt_at, delivery_note, turn_session } = escalation;
  const next = useWords((now) => nextAttempt(next_attempt_at, now));
  const tried = attempts > 0 ? `tried ${attempts}×` : "";
  return (
    <div className="undelivered">
      {delivery_note !== null && <p className="row-warning">{plainText(delivery_note)}</p>}
      {(tried || next) !== "" && <p className="row-note">{[tried, next].filter(Boolean).join(" · ")}</p>}
      {turn_session !== null && <p className="row-note">It waits as the next turn of {plainText(turn_session)}.</p>}
      {escalation.channel === "notification" && (
        <div className="bar" role="group" aria-label="Ways on">
          <button
            type="button"
            className="button"
            onClick={() => onDeed(deeds.reroute({ to: "hand" }, "Given in its window"))}
          >
            I gave it in its window
          </button>
        </div>
      )}
      {escalation.channel === "tool_call" &&
        (picking ? (
          <PickSession
            asker={escalation.session_id}
            onPick={(session_id) => onDeed(deeds.reroute({ to: "session", session_id }, `Sent to ${session_id}`))}
            onCancel={() => setPicking(false)}
          />
        ) : (
          <div className="bar" role="group" aria-label="Ways on">
            <button
              type="button"
              className="button"
              onClick={() => onDeed(deeds.reroute({ to: "asker" }, "Tried again"))}
            >
              Try again
            </button>
            <button type="button" className="button" onClick={() => setPicking(true)}>
              To another session…
            </button>
            <button
              type="button"
              className="quiet"
              onClick={() => onDeed(deeds.reroute({ to: "hand" }, "Told by hand"))}
            >
              I told it myself
            </button>
          </div>
        ))}
    </div>
  );
}

function nextAttempt(at: string | null, now: number): string {
  if (at === null) return "";
  const left = Date.parse(at) - now;
  return left < 10_000 ? "next attempt now" : `next attempt in ${formatSpan(left)}`;
}

interface PickProps {
  asker: string;
  onPick: (session: string) => void;
  onCancel: () => void;
}

function PickSession({ asker, onPick, onCancel }: PickProps) {
  const id = useId();
  const { data, isPending } = useQuery(sessionsQuery);
  const others = (data?.sessions ?? []).filter((session) => session.id !== asker);
  const living = others.filter(({ lifecycle }) => lifecycle === "running" || lifecycle === "starting");
  const [picked, setPicked] = useState("");
  if (!isPending && living.length === 0)
    return (
      <p className="row-note">
        No other session runs.{" "}
        <button type="button" className="link-button" onClick={onCancel}>
          Back
        </button>
      </p>
    );
  return (
    <div className="bar" role="group" aria-label="To another session">
      <label htmlFor={id} className="bar-label">
        Next turn of
      </label>
      <select
        id={id}
        className="line-input"
        autoFocus
        value={picked}
        onChange={(event) => setPicked(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && onCancel()}
      >
        <option value="">Choose a session…</option>
        {living.map((session) => (
          <option key={session.id} value={session.id}>
            {plainText(session.id)}
          </option>
        ))}
      </select>
      <button type="button" className="button" disabled={picked === ""} onClick={() => onPick(picked)}>
        Send
      </button>
      <button type="button" className="quiet" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}
