/** One answer for all that are selected: floats at the bottom, by key or by hand. What it does not fit stays selected. */
import { useRef, useState, type KeyboardEvent } from "react";
import { SchemaForm, type Focusable } from "../answer/SchemaForm";
import { isActive } from "../api/escalation-list";
import type { Answer, Escalation } from "../api/types";
import { currentCard } from "../ui/card-focus";
import { Icon } from "../ui/Icon";
import { isTyping } from "../ui/keys";
import { useHandOverFocus } from "../ui/useHandOverFocus";
import { Choices } from "./Choices";
import { choicesOf, mannerOf } from "./choices";
import { DeedState } from "./DeedState";
import { deeds } from "./deeds";
import { fitting } from "./fitting";
import { ReplyBox } from "./ReplyBox";
import { selectNothing, unselect } from "./selection";
import { useDeed } from "./useDeed";

interface Props {
  chosen: Escalation[];
  /** Takes a card off the screen that was answered from here. */
  onRelease: (id: string) => void;
}

export function BulkBar({ chosen, onRelease }: Props) {
  const bar = useRef<HTMLDivElement>(null);
  const field = useRef<Focusable>(null);
  const [text, setText] = useState("");
  const { fit, rest } = fitting(chosen);
  const [first] = fit;
  const deed = useDeed(first, (_deed, { changed, refused }) => {
    setText("");
    unselect([...changed, ...refused].map((one) => one.id));
    for (const one of changed) if (!isActive(one)) onRelease(one.id);
  });
  useHandOverFocus(bar, currentCard);

  function answer(body: Answer): void {
    if (first !== undefined && !deed.isPending)
      deed.mutate(deeds.respond(fit, body, `Reply sent to ${fit.length}`, body.text ?? ""));
  }

  function leave(): void {
    const card = document.querySelector<HTMLElement>(".card[data-selected]");
    (card ?? document.querySelector<HTMLElement>("main h1"))?.focus({ preventScroll: true });
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      leave();
      if (!isTyping(event.target)) selectNothing();
    } else if (/^[1-9]$/.test(event.key) && !isTyping(event.target) && !event.repeat && first !== undefined) {
      const choice = choicesOf(first)[Number(event.key) - 1];
      if (choice) answer(choice.answer);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const manner = first === undefined ? "nothing" : mannerOf(first);
  return (
    <div ref={bar} className="bulk" role="region" aria-label="Answer the selected" onKeyDown={onKeyDown}>
      <div className="bulk-head">
        <strong>{chosen.length} selected</strong>
        <span className="card-hint">
          {rest.length > 0 && `${fit.length} take the same answer; the other ${rest.length} stay selected`}
        </span>
        <button type="button" className="quiet" onClick={() => (leave(), selectNothing())}>
          Clear
        </button>
      </div>
      {first !== undefined && manner === "choice" && (
        <Choices choices={choicesOf(first)} disabled={deed.isPending} onChoose={(choice) => answer(choice.answer)} />
      )}
      {first !== undefined && manner === "typed" && (
        <SchemaForm
          ref={field}
          schema={first.schema ?? {}}
          draft={text}
          onDraft={setText}
          onValue={(value) => answer({ value })}
          onLeave={leave}
          error={deed.error}
          disabled={deed.isPending}
          action={`Send to ${fit.length}`}
        />
      )}
      {manner === "words" && (
        <div className="foot">
          <ReplyBox
            ref={field as React.Ref<HTMLTextAreaElement>}
            label={`Reply to the ${fit.length} selected`}
            placeholder={`One answer for ${fit.length}…`}
            text={text}
            onText={setText}
            onSend={() => text.trim() !== "" && answer({ text: text.trim() })}
            onLeave={leave}
            canSend
          />
        </div>
      )}
      {manner === "nothing" && (
        <p className="card-hint">
          <Icon name="warn" size={14} /> These are answered one by one.
        </p>
      )}
      <DeedState deed={deed} onRepeat={(again) => deed.mutate(again)} />
    </div>
  );
}
