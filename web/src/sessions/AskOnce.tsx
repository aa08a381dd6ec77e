/** A button that asks once before it does something: what would happen, Yes with the focus, and the way back (Escape). */
import { useEffect, useRef, useState, type ReactNode } from "react";
import { explain } from "../api/problem";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { useHandOverFocus } from "../ui/useHandOverFocus";

interface Props {
  opens: string;
  /** What happens then. */
  words: ReactNode;
  yes: string;
  no: string;
  isPending: boolean;
  onYes: () => void;
  failure: ReactNode;
}

export function AskOnce({ opens, words, yes, no, isPending, onYes, failure }: Props) {
  const [asking, setAsking] = useState(false);
  const place = useRef<HTMLSpanElement>(null);
  const sure = useRef<HTMLButtonElement>(null);
  const first = useRef<HTMLButtonElement>(null);
  useHandOverFocus(place);
  useEffect(() => {
    if (asking) sure.current?.focus({ preventScroll: true });
  }, [asking]);
  const leave = () => {
    setAsking(false);
    requestAnimationFrame(() => first.current?.focus({ preventScroll: true }));
  };
  return (
    <span
      ref={place}
      className="bar stop-bar"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !asking) return;
        event.preventDefault();
        leave();
      }}
    >
      {asking ? (
        <>
          <span className="bar-label">{words}</span>
          {/* Not disabled meanwhile: that would lose the focus. */}
          <button ref={sure} type="button" className="button" aria-disabled={isPending} onClick={() => !isPending && onYes()}>
            {yes}
          </button>
          <button type="button" className="quiet" onClick={leave}>
            {no}
          </button>
        </>
      ) : (
        <button ref={first} type="button" className="quiet" onClick={() => setAsking(true)}>
          {opens}
        </button>
      )}
      {failure}
    </span>
  );
}

export function Failure({ of, error }: { of: string; error: Error | null }) {
  if (error === null) return null;
  return (
    <p className="mark" data-tone="bad" role="alert">
      <Icon name="warn" />
      <span>
        {of}. {plainText(explain(error))}
      </span>
    </p>
  );
}
