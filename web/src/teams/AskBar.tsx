/** Asked once before something is done that cannot be taken back: what would happen, and the ways on. Escape leaves. */
import { useEffect, useRef, type ReactNode } from "react";

interface Props {
  label: string;
  words: ReactNode;
  /** The first has the focus. */
  ways: { name: string; act: () => void }[];
  no: string;
  isBusy: boolean;
  onLeave: () => void;
}

export function AskBar({ label, words, ways, no, isBusy, onLeave }: Props) {
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => first.current?.focus({ preventScroll: true }), []);
  return (
    <div
      className="ask-bar"
      role="group"
      aria-label={label}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        onLeave();
      }}
    >
      <p>{words}</p>
      <div className="bar">
        {ways.map(({ name, act }, index) => (
          // Not disabled meanwhile: that would lose the focus.
          <button
            key={name}
            ref={index === 0 ? first : undefined}
            type="button"
            className="button"
            aria-disabled={isBusy}
            onClick={() => !isBusy && act()}
          >
            {name}
          </button>
        ))}
        <button type="button" className="quiet" onClick={onLeave}>
          {no}
        </button>
      </div>
    </div>
  );
}
