/** One command of the record: its first line and what became of it; unfolded, all of it and everything that was sealed. */
import { useState, type KeyboardEvent } from "react";
import type { Approval } from "../api/types";
import { linkToOne, rememberCard } from "../app/routes";
import { Age, useWords } from "../ui/Age";
import { announce } from "../ui/announce";
import { Icon, type IconName } from "../ui/Icon";
import { isCommand } from "../ui/keys";
import { firstLine } from "../ui/plain-text";
import { sessionName } from "../ui/session-name";
import { Seal } from "./Seal";
import { headOf, stateOf } from "./wording";

const ICONS: Record<Approval["state"], IconName> = {
  pending: "hourglass",
  approved: "check",
  superseded: "undo",
  refused: "close",
  expired: "clock",
  withdrawn: "close",
};

export function ApprovalRow({ approval }: { approval: Approval }) {
  const { id, command, session_id, set_id, position, grant_state } = approval;
  const [unfolded, setUnfolded] = useState(false);
  const words = useWords((now) => stateOf(approval, now));
  const { line, more, isCut } = headOf(command);
  const open = linkToOne("escalation", approval.escalation_id);

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    if (!isCommand(event) || event.repeat) return;
    const row = event.currentTarget;
    const onItself = event.target === row;
    if (event.key === "o" || (event.key === "Enter" && onItself)) {
      setUnfolded(!unfolded);
      announce(unfolded ? "Folded" : "Unfolded");
    } else if (event.key === "Escape") onItself ? row.blur() : row.focus();
    else return;
    event.preventDefault();
  }

  return (
    <li>
      <article
        className="row"
        tabIndex={-1}
        aria-labelledby={`approval-${id}`}
        data-card-id={id}
        data-approval-id={id}
        data-tone={grant_state === "failed" ? "warn" : undefined}
        onKeyDown={onKeyDown}
      >
        <Icon name={ICONS[approval.state]} />
        <div className="row-words">
          <p id={`approval-${id}`} className="row-title" dir="ltr">
            <a
              {...open}
              onClick={(event) => {
                rememberCard(id);
                open.onClick(event);
              }}
            >
              <code>{line}</code>
            </a>
            {more !== "" && <span className="more-lines"> {more}</span>}
          </p>
          <p className="row-answer approval-state">{words}</p>
          <p className="row-note">
            <a {...linkToOne("session", session_id)}>{sessionName(session_id)}</a> · asked{" "}
            <Age since={approval.created_at} ago />
            {approval.decided_at !== null && (
              <>
                {" "}
                · decided <Age since={approval.decided_at} ago />
              </>
            )}
            {approval.consumed_at !== null && (
              <>
                {" "}
                · used <Age since={approval.consumed_at} ago />
              </>
            )}
            {set_id !== null && ` · step ${position} of a plan`}
          </p>
          <details className="seal-fold" open={unfolded} onToggle={(event) => setUnfolded(event.currentTarget.open)}>
            <summary>
              <Icon name="chevron" size={12} />
              {isCut ? "The whole command and what was sealed" : "What was sealed"}
              <span className="visually-hidden">: {firstLine(command, 60)}</span>
            </summary>
            <Seal approval={approval} />
          </details>
        </div>
      </article>
    </li>
  );
}
