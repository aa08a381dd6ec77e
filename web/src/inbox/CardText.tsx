/** An agent's words, as plain text. Long ones are folded; the whole is fetched only when it is wanted. */
import { useQuery } from "@tanstack/react-query";
import { wholeEscalationQuery } from "../api/queries";
import type { Escalation } from "../api/types";
import { plainText } from "../ui/plain-text";
import { Words } from "../ui/Words";

const MANY_LINES = 9;
const MANY_CHARACTERS = 640;
/** More than the fold shows of any text; the rest of a huge one is not laid out until it is wanted. */
const FOLDED_CHARACTERS = 2_000;

export function isLong(escalation: Escalation): boolean {
  const { text, text_cut } = escalation;
  return text_cut || text.length > MANY_CHARACTERS || text.split("\n", MANY_LINES + 1).length > MANY_LINES;
}

interface Props {
  escalation: Escalation;
  unfolded: boolean;
  onToggle: () => void;
}

export function CardText({ escalation, unfolded, onToggle }: Props) {
  const needsWhole = unfolded && escalation.text_cut;
  const whole = useQuery({ ...wholeEscalationQuery(escalation.id), enabled: needsWhole });
  const text = (needsWhole && whole.data?.text) || escalation.text;
  const long = isLong(escalation);
  const folded = long && !unfolded;
  const command = escalation.kind === "permission_prompt";
  const shown = folded ? text.slice(0, FOLDED_CHARACTERS) : text;
  return (
    <div className="card-text">
      <p className="words" dir="auto" data-folded={folded || undefined} data-command={command || undefined}>
        {command ? plainText(shown) : <Words text={shown} />}
      </p>
      {long && (
        <button type="button" className="link-button" aria-expanded={unfolded} aria-keyshortcuts="o" onClick={onToggle}>
          {unfolded ? "Show less" : "Show all"}
          {needsWhole && whole.isPending && "…"}
          {needsWhole && whole.isError && " (the rest could not be read: try again)"}
        </button>
      )}
    </div>
  );
}
