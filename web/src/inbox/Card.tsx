/** One escalation that stands in the inbox, with those that ask the same: read, answer, put off, decline, by mouse, touch or key. */
import { memo, useEffect, useLayoutEffect, useRef, useState, type FocusEvent, type KeyboardEvent } from "react";
import type { Focusable } from "../answer/SchemaForm";
import { isActive } from "../api/escalation-list";
import { Refused } from "../api/problem";
import type { Answer, Escalation } from "../api/types";
import { ItsHandoff } from "../handoffs/ItsHandoff";
import { withoutEdit } from "../approvals/edits";
import { Plan, usePlan } from "../approvals/Plan";
import { ChoiceWords } from "../teams/ChoiceWords";
import { announce } from "../ui/announce";
import { focusAwayFrom, wasHanded } from "../ui/card-focus";
import { isCommand } from "../ui/keys";
import { useHandOverFocus } from "../ui/useHandOverFocus";
import { Kbd } from "../ui/Kbd";
import { firstLine, plainText } from "../ui/plain-text";
import { Words } from "../ui/Words";
import { arm, disarm, useArmed } from "./armed";
import { CardFoot, type FootMode } from "./CardFoot";
import { CardHead } from "./CardHead";
import { CardText, isLong } from "./CardText";
import { Choices } from "./Choices";
import { answerAsBefore, answerInWords, answerWithChoice, choicesOf, mannerOf, type Choice } from "./choices";
import { collapse } from "./collapse";
import { DeedState } from "./DeedState";
import { decides, deeds, goesAtOnce, type Deed, type Done } from "./deeds";
import { useUnsent } from "./letters";
import { NotSent } from "./NotSent";
import { readDraft } from "./drafts";
import { Others } from "./Others";
import { isMeantFor } from "./pointer";
import { PolicyLine } from "./PolicyLine";
import { PrecedentMark } from "./PrecedentMark";
import { ProposalMark } from "./ProposalMark";
import { select, toggle, unselect, useIsSelected } from "./selection";
import { SettledBar } from "./SettledBar";
import { SPANS } from "./SnoozeBar";
import { StaleMark } from "./StaleMark";
import { useDeed } from "./useDeed";
import { useDraft } from "./useDraft";
import { useSeen } from "./useSeen";
import { kindOf, mayBeAnsweredLate } from "./wording";

const NOBODY: Escalation[] = [];
/** While one of these stands at the bottom of the card, no choice is meant. */
const BUSY: FootMode[] = ["snooze", "edit", "refuse"];

interface Props {
  escalation: Escalation;
  /** Those that ask the same and get the same answer. */
  others?: Escalation[];
  /** Takes the card off the screen, once it has nothing more to say; without it the card stays. */
  onRelease?: (id: string) => void;
  /** Gives one of those that ask the same a card of its own. */
  onApart?: (id: string) => void;
}

