/** Declining to answer, with a reason if there is one; takes the place of the reply line. */
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { Icon } from "../ui/Icon";

export function DismissBar({ onDismiss, onCancel }: { onDismiss: (reason: string) => void; onCancel: () => void }) {
  const [reason, setReason] = useState("");
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus({ preventScroll: true }), []);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter") onDismiss(reason);
    if (event.key === "Escape") {
      event.stopPropagation();
      onCancel();
    }
  }

  return (
    <div className="bar" role="group" aria-label="Dismiss">
      <input
        ref={input}
        type="text"
        className="line-input"
        aria-label="Reason (optional)"
        placeholder="Reason (optional)"
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <button type="button" className="button" onClick={() => onDismiss(reason)}>
        Dismiss
      </button>
      <button type="button" className="tool" aria-label="Cancel" title="Cancel (Esc)" onClick={onCancel}>
        <Icon name="close" />
      </button>
    </div>
  );
}
