/** A suggestion in the operator's own words. Enter remembers it as it stands here, Shift+Enter breaks the line. */
import { useEffect, useId, useLayoutEffect, useRef, useState, type ChangeEvent, type KeyboardEvent } from "react";
import type { AcceptMemory, Memory } from "../api/types";
import { asEdited, changesOf, type Edited } from "./edit";
import { CLASSES, reachOf, TYPES } from "./wording";

interface Props {
  memory: Memory;
  isBusy: boolean;
  onDone: (changes: AcceptMemory) => void;
  onCancel: () => void;
}

export function EditForm({ memory, isBusy, onDone, onCancel }: Props) {
  const [edited, setEdited] = useState(() => asEdited(memory));
  const body = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  useEffect(() => body.current?.focus({ preventScroll: true }), []);
  useLayoutEffect(() => {
    const box = body.current;
    if (box === null) return;
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight}px`;
  }, [edited.body]);

  const set =
    (name: keyof Edited) => (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>) =>
      setEdited({ ...edited, [name]: event.target.value });
  const go = () => {
    if (edited.body.trim() === "") body.current?.focus();
    else onDone(changesOf(memory, edited));
  };

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing || event.target instanceof HTMLButtonElement) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      onCancel();
    } else if (event.key === "Enter" && !event.shiftKey && !(event.target instanceof HTMLSelectElement)) {
      event.preventDefault();
      go();
    }
  }

  const reach = reachOf({ class: edited.class, surfaces: changesOf(memory, edited).surfaces ?? memory.surfaces });
  return (
    <div className="memory-edit" role="group" aria-label="Edit and remember" onKeyDown={onKeyDown}>
      <div className="reply">
        <textarea
          ref={body}
          rows={1}
          aria-label="What to remember"
          aria-describedby={`${id}-hint`}
          dir="auto"
          value={edited.body}
          onChange={set("body")}
        />
      </div>
      <p id={`${id}-hint`} className="card-hint">
        Enter remembers it, Shift+Enter breaks the line.
      </p>
      <div className="memory-fields">
        <label htmlFor={`${id}-slug`}>Name</label>
        <input
          id={`${id}-slug`}
          type="text"
          className="line-input"
          spellCheck={false}
          autoCapitalize="none"
          value={edited.slug}
          onChange={set("slug")}
        />
        <label htmlFor={`${id}-class`}>Class</label>
        <Choice id={`${id}-class`} value={edited.class} known={CLASSES} onChange={set("class")} />
        <label htmlFor={`${id}-type`}>Type</label>
        <Choice id={`${id}-type`} value={edited.type} known={TYPES} onChange={set("type")} />
        <label htmlFor={`${id}-surfaces`}>Surfaces</label>
        <input
          id={`${id}-surfaces`}
          type="text"
          className="line-input"
          spellCheck={false}
          autoCapitalize="none"
          placeholder="none; several with commas"
          value={edited.surfaces}
          onChange={set("surfaces")}
        />
      </div>
      <div className="bar">
        <button type="button" className="button" disabled={isBusy} onClick={go}>
          Remember
        </button>
        <button type="button" className="quiet" onClick={onCancel}>
          Cancel
        </button>
        <span className="card-hint">{reach}</span>
      </div>
    </div>
  );
}

interface ChoiceProps {
  id: string;
  value: string;
  known: readonly string[];
  onChange: (event: ChangeEvent<HTMLSelectElement>) => void;
}

/** The words there are, and the agent's own as long as it is none of them. */
function Choice({ id, value, known, onChange }: ChoiceProps) {
  const [own] = useState(value);
  const words = known.includes(own) ? known : [...known, own];
  return (
    <select id={id} className="line-input" value={value} onChange={onChange}>
      {words.map((word) => (
        <option key={word}>{word}</option>
      ))}
    </select>
  );
}