export const Card = memo(function Card({ escalation, others = NOBODY, onRelease, onApart }: Props) {
  const { id, proposal } = escalation;
  const slot = useRef<HTMLLIElement>(null);
  const card = useRef<HTMLElement>(null);
  const replyBox = useRef<Focusable>(null);
  const [draft, setDraft] = useDraft(id);
  const [mode, setMode] = useState<FootMode>("reply");
  const [unfolded, setUnfolded] = useState(false);
  const [othersShown, setOthersShown] = useState(false);
  const [opened, setOpened] = useState(false);
  const [inFoot, setInFoot] = useState(false);
  const selected = useIsSelected(id);
  const armed = useArmed(id);
  const deed = useDeed(escalation, onDone);
  const unsent = useUnsent(id);
  const done = deed.isPending || unsent !== null || (deed.isSuccess && onRelease !== undefined && deed.variables.verb !== "reopen");
  const settled = !done && !isActive(escalation);
  const late = settled && mayBeAnsweredLate(escalation);
  const closed = settled && !late;
  const proposed = proposal?.state === "waiting";
  const answerable = !done && !closed && !proposed;
  // Whoever types into a card that is settled meanwhile goes on typing there: elsewhere letters are commands.
  const footStays = closed && inFoot;
  const isApproval = escalation.kind === "approval";
  const plan = usePlan(escalation);
  const choices = choicesOf(escalation);
  const all = settled ? [escalation] : [escalation, ...others];
  const ids = all.map((one) => one.id);
  useSeen(card, id, escalation.state === "open" && !done);
  useHandOverFocus(slot);

  const unsentId = unsent?.confirmId;
  useEffect(() => {
    // What was kept from before a reload takes its words along when it arrives.
    if (unsentId !== undefined) return () => setDraft(readDraft(id));
    return undefined;
  }, [unsentId, id, setDraft]);

  useLayoutEffect(() => {
    if (!settled || !card.current?.contains(document.activeElement)) return;
    announce("Settled meanwhile");
    if (document.activeElement?.closest(".choices")) card.current.focus({ preventScroll: true });
  }, [settled]);

  function onDone(next: Deed, { changed }: Done): void {
    const own = changed.find((one) => one.id === id);
    // Still waiting, because it was only proposed, or because somebody else was first: the card has more to say.
    const waits = decides(next) && (own === undefined || isActive(own));
    const stays = waits || next.verb === "reopen" || next.verb === "reject";
    if (next.verb === "edit") setDraft(withoutEdit(draft, next));
    else if (next.verb !== "snooze" && next.verb !== "reject" && own) setDraft("");
    unselect(changed.map((one) => one.id));
    if (stays || onRelease === undefined) deed.reset();
    else collapse(slot.current, () => onRelease(id));
  }

  function act(next: Deed): void {
    if (closed) return backToCard();
    if (done) return;
    // Nothing holds back what a client waits for on the line.
    const final = next.verb === "approve" || (next.verb === "respond" && escalation.kind === "permission_prompt");
    if (!isMeantFor(id, final)) return announce("Not done: press again");
    // A plan that was edited still waits, on this card.
    if (next.verb === "edit" && plan.steps.length > 1) card.current?.focus({ preventScroll: true });
    else if (onRelease && card.current?.contains(document.activeElement)) focusAwayFrom(card.current);
    setMode("reply");
    deed.mutate(next);
  }

  function answer(body: Answer, words: string, typed = ""): void {
    if (answerable) act(deeds.respond(all, body, all.length > 1 ? `${words} to ${all.length}` : words, typed));
  }

  function reopen(): void {
    card.current?.focus({ preventScroll: true });
    deed.mutate(deeds.reopen());
  }

  function choose(choice: Choice | undefined): void {
    if (choice === undefined || !answerable) return;
    if (plan.isUnread) plan.sayUnread();
    else if (choice.opens !== undefined) setMode(choice.opens);
    else if (isApproval) act(deeds.approve(plan.steps));
    else if (choice.needsText && draft.trim() === "") replyBox.current?.focus();
    else answer(answerWithChoice(choice, draft), `Answered: ${choice.label}`, draft);
  }

  /** What goes for good takes a card that was chosen, or the same number twice. */
  function chooseByKey(digit: number): void {
    const choice = choices[digit - 1];
    const decides = answerable && !plan.isUnread && choice !== undefined && !choice.opens && !choice.needsText;
    if (!decides || !goesAtOnce(escalation) || !wasHanded(card.current) || armed === digit) return choose(choice);
    arm(id, digit);
    announce(`Press ${digit} again: ${choice.label}. It goes at once and cannot be taken back`);
  }

  function send(): void {
    if (closed) return backToCard();
    if (mannerOf(escalation) !== "words") focusFirstChoice();
    else if (draft.trim() !== "") answer(answerInWords(escalation, draft), "Reply sent", draft);
  }

  function usePrecedent(): void {
    const { precedent } = escalation;
    if (precedent !== null) answer(answerAsBefore(escalation, precedent), "Answered as before");
  }

  function hide(): void {
    if (card.current?.contains(document.activeElement)) focusAwayFrom(card.current);
    setDraft("");
    onRelease?.(id);
  }

  function backToCard(): void {
    setMode("reply");
    card.current?.focus({ preventScroll: true });
  }

  function focusFirstChoice(): void {
    card.current?.querySelector<HTMLElement>(".choices button")?.focus();
  }

  function startReply(): void {
    if (selected) document.querySelector<HTMLElement>(".bulk :is(textarea, .choice, input, select)")?.focus();
    else if (replyBox.current) replyBox.current.focus();
    else focusFirstChoice();
  }

  function toggleSelected(): void {
    if (escalation.channel !== "tool_call" || settled) return;
    announce(toggle(ids) ? `Selected ${all.length}` : "Not selected");
  }

  /** All that ask the same, also those that were set apart from this card. */
  function selectAlike(): void {
    const marked = `[data-group="${CSS.escape(escalation.group_id)}"]`;
    const cards = escalation.group_id === "" ? [] : [...document.querySelectorAll<HTMLElement>(marked)];
    select([...ids, ...cards.flatMap((one) => one.dataset["ids"]?.split(" ") ?? [])]);
    announce("Selected all that ask the same");
  }

  function onLeaveFoot(event: FocusEvent): void {
    // Still there when it is the window that was left.
    if (!event.currentTarget.contains(event.relatedTarget ?? document.activeElement)) setInFoot(false);
  }

  function onDigit(digit: number): void {
    if (mode === "rule") return card.current?.querySelectorAll<HTMLElement>(".rule-bar .choice")[digit - 1]?.click();
    if (mode === "edit" || mode === "refuse") return;
    if (mode !== "snooze") return chooseByKey(digit);
    const span = SPANS[digit - 1];
    if (span) act(deeds.snooze(span.body(), span.words()));
  }

  function onKey(key: string, onCardItself: boolean): boolean {
    if (key === "Escape") return onCardItself ? (card.current?.blur(), true) : (backToCard(), true);
    if (key === "o") return (setUnfolded((now) => !now && isLong(escalation)), true);
    if (key === "m" && others.length > 0) return (setOthersShown((now) => !now), true);
    if (settled) {
      if (key === "u" && escalation.resolution?.by === "pane") return (reopen(), true);
      if (key === "d" && onRelease) return (hide(), true);
      if (!late) return false;
    }
    if (/^[1-9]$/.test(key)) return (onDigit(Number(key)), true);
    if (key === "r" || (key === "Enter" && onCardItself)) return (startReply(), true);
    if (settled) return false;
    if (key === "p" && escalation.precedent !== null) return (usePrecedent(), true);
    if (key === "c" && proposed) return (card.current?.querySelector<HTMLElement>(".proposal .button")?.click(), true);
    if (key === "s") return (setMode("snooze"), true);
    if (key === "d" && plan.isUnread) return (plan.sayUnread(), true);
    if (key === "d") return (setMode(isApproval ? "refuse" : "dismiss"), true);
    if (escalation.channel !== "tool_call") return false;
    if (key === "x") return (toggleSelected(), true);
    if (key === "A") return (selectAlike(), true);
    if (key === "R" && !proposed) return (setMode("rule"), true);
    return false;
  }

  function onKeyDown(event: KeyboardEvent): void {
    // A held key must not answer the next card, which has the focus by then.
    if (!isCommand(event) || event.repeat) return;
    if (event.key !== String(armed)) disarm(id);
    if (onKey(event.key, event.target === card.current)) event.preventDefault();
  }

  const isTitled = escalation.title !== null && !isApproval;
  const { label } = kindOf(escalation);
  const firstWords = firstLine(escalation.text, 80);
  const fault = deed.error instanceof Refused && deed.error.code === "does_not_fit" && mannerOf(escalation) === "typed";
  return (
    <li ref={slot} className="slot">
      <article
        ref={card}
        className="card"
        tabIndex={-1}
        aria-labelledby={`title-${id}`}
        data-escalation-id={id}
        data-group={escalation.group_id || undefined}
        data-ids={ids.join(" ")}
        data-urgency={escalation.urgency}
        data-state={escalation.state}
        data-mode={mode}
        data-selected={selected || undefined}
        data-settled={done ? "sending" : settled ? "settled" : undefined}
        onKeyDown={onKeyDown}
        onFocus={() => setOpened(true)}
        onBlur={() => disarm(id)}
        onPointerEnter={() => setOpened(true)}
      >
        <CardHead
          escalation={escalation}
          others={settled ? 0 : others.length}
          unfolded={othersShown}
          onOthers={() => setOthersShown(!othersShown)}
        />
        <h3 id={`title-${id}`} className={isTitled ? "card-title" : "visually-hidden"} dir="auto">
          <Words text={escalation.title ?? `${label} from ${escalation.session_id}: ${firstWords}`} />
          {selected && <span className="visually-hidden"> (selected)</span>}
        </h3>
        {isApproval ? (
          <Plan plan={plan} settled={settled} />
        ) : (
          <CardText escalation={escalation} unfolded={unfolded} onToggle={() => setUnfolded(!unfolded)} />
        )}
        {othersShown && others.length > 0 && !settled && onApart && (
          <Others head={escalation} others={others} disabled={done} onApart={onApart} />
        )}
        {escalation.channel === "handoff" && <ItsHandoff escalation={escalation} />}
        {!settled && <PolicyLine escalation={escalation} />}
        <StaleMark escalation={escalation} opened={opened} />
        {escalation.precedent !== null && !settled && !proposed && (
          <PrecedentMark precedent={escalation.precedent} disabled={done} onUse={usePrecedent} />
        )}
        {proposal !== null && !settled && (
          <ProposalMark proposal={proposal} disabled={done} onDeed={act} onLeave={backToCard} />
        )}
        {choices.length > 0 && mode !== "rule" && !(isApproval && settled) && (
          <Choices
            choices={choices}
            disabled={!answerable || plan.isUnread || BUSY.includes(mode)}
            armed={armed}
            onChoose={choose}
          />
        )}
        {escalation.kind === "gate_failure" && answerable && <ChoiceWords actions={escalation.options} />}
        {armed !== null && answerable && <ArmedLine digit={armed} choice={choices[armed - 1]} />}
        {choices.length > 0 && answerable && goesAtOnce(escalation) && !isApproval && (
          <p className="card-hint">What you choose goes at once and cannot be taken back.</p>
        )}
        {escalation.channel === "notification" && !done && !settled && (
          <p className="card-hint">
            That is all, unless it then stands under Not delivered: such a one wants the answer in the agent’s own
            window too.
          </p>
        )}
        {unsent?.isStuck && <NotSent unsent={unsent} onWithdrawn={backToCard} />}
        {done && !unsent?.isStuck && <p className="settled">{deed.variables?.words ?? unsent?.words}…</p>}
        {late && <p className="card-hint">Its time ran out; your answer becomes the agent’s next turn.</p>}
        {(footStays || !(done || closed)) && (
          <div onFocus={() => setInFoot(true)} onBlur={onLeaveFoot}>
            <CardFoot
              escalation={escalation}
              steps={plan.steps}
              mode={mode}
              count={all.length}
              settled={closed}
              late={late}
              proposed={proposed}
              selected={selected}
              error={deed.error}
              onMode={closed ? backToCard : setMode}
              onSelect={toggleSelected}
              replyBox={replyBox}
              draft={draft}
              onDraft={setDraft}
              onSend={send}
              onAnswer={(body, words) => answer(body, words, draft)}
              onDeed={act}
              onLeave={backToCard}
            />
          </div>
        )}
        {settled && (
          <SettledBar
            escalation={escalation}
            unsentDraft={footStays || late ? "" : draft}
            onReopen={reopen}
            {...(onRelease && { onHide: hide })}
          />
        )}
        {!fault && <DeedState deed={deed} onRepeat={act} />}
      </article>
    </li>
  );
});

/** The number was pressed, and has answered nothing yet. */
function ArmedLine({ digit, choice }: { digit: number; choice: Choice | undefined }) {
  return (
    <p className="card-hint armed-line">
      {choice === undefined ? (
        <>This card is chosen now. {digit} is none of its answers.</>
      ) : (
        <>
          Nothing is answered yet: press <Kbd>{String(digit)}</Kbd> again for <b dir="auto">{plainText(choice.label)}</b>.
        </>
      )}
    </p>
  );
}
