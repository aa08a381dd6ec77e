/** An agent's words, as plain text. Long ones are folded; the whole is fetched only when it is wanted. */
import { useQuery } from "@tanstack/react-query";
import { wholeEscalationQuery } from "../api/queries";
import type { Escalation } from "../api/types";
import { plainText } from "../ui/plain-text";

const MANY_LINES = 9;
const MANY_CHARACTERS = 640;

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
  const command = escalation.kind === "permission_prompt";
  return (
    <div className="card-text">
      <p
        className="words"
        dir="auto"
        data-folded={(long && !unfolded) || undefined}
        data-command={command || undefined}
      >
        {plainText(text)}
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
