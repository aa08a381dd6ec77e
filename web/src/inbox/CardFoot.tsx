/** The bottom line of a card: the answer, or the choice of a snooze, a dismissal or a rule. Each takes the place of the other. */
import type { Ref } from "react";
import { SchemaForm, type Focusable } from "../answer/SchemaForm";
import type { Answer, Approval, Escalation } from "../api/types";
import { EditCommand } from "../approvals/EditCommand";
import { Icon, type IconName } from "../ui/Icon";
import { mannerOf } from "./choices";
import { deeds, type Deed } from "./deeds";
import { DismissBar } from "./DismissBar";
import { ReasonBar } from "./ReasonBar";
import { ReplyBox } from "./ReplyBox";
import { RuleBar } from "./RuleBar";
import { SnoozeBar } from "./SnoozeBar";

export type FootMode = "reply" | "snooze" | "dismiss" | "rule" | "edit" | "refuse";

interface Props {
  escalation: Escalation;
  /** What an approval asks about, as it is on screen. */
  steps: Approval[];
  mode: FootMode;
  /** How many questions an answer goes to. */
  count: number;
  /** The card was settled meanwhile; what is typed stays, and goes nowhere. */
  settled: boolean;
  /** Its time ran out: it can be answered, and nothing else. */
  late: boolean;
  /** A proposed answer waits: nothing can be answered now. */
  proposed: boolean;
  selected: boolean;
  error: unknown;
  onMode: (mode: FootMode) => void;
  onSelect: () => void;
  replyBox: Ref<Focusable>;
  draft: string;
  onDraft: (text: string) => void;
  onSend: () => void;
  onAnswer: (answer: Answer, words: string) => void;
  onDeed: (deed: Deed) => void;
  onLeave: () => void;
}

export function CardFoot(props: Props) {
  const { escalation, mode, onDeed, onLeave } = props;
  const others = props.count - 1;
  if (mode === "snooze")
    return (
      <>
        <OnlyThis others={others} session={escalation.session_id} />
        <SnoozeBar onPick={(span) => onDeed(deeds.snooze(span.body(), span.words()))} onCancel={onLeave} />
      </>
    );
  if (mode === "dismiss")
    return (
      <>
        <OnlyThis others={others} session={escalation.session_id} />
        <DismissBar onDismiss={(reason) => onDeed(deeds.dismiss(reason))} onCancel={onLeave} />
      </>
    );
  if (mode === "edit")
    return (
      <EditCommand
        steps={props.steps}
        draft={props.draft}
        onDraft={props.onDraft}
        settled={props.settled}
        onEdit={(step, command) => onDeed(deeds.edit(step, command))}
        onCancel={onLeave}
      />
    );
  if (mode === "refuse")
    return (
      <ReasonBar
        label="Why it must not run: the agent reads it"
        action="Refuse"
        required
        onReason={(why) => onDeed(deeds.refuse(props.steps, why))}
        onCancel={onLeave}
      />
    );
  if (mode === "rule")
    return <RuleBar escalation={escalation} draft={props.draft} onRule={props.onAnswer} onCancel={onLeave} />;
  return (
    <div className="foot" data-typed={mannerOf(escalation) === "typed" || undefined}>
      <AnswerLine {...props} />
      {!props.late && <Tools {...props} />}
    </div>
  );
}

/** With several on one card, what is not an answer concerns the first alone. */
function OnlyThis({ others, session }: { others: number; session: string }) {
  if (others <= 0) return null;
  return (
    <p className="card-hint">
      This concerns {session} alone; the {others === 1 ? "other" : `other ${others}`} will stand here instead.
    </p>
  );
}

function AnswerLine(props: Props) {
  const { escalation, settled, count, proposed, onMode } = props;
  const manner = mannerOf(escalation);
  if (proposed) return <p className="foot-note">An answer is proposed and waits.</p>;
  if (escalation.kind === "approval")
    return (
      <p className="foot-note">
        Approving goes at once and cannot be taken back: it may run once, exactly so.
        {props.draft !== "" && " Your unsent edit is kept: Edit brings it back."}
      </p>
    );
  switch (manner) {
    case "nothing":
      return <p className="foot-note">Nothing to answer: look into it, then dismiss.</p>;
    case "choice":
      return props.late ? null : (
        <button type="button" className="quiet none-of-these" onClick={() => onMode("dismiss")}>
          None of these? Decline with a reason
        </button>
      );
    case "typed":
      return (
        <SchemaForm
          ref={props.replyBox}
          schema={escalation.schema ?? {}}
          draft={props.draft}
          onDraft={props.onDraft}
          onValue={(value) => props.onAnswer({ value }, "Reply sent")}
          onLeave={props.onLeave}
          error={props.error}
          disabled={settled}
          action={count > 1 ? `Send to ${count}` : "Send"}
        />
      );
    case "words":
    case "choice and words":
      return (
        <ReplyBox
          ref={props.replyBox as Ref<HTMLTextAreaElement>}
          label={manner === "words" ? "Reply" : "Reason"}
          placeholder={placeholderFor(props)}
          text={props.draft}
          onText={props.onDraft}
          onSend={props.onSend}
          onLeave={props.onLeave}
          canSend={manner === "words" && !settled}
        />
      );
  }
}

function placeholderFor({ escalation, count, late }: Props): string {
  if (late) return "Answer late…";
  if (escalation.channel === "notification") return "Say what to do instead…";
  if (escalation.channel === "system") return "Add a reason, then choose…";
  return count > 1 ? `Reply to all ${count}…` : "Reply…";
}

function Tools({ escalation, selected, onMode, onSelect }: Props) {
  return (
    <span className="foot-tools">
      {escalation.channel === "tool_call" && (
        <Tool icon="select" label="Select" shortcut="x" pressed={selected} onClick={onSelect} />
      )}
      {escalation.channel === "tool_call" && (
        <Tool icon="stamp" label="Always answer this so" shortcut="R" onClick={() => onMode("rule")} />
      )}
      <Tool icon="clock" label="Snooze" shortcut="s" onClick={() => onMode("snooze")} />
      {escalation.kind !== "approval" && (
        <Tool icon="close" label="Dismiss" shortcut="d" onClick={() => onMode("dismiss")} />
      )}
    </span>
  );
}

interface ToolProps {
  icon: IconName;
  label: string;
  shortcut: string;
  pressed?: boolean;
  onClick: () => void;
}

function Tool({ icon, label, shortcut, pressed, onClick }: ToolProps) {
  const keys = shortcut === "R" ? "Shift+R" : shortcut;
  return (
    <button
      type="button"
      className="tool"
      aria-label={label}
      title={`${label} (${keys})`}
      aria-keyshortcuts={keys}
      aria-pressed={pressed}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
