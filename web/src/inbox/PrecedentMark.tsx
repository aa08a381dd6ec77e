/** An earlier answer to a like question, with its source and why it is like; one key gives it again. */
import { useQuery } from "@tanstack/react-query";
import { meQuery } from "../api/queries";
import type { Precedent } from "../api/types";
import { linkToOne } from "../app/routes";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { firstLine, plainText } from "../ui/plain-text";
import { formatDay } from "../ui/time";

const BY: Partial<Record<Precedent["by"], string>> = { pane: "In the pane", policy: "The policy", rule: "A rule" };

export function answererOf(by: Precedent["by"], who: string | null, me: string | undefined): string {
  if (by !== "operator") return BY[by] ?? by;
  return who === null || who === me ? "You" : plainText(who);
}

interface Props {
  precedent: Precedent;
  disabled: boolean;
  onUse: () => void;
}

export function PrecedentMark({ precedent, disabled, onUse }: Props) {
  const me = useQuery(meQuery).data?.operator;
  const at = new Date(precedent.at);
  return (
    <div className="precedent">
      <Icon name="quote" />
      <p>
        {answererOf(precedent.by, precedent.who, me)} answered this on{" "}
        <a {...linkToOne("escalation", precedent.escalation_id)}>{formatDay(at, new Date())}</a> for{" "}
        <span className="session">{plainText(precedent.session_id)}</span>:{" "}
        <q dir="auto">{firstLine(precedent.answer.text, 200)}</q>
        <span className="precedent-why">{plainText(precedent.why)}</span>
      </p>
      <button type="button" className="button" aria-keyshortcuts="p" disabled={disabled} onClick={onUse}>
        Use it <Kbd>p</Kbd>
      </button>
    </div>
  );
}
