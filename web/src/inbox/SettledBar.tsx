/** A card that needs nothing any more but still stands: who settled it, with what words, and what can be done about it. */
import type { Escalation } from "../api/types";
import { unsentIn } from "../approvals/edits";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { formatMoment } from "../ui/time";
import { Held } from "./Held";
import { ByRule } from "./ByRule";
import { answerOf, outcomeOf } from "./wording";

interface Props {
  escalation: Escalation;
  unsentDraft: string;
  onReopen: () => void;
  onHide?: () => void;
}

export function SettledBar({ escalation, unsentDraft, onReopen, onHide }: Props) {
  const { resolution, snoozed_until } = escalation;
  const answer = resolution && answerOf(resolution, escalation.kind);
  return (
    <div className="settled">
      <Icon name={resolution === null ? "clock" : resolution.outcome === "expired" ? "hourglass" : "check"} />
      <p className="settled-words">
        <strong>
          {resolution === null
            ? `Snoozed until ${formatMoment(new Date(snoozed_until ?? Date.now()), new Date())}`
            : outcomeOf(resolution, escalation.kind)}
        </strong>
        <ByRule resolution={resolution} />
        {answer !== null && answer !== undefined && <q dir="auto">{plainText(answer)}</q>}
        <Held escalation={escalation} />
        {escalation.kind === "approval"
          ? unsentIn(unsentDraft).map(({ what, text }) => (
              <span key={what} className="unsent">
                Your unsent {what}:{" "}
                <q className="unsent-command" dir="ltr">
                  {plainText(text)}
                </q>
              </span>
            ))
          : unsentDraft !== "" && (
              <span className="unsent">
                Your unsent reply: <q dir="auto">{plainText(unsentDraft)}</q>
              </span>
            )}
      </p>
      {resolution?.by === "pane" && (
        <button type="button" className="quiet" aria-keyshortcuts="u" onClick={onReopen}>
          Re-open
        </button>
      )}
      {onHide && (
        <button type="button" className="quiet" aria-keyshortcuts="d" onClick={onHide}>
          Hide
        </button>
      )}
    </div>
  );
}
