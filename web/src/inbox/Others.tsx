/** Who else asks the same as this card: session, age, and where the words differ; each can be answered by itself. */
import type { Escalation } from "../api/types";
import { Age } from "../ui/Age";
import { From } from "../ui/From";
import { plainText } from "../ui/plain-text";
import { differenceOf } from "./difference";

interface Props {
  head: Escalation;
  others: Escalation[];
  disabled: boolean;
  onApart: (id: string) => void;
}

export function Others({ head, others, disabled, onApart }: Props) {
  return (
    <ul className="others" aria-label="Asked alike">
      {[head, ...others].map((one) => (
        <Other key={one.id} head={head} one={one} disabled={disabled} onApart={onApart} />
      ))}
    </ul>
  );
}

function Other({ head, one, disabled, onApart }: Omit<Props, "others"> & { one: Escalation }) {
  const difference = one === head ? "as above" : differenceOf(head.text, one.text);
  return (
    <li>
      <From agentType={one.agent_type} sessionId={one.session_id} />
      <span className="others-words" dir="auto">
        {difference === null ? "in the same words" : plainText(difference)}
      </span>
      <Age since={one.opened_at} />
      <button
        type="button"
        className="quiet"
        disabled={disabled}
        aria-label={`Answer apart: ${plainText(one.session_id)}`}
        onClick={() => onApart(one.id)}
      >
        Answer apart
      </button>
    </li>
  );
}
