/** What the server did not take of what was decided while nobody could ask it; said on every screen, until it is put away. */
import { useRef } from "react";
import { Icon } from "../ui/Icon";
import { useHandOverFocus } from "../ui/useHandOverFocus";
import { putAway, useOutbox, type Kind, type NotTaken } from "./outbox";

/** `except`: the kind that the screen itself tells of. */
export function NotTakenList({ except }: { except: Kind | null }) {
  const { notTaken } = useOutbox();
  const told = notTaken.filter(({ kind }) => kind !== except);
  return told.length === 0 ? null : (
    <div className="not-taken">
      {told.map((one) => (
        <One key={one.confirmId} one={one} />
      ))}
    </div>
  );
}

function One({ one }: { one: NotTaken }) {
  const mark = useRef<HTMLDivElement>(null);
  useHandOverFocus(mark);
  return (
    <div ref={mark} className="mark" data-tone={one.isSettled ? "warn" : "bad"} role="alert">
      <Icon name={one.isSettled ? "stamp" : "warn"} />
      <span dir="auto">
        <strong>{one.what}.</strong> {one.words} · {one.why}
      </span>
      <button
        type="button"
        className="tool"
        aria-label="Put away"
        onClick={() => putAway(({ confirmId }) => confirmId === one.confirmId)}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
