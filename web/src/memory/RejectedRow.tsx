/** One that the operator did not want remembered, with the reason, and the way back. */
import { useRef } from "react";
import { explain } from "../api/problem";
import type { Memory } from "../api/types";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { firstLine, plainText } from "../ui/plain-text";
import { useHandOverFocus } from "../ui/useHandOverFocus";
import { useDecision } from "./decisions";

export function RejectedRow({ memory }: { memory: Memory }) {
  const row = useRef<HTMLLIElement>(null);
  const { decide, isBusy, error } = useDecision(memory.id);
  useHandOverFocus(row);
  return (
    <li ref={row} className="row" data-memory-id={memory.id}>
      <Icon name="close" />
      <div className="row-words">
        <p className="row-title" dir="auto">
          {firstLine(memory.description)}
        </p>
        <p className="row-note">
          Rejected by {plainText(memory.decided_by ?? "")} <Age since={memory.decided_at ?? memory.created_at} ago />
          {memory.decision_reason && `: ${plainText(memory.decision_reason)}`}
        </p>
        {error !== null && (
          <p className="row-warning" role="alert">
            Not done. {explain(error)}
          </p>
        )}
      </div>
      <button
        type="button"
        className="quiet"
        aria-label={`Take back: ${firstLine(memory.description)}`}
        disabled={isBusy}
        onClick={() => decide({ verb: "reopen" })}
      >
        <Icon name="undo" /> Take back
      </button>
    </li>
  );
}
