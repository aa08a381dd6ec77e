/** What can be changed of an item, in the row beneath it. A choice is sent at once; labels with Enter, or when one leaves. */
import { useEffect, useId, useRef, type KeyboardEvent } from "react";
import type { BacklogItem } from "../api/refine-queries";
import { plainText } from "../ui/plain-text";
import { labelsIn, STATES, stateWords } from "./rows";
import type { Changing } from "./useChange";

export type FieldName = "priority" | "state" | "parent" | "labels";

interface Props {
  item: BacklogItem;
  wholes: readonly BacklogItem[];
  /** The field that is wanted first. */
  first: FieldName;
  changing: Changing;
  onLeave: () => void;
}

export function EditFields({ item, wholes, first, changing, onLeave }: Props) {
  const ids = useId();
  const fields = useRef<HTMLDivElement>(null);
  useEffect(() => fields.current?.querySelector<HTMLElement>(`[name="${first}"]`)?.focus(), [first]);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== "Escape" || event.nativeEvent.isComposing) return;
    // What was typed and not sent is taken back.
    if (event.target instanceof HTMLInputElement) event.target.value = event.target.defaultValue;
    event.preventDefault();
    event.stopPropagation();
    onLeave();
  }

  const others = wholes.filter(({ id, state }) => id !== item.id && state !== "done" && state !== "cancelled");
  const knowsParent = item.parent === null || others.some(({ id }) => id === item.parent);
  return (
    <div ref={fields} className="refine-fields" role="group" aria-label={`Change ${item.id}`} onKeyDown={onKeyDown}>
      <div className="field">
        <label htmlFor={`${ids}-priority`}>Priority</label>
        <select
          id={`${ids}-priority`}
          name="priority"
          className="line-input"
          value={item.priority}
          onChange={(event) => changing.change(item, { priority: Number(event.target.value) })}
        >
          {[0, 1, 2, 3, 4].map((priority) => (
            <option key={priority} value={priority}>
              P{priority}
            </option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor={`${ids}-state`}>State</label>
        <select
          id={`${ids}-state`}
          name="state"
          className="line-input"
          value={item.state}
          onChange={(event) => changing.change(item, { state: event.target.value as BacklogItem["state"] })}
        >
          {STATES.map((state) => (
            <option key={state} value={state}>
              {stateWords(state)}
            </option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor={`${ids}-parent`}>Part of</label>
        <select
          id={`${ids}-parent`}
          name="parent"
          className="line-input"
          value={item.parent ?? ""}
          onChange={(event) => changing.change(item, { parent: event.target.value || null })}
        >
          <option value="">nothing</option>
          {!knowsParent && <option value={item.parent ?? ""}>{item.parent}</option>}
          {others.map(({ id, title }) => (
            <option key={id} value={id}>
              {plainText(`${title} (${id})`)}
            </option>
          ))}
        </select>
      </div>
      <div className="field refine-labels">
        <label htmlFor={`${ids}-labels`}>Labels, between commas</label>
        <input
          id={`${ids}-labels`}
          name="labels"
          // What is typed starts anew when somebody else changed them.
          key={item.labels.join()}
          className="line-input"
          type="text"
          autoComplete="off"
          defaultValue={item.labels.join(", ")}
          onBlur={(event) => changing.change(item, { labels: labelsIn(event.target.value) })}
          onKeyDown={(event) => {
            // Leaving sends it, and the focus is on its row then.
            if (event.key === "Enter" && !event.nativeEvent.isComposing) onLeave();
          }}
        />
      </div>
      <button type="button" className="quiet" onClick={onLeave}>
        Close
      </button>
    </div>
  );
}
