/** One escalation that stands in the inbox: read it, answer it, put it off, decline it, by mouse, touch or key. */
import { memo, useLayoutEffect, useRef, useState, type FocusEvent, type KeyboardEvent } from "react";
import { isActive } from "../api/escalation-list";
import type { Escalation } from "../api/types";
import { announce } from "../ui/announce";
import { focusAwayFrom } from "../ui/card-focus";
import { isCommand } from "../ui/keys";
import { useHandOverFocus } from "../ui/useHandOverFocus";
import { firstLine } from "../ui/plain-text";
import { Words } from "../ui/Words";
import { CardFoot, type FootMode } from "./CardFoot";
import { CardHead } from "./CardHead";
import { CardText, isLong } from "./CardText";
import { Choices } from "./Choices";
import { answerInWords, answerWithChoice, choicesOf, takesWords, type Choice } from "./choices";
import { collapse } from "./collapse";
import { DeedState } from "./DeedState";
import { deeds, type Deed } from "./deeds";
import { isMeantFor } from "./pointer";
import { SettledBar } from "./SettledBar";
import { SPANS } from "./SnoozeBar";
import { StaleMark } from "./StaleMark";
import { useDeed } from "./useDeed";
import { useDraft } from "./useDraft";
import { useSeen } from "./useSeen";
import { kindOf } from "./wording";

interface Props {
  escalation: Escalation;
  /** Takes the card off the screen, once it has nothing more to say. */
  onRelease: (id: string) => void;
}

export const Card = memo(function Card({ escalation, onRelease }: Props) {
  const { id } = escalation;
  const slot = useRef<HTMLLIElement>(null);
  const card = useRef<HTMLElement>(null);
  const replyBox = useRef<HTMLTextAreaElement>(null);
  const [draft, setDraft] = useDraft(id);
  const [mode, setMode] = useState<FootMode>("reply");
  const [unfolded, setUnfolded] = useState(false);
  const [inFoot, setInFoot] = useState(false);
  const deed = useDeed(id, (done) => {
    if (done.verb === "reopen") return;
    if (done.verb !== "snooze") setDraft("");
    collapse(slot.current, () => onRelease(id));
  });
  const done = deed.isPending || (deed.isSuccess && deed.variables.verb !== "reopen");
  const settled = !done && !isActive(escalation);
  // Whoever types into a card that is settled meanwhile goes on typing there: elsewhere letters are commands.
  const footStays = settled && inFoot;
  const choices = choicesOf(escalation);
  useSeen(card, id, escalation.state === "open" && !done);
  useHandOverFocus(slot);

  useLayoutEffect(() => {
    if (!settled || !card.current?.contains(document.activeElement)) return;
    announce("Settled meanwhile");
    if (document.activeElement?.closest(".choices")) card.current.focus({ preventScroll: true });
  }, [settled]);

  function act(next: Deed): void {
    if (settled) return backToCard();
    if (done || !isMeantFor(id)) return;
    if (card.current?.contains(document.activeElement)) focusAwayFrom(card.current);
    setMode("reply");
    deed.mutate(next);
  }

  function reopen(): void {
    card.current?.focus({ preventScroll: true });
    deed.mutate(deeds.reopen());
  }

  function choose(choice: Choice | undefined): void {
    if (choice === undefined) return;
    if (choice.needsText && draft.trim() === "") replyBox.current?.focus();
    else act(deeds.respond(answerWithChoice(choice, draft), `Answered: ${choice.label}`));
  }

  function send(): void {
    if (settled) return backToCard();
    if (!takesWords(escalation)) card.current?.querySelector<HTMLElement>(".choices button")?.focus();
    else if (draft.trim() !== "") act(deeds.respond(answerInWords(escalation, draft), "Reply sent"));
  }

  function hide(): void {
    if (card.current?.contains(document.activeElement)) focusAwayFrom(card.current);
    setDraft("");
    onRelease(id);
  }

  function backToCard(): void {
    setMode("reply");
    card.current?.focus({ preventScroll: true });
  }

  function onLeaveFoot(event: FocusEvent): void {
    // Still there when it is the window that was left.
    if (!event.currentTarget.contains(event.relatedTarget ?? document.activeElement)) setInFoot(false);
  }

  function onDigit(digit: number): void {
    if (mode !== "snooze") return choose(choices[digit - 1]);
    const span = SPANS[digit - 1];
    if (span) act(deeds.snooze(span.body(), span.words()));
  }

  function onKey(key: string, onCardItself: boolean): boolean {
    if (key === "Escape") return onCardItself ? (card.current?.blur(), true) : (backToCard(), true);
    if (key === "o") return (setUnfolded((now) => !now && isLong(escalation)), true);
    if (settled) {
      if (key === "u" && escalation.resolution?.by === "pane") return (reopen(), true);
      return key === "d" ? (hide(), true) : false;
    }
    if (/^[1-9]$/.test(key)) return (onDigit(Number(key)), true);
    if (key === "r" || (key === "Enter" && onCardItself)) return (replyBox.current?.focus(), true);
    if (key === "s") return (setMode("snooze"), true);
    if (key === "d") return (setMode("dismiss"), true);
    return false;
  }

  function onKeyDown(event: KeyboardEvent): void {
    // A held key must not answer the next card, which has the focus by then.
    if (!isCommand(event) || event.repeat) return;
    if (onKey(event.key, event.target === card.current)) event.preventDefault();
  }

  const { label } = kindOf(escalation);
  return (
    <li ref={slot} className="slot">
      <article
        ref={card}
        className="card"
        tabIndex={-1}
        aria-labelledby={`title-${id}`}
        data-escalation-id={id}
        data-urgency={escalation.urgency}
        data-state={escalation.state}
        data-mode={mode}
        data-settled={done ? "sending" : settled ? "settled" : undefined}
        onKeyDown={onKeyDown}
      >
        <CardHead escalation={escalation} />
        <h3 id={`title-${id}`} className={escalation.title === null ? "visually-hidden" : "card-title"} dir="auto">
          <Words text={escalation.title ?? `${label} from ${escalation.session_id}: ${firstLine(escalation.text, 80)}`} />
        </h3>
        <CardText escalation={escalation} unfolded={unfolded} onToggle={() => setUnfolded(!unfolded)} />
        <StaleMark escalation={escalation} />
        {choices.length > 0 && <Choices choices={choices} disabled={done || settled || mode === "snooze"} onChoose={choose} />}
        {escalation.channel === "notification" && !done && !settled && (
          <p className="card-hint">Give the answer in the agent’s own window too: Gemba cannot press its keys yet.</p>
        )}
        {done && <p className="settled">{deed.variables?.words}…</p>}
        {(footStays || !(done || settled)) && (
          <div onFocus={() => setInFoot(true)} onBlur={onLeaveFoot}>
            <CardFoot
              escalation={escalation}
              mode={mode}
              settled={settled}
              onMode={settled ? backToCard : setMode}
              replyBox={replyBox}
              draft={draft}
              onDraft={setDraft}
              onSend={send}
              onDeed={act}
              onLeave={backToCard}
            />
          </div>
        )}
        {settled && (
          <SettledBar
            escalation={escalation}
            unsentDraft={footStays ? "" : draft}
            onReopen={reopen}
            onHide={hide}
          />
        )}
        <DeedState deed={deed} onRepeat={act} />
      </article>
    </li>
  );
});
