/** A line that suggests something: why, how sure, what would be done; the button that does it, and what became of that. */
import { useRef, type ReactNode } from "react";
import { explain } from "../api/problem";
import type { AppliedLine, Consult, SuggestedAction } from "../api/types";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { plainText } from "../ui/plain-text";
import { useHandOverFocus } from "../ui/useHandOverFocus";
import { Words } from "../ui/Words";
import { actionWords } from "./lines";
import type { Applying } from "./useApplying";
import { problemOf } from "./wording";

interface Props {
  consult: Consult;
  applying: Applying;
  isOpen: boolean;
  idx: number;
  action: SuggestedAction;
  title: ReactNode;
  rank?: number;
  rationale: string;
  facts: string[];
}

export function Actionable({ consult, applying, isOpen, idx, action, title, rank, rationale, facts }: Props) {
  const applied = consult.applied.find((one) => one.idx === idx);
  const error = applying.errors.get(idx);
  const isPending = applying.pending === idx;
  return (
    <>
      <p className="line-title" dir="auto">
        {rank !== undefined && <span className="line-rank">{rank}</span>}
        <span>{title}</span>
      </p>
      <p className="card-hint line-facts">{facts.join(" · ")}</p>
      <p className="words" dir="auto">
        <Words text={rationale} />
      </p>
      <div className="bar line-deed">
        {applied !== undefined ? (
          <>
            <Outcome applied={applied} action={action} />
            {!applied.by.startsWith("persona:") && (
              <TakeBackButton isPending={isPending} onTakeBack={() => applying.takeBack(idx)} />
            )}
          </>
        ) : (
          <>
            {isOpen && (
              <ApplyButton
                words={isPending ? "Applying…" : error ? "Try again" : "Apply"}
                isPending={isPending}
                onApply={() => applying.apply(idx)}
              />
            )}
            <span className="card-hint line-action" dir="auto">
              {plainText(actionWords(action))}
            </span>
          </>
        )}
      </div>
      {error && (
        <p className="mark" data-tone="bad" role="alert">
          <Icon name="warn" />
          <span>
            <strong>{applied === undefined ? problemOf(error) : "Not taken back"}.</strong> {plainText(explain(error))}
          </span>
        </p>
      )}
    </>
  );
}

const rowOf = (button: HTMLElement) => button.closest<HTMLElement>("[data-line]");

/** Once it is applied the button is gone, and its row has the focus. */
function ApplyButton({ words, isPending, onApply }: { words: string; isPending: boolean; onApply: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useHandOverFocus(button, rowOf);
  return (
    // Not disabled meanwhile: that would lose the focus.
    <button
      ref={button}
      type="button"
      className="button"
      data-apply
      aria-keyshortcuts="a"
      aria-disabled={isPending}
      onClick={onApply}
    >
      {words}
      <Kbd>a</Kbd>
    </button>
  );
}

function TakeBackButton({ isPending, onTakeBack }: { isPending: boolean; onTakeBack: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useHandOverFocus(button, rowOf);
  return (
    <button ref={button} type="button" className="quiet" aria-disabled={isPending} onClick={onTakeBack}>
      {isPending ? "Taking back…" : "Take back"}
    </button>
  );
}

function Outcome({ applied, action }: { applied: AppliedLine; action: SuggestedAction }) {
  return (
    <p className="settled line-outcome">
      <Icon name="check" />
      <span className="settled-words">
        <span>
          {applied.outcome.executed ? "Applied" : "Recorded as done by hand"} by {plainText(applied.by)}{" "}
          <Age since={applied.at} ago />
        </span>
        <span className="card-hint" dir="auto">
          {plainText(actionWords(action))}
          {applied.outcome.status != null && applied.outcome.status >= 300 && ` · ${applied.outcome.status}`}
        </span>
      </span>
    </p>
  );
}
