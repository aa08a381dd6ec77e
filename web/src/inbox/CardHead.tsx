/** Who asks, what kind of thing, since when. */
import type { Escalation } from "../api/types";
import { Age } from "../ui/Age";
import { From } from "../ui/From";
import { Icon } from "../ui/Icon";
import { kindOf } from "./wording";

export function CardHead({ escalation }: { escalation: Escalation }) {
  const { label, icon } = kindOf(escalation);
  return (
    <header className="card-head">
      <span className="kind">
        <Icon name={icon} />
        {label}
      </span>
      <From agentType={escalation.agent_type} sessionId={escalation.session_id} />
      {escalation.bead_id !== null && (
        <span className="bead" title="Work item">
          {escalation.bead_id}
        </span>
      )}
      {escalation.role !== null && <span className="role">{escalation.role}</span>}
      <span className="age">
        {escalation.waiting && (
          <span className="on-the-line" title="The agent’s command hangs until you answer">
            on the line
          </span>
        )}
        <span className="visually-hidden">asked, time since: </span>
        <Age since={escalation.opened_at} />
      </span>
    </header>
  );
}
