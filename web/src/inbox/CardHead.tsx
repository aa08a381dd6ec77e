/** Who asks, what kind of thing, how many ask the same, since when. */
import type { Escalation } from "../api/types";
import { Age, useWords } from "../ui/Age";
import { From } from "../ui/From";
import { Icon } from "../ui/Icon";
import { formatWhole } from "../ui/time";
import { kindOf } from "./wording";

interface Props {
  escalation: Escalation;
  others: number;
  unfolded: boolean;
  onOthers: () => void;
}

export function CardHead({ escalation, others, unfolded, onOthers }: Props) {
  const { label, icon } = kindOf(escalation);
  return (
    <header className="card-head">
      <span className="kind">
        <Icon name={icon} />
        {label}
      </span>
      <From agentType={escalation.agent_type} sessionId={escalation.session_id} />
      {others > 0 && (
        <button
          type="button"
          className="link-button others-button"
          aria-expanded={unfolded}
          aria-keyshortcuts="m"
          title="Who else asks this (m)"
          onClick={onOthers}
        >
          <Icon name="layers" size={14} />
          and {others} more {others === 1 ? "asks" : "ask"} the same
        </button>
      )}
      {escalation.bead_id !== null && (
        <span className="bead" title="Work item">
          {escalation.bead_id}
        </span>
      )}
      {escalation.role !== null && <span className="role">{escalation.role}</span>}
      <span className="age">
        {escalation.waiting && <Waiting escalation={escalation} />}
        <span className="visually-hidden">asked, time since: </span>
        <Age since={escalation.opened_at} />
      </span>
    </header>
  );
}

/** A client’s dialog is open until somebody closes it. Of a command only what it said is known: it may be gone, and the
 * time that it gave itself passes while the card is shown. */
function Waiting({ escalation }: { escalation: Escalation }) {
  const until = escalation.waiting_until;
  const words = useWords((now) => (until !== null && Date.parse(until) <= now ? "" : wordsOf(escalation)));
  if (words === "") return null;
  const long = until === null ? "until you answer" : `until ${formatWhole(new Date(until))} at most`;
  return (
    <span className="on-the-line" title={`The agent’s command said that it waits ${long}`}>
      {words}
    </span>
  );
}

function wordsOf({ channel }: Escalation): string {
  return channel === "tool_call" ? "said to wait" : "on the line";
}
