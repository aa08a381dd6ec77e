/** The bottom line of a card: reply, or the choice of a snooze, or a dismissal. Each takes the place of the other. */
import type { Ref } from "react";
import type { Escalation } from "../api/types";
import { Icon } from "../ui/Icon";
import { takesWords } from "./choices";
import { deeds, type Deed } from "./deeds";
import { DismissBar } from "./DismissBar";
import { ReplyBox } from "./ReplyBox";
import { SnoozeBar } from "./SnoozeBar";

export type FootMode = "reply" | "snooze" | "dismiss";

interface Props {
  escalation: Escalation;
  mode: FootMode;
  /** The card was settled meanwhile; what is typed stays, and goes nowhere. */
  settled: boolean;
  onMode: (mode: FootMode) => void;
  replyBox: Ref<HTMLTextAreaElement>;
  draft: string;
  onDraft: (text: string) => void;
  onSend: () => void;
  onDeed: (deed: Deed) => void;
  onLeave: () => void;
}

function placeholderFor(escalation: Escalation): string {
  if (escalation.channel === "notification") return "Say what to do instead…";
  if (escalation.channel === "system") return "Add a reason, then choose…";
  return escalation.options.length > 0 ? "Or answer in words…" : "Reply…";
}

export function CardFoot(props: Props) {
  const { escalation, mode, settled, onMode, onDeed, onLeave } = props;
  if (mode === "snooze") {
    return <SnoozeBar onPick={(span) => onDeed(deeds.snooze(span.body(), span.words()))} onCancel={onLeave} />;
  }
  if (mode === "dismiss")
    return <DismissBar onDismiss={(reason) => onDeed(deeds.dismiss(reason))} onCancel={onLeave} />;
  const hasLine = takesWords(escalation) || escalation.options.length > 0;
  const canSend = takesWords(escalation) && !settled;
  return (
    <div className="foot">
      {!hasLine && <p className="foot-note">Nothing to answer: look into it, then dismiss.</p>}
      {hasLine && (
        <ReplyBox
          ref={props.replyBox}
          label={takesWords(escalation) ? "Reply" : "Reason"}
          placeholder={placeholderFor(escalation)}
          text={props.draft}
          onText={props.onDraft}
          onSend={props.onSend}
          onLeave={onLeave}
          canSend={canSend}
        />
      )}
      <button
        type="button"
        className="tool"
        aria-label="Snooze"
        title="Snooze (s)"
        aria-keyshortcuts="s"
        onClick={() => onMode("snooze")}
      >
        <Icon name="clock" />
      </button>
      <button
        type="button"
        className="tool"
        aria-label="Dismiss"
        title="Dismiss (d)"
        aria-keyshortcuts="d"
        onClick={() => onMode("dismiss")}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
