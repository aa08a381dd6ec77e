/** A line for a reason, and the button that acts on it; takes the place of what it was opened from. */
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { Icon } from "../ui/Icon";

interface Props {
  label: string;
  action: string;
  /** Whether the reason may be left out. */
  required?: boolean;
  onReason: (reason: string) => void;
  onCancel: () => void;
}

export function ReasonBar({ label, action, required = false, onReason, onCancel }: Props) {
  const [reason, setReason] = useState("");
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus({ preventScroll: true }), []);

  function go(): void {
    if (required && reason.trim() === "") input.current?.focus();
    else onReason(reason);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      go();
    }
    if (event.key === "Escape") {
      event.stopPropagation();
      onCancel();
    }
  }

  return (
    <div className="bar" role="group" aria-label={action}>
      <input
        ref={input}
        type="text"
        className="line-input"
        aria-label={label}
        aria-required={required}
        placeholder={label}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <button type="button" className="button" onClick={go}>
        {action}
      </button>
      <button type="button" className="tool" aria-label="Cancel" title="Cancel (Esc)" onClick={onCancel}>
        <Icon name="close" />
      </button>
    </div>
  );
}
