/**
 * Another command in the place of the one that was asked for. It is shown as it would be sealed before it is. What is typed
 * is kept as the card's draft: whoever leaves, or comes second, finds it again.
 */
import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import type { Approval } from "../api/types";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { Command } from "./Command";
import { draftOf, editsIn, isAnother, placeOf } from "./edits";

interface Props {
  steps: Approval[];
  draft: string;
  onDraft: (draft: string) => void;
  /** It was decided meanwhile; what is typed stays, and goes nowhere. */
  settled: boolean;
  onEdit: (step: Approval, command: string) => void;
  onCancel: () => void;
}

export function EditCommand({ steps, draft, onDraft, settled, onEdit, onCancel }: Props) {
  const hintId = useId();
  // More than the draft, which has no place for a box that was emptied.
  const [texts, setTexts] = useState(() => editsIn(draft));
  const [chosen, setChosen] = useState(() => {
    const first = steps.find((one) => placeOf(one) in texts) ?? steps[0];
    return first && placeOf(first);
  });
  const step = steps.find((one) => placeOf(one) === chosen) ?? steps[0];
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => box.current?.focus({ preventScroll: true }), []);
  if (step === undefined) return null;
  const place = placeOf(step);
  const text = texts[place] ?? step.command;
  const edited = isAnother(text, step);
  const isPlan = step.set_id !== null;

  function change(next: string): void {
    const all = { ...texts, [place]: next };
    setTexts(all);
    onDraft(draftOf(all, steps));
  }

  function go(): void {
    if (step !== undefined && edited) onEdit(step, text);
    else box.current?.focus();
  }

  function leave(): void {
    if (edited) announce("Your edit is kept, not sent");
    onCancel();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) go();
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div className="edit-command" role="group" aria-label="Edit the command" onKeyDown={onKeyDown}>
      {steps.length > 1 && (
        <label className="edit-step">
          Step{" "}
          <select value={place} onChange={(event) => setChosen(event.target.value)}>
            {steps.map((one) => (
              <option key={placeOf(one)} value={placeOf(one)}>
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
        onChange={(event) => change(event.target.value)}
      />
      {edited && !settled && (
        <div className="new-seal">
          <p className="seal-note">This gets a new seal; what was asked for does not run:</p>
          <Command text={text} label="Command with a new seal" />
        </div>
      )}
      <div className="bar">
        <button type="button" className="button" disabled={!edited || settled} onClick={go}>
          {isPlan ? "Change this step" : "Approve this instead"}
        </button>
        <button type="button" className="tool" aria-label="Cancel" title="Cancel (Esc)" onClick={leave}>
          <Icon name="close" />
        </button>
        <span id={hintId} className="card-hint">
          {hintFor(isPlan, settled)}
        </span>
      </div>
    </div>
  );
}

function hintFor(isPlan: boolean, settled: boolean): string {
  if (settled) return "It was decided meanwhile: this is not sent.";
  return `${isPlan ? "The plan still waits for its approval." : "The agent is told to run exactly this."} Ctrl+Enter sends.`;
}
