/** The line to answer in words. Enter sends, Shift+Enter breaks the line; it grows with what is typed. */
import { useId, useImperativeHandle, useLayoutEffect, useRef, type KeyboardEvent, type Ref } from "react";
import { Icon } from "../ui/Icon";

/** With more text than this the hint would stand in its way. */
const ROOM_FOR_HINT = 40;

interface Props {
  ref: Ref<HTMLTextAreaElement>;
  label: string;
  placeholder: string;
  text: string;
  onText: (text: string) => void;
  onSend: () => void;
  onLeave: () => void;
  /** False for cards that words alone do not answer. */
  canSend: boolean;
  /** The key that leads here. */
  shortcut?: string;
}

export function ReplyBox({ ref, label, placeholder, text, onText, onSend, onLeave, canSend, shortcut = "r" }: Props) {
  const hintId = useId();
  const box = useRef<HTMLTextAreaElement>(null);
  useImperativeHandle(ref, () => box.current as HTMLTextAreaElement);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    element.style.height = "auto";
    if (text !== "") element.style.height = `${element.scrollHeight}px`;
  }, [text]);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      onLeave();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      onSend();
    }
  }

  return (
    <div className="reply">
      <textarea
        ref={box}
        rows={1}
        aria-label={label}
        aria-describedby={canSend ? hintId : undefined}
        aria-keyshortcuts={shortcut}
        placeholder={placeholder}
        enterKeyHint="send"
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {canSend && (
        <span id={hintId} className="reply-hint" hidden={text.length > ROOM_FOR_HINT}>
          Enter sends, Shift+Enter breaks the line
        </span>
      )}
      {canSend && (
        <button type="button" className="send" aria-label="Send" disabled={text.trim() === ""} onClick={onSend}>
          <Icon name="send" />
        </button>
      )}
    </div>
  );
}
