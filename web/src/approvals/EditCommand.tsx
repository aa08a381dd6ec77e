/** Another command in the place of the one that was asked for. It is shown as it would be sealed before it is. */
import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import type { Approval } from "../api/types";
import { Icon } from "../ui/Icon";
import { Command } from "./Command";

interface Props {
  steps: Approval[];
  onEdit: (step: Approval, command: string) => void;
  onCancel: () => void;
}

export function EditCommand({ steps, onEdit, onCancel }: Props) {
  const hintId = useId();
  const [chosen, setChosen] = useState(steps[0]?.id);
  const step = steps.find((one) => one.id === chosen) ?? steps[0];
  const [texts, setTexts] = useState<Record<string, string>>({});
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => box.current?.focus({ preventScroll: true }), []);
  if (step === undefined) return null;
  const text = texts[step.id] ?? step.command;
  const isAnother = text !== step.command && text.trim() !== "";
  const isPlan = step.set_id !== null;

  function go(): void {
    if (step !== undefined && isAnother) onEdit(step, text);
    else box.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) go();
    else if (event.key === "Escape") onCancel();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div className="edit-command" role="group" aria-label="Edit the command" onKeyDown={onKeyDown}>
      {steps.length > 1 && (
        <label className="edit-step">
          Step{" "}
          <select value={step.id} onChange={(event) => setChosen(event.target.value)}>
            {steps.map((one) => (
              <option key={one.id} value={one.id}>
                {one.position}
              </option>
            ))}
          </select>
        </label>
      )}
      <textarea
        ref={box}
        className="command-box"
        aria-label="Command to run instead"
        aria-describedby={hintId}
        rows={Math.min(12, text.split("\n").length + 1)}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        value={text}
        onChange={(event) => setTexts({ ...texts, [step.id]: event.target.value })}
      />
      {isAnother && (
        <div className="new-seal">
          <p className="seal-note">This gets a new seal; what was asked for does not run:</p>
          <Command text={text} label="Command with a new seal" />
        </div>
      )}
      <div className="bar">
        <button type="button" className="button" disabled={!isAnother} onClick={go}>
          {isPlan ? "Change this step" : "Approve this instead"}
        </button>
        <button type="button" className="tool" aria-label="Cancel" title="Cancel (Esc)" onClick={onCancel}>
          <Icon name="close" />
        </button>
        <span id={hintId} className="card-hint">
          {isPlan ? "The plan still waits for its approval." : "The agent is told to run exactly this."} Ctrl+Enter sends.
        </span>
      </div>
    </div>
  );
}
