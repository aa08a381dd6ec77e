/** A new item in one line: its title, and what one knows of it at once. It stays open for the next one. */
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState, type FormEvent } from "react";
import { newConfirmId } from "../api/client";
import { explain } from "../api/problem";
import type { NewWorkItem, WorkItem, WorkKind } from "../api/types";
import { createItem } from "../api/work-deeds";
import { announce } from "../ui/announce";
import { sayDone } from "../undo/undo";
import { Icon } from "../ui/Icon";
import { firstLine } from "../ui/plain-text";
import { Parents } from "./Filters";
import { isKind, KIND_NAMES, KINDS, PRIORITIES, STATES } from "./wording";

const USUAL_PRIORITY = 2;
const LONGEST_TITLE = 500;

interface Props {
  /** What is shown is likely what the new one is for. */
  parent: string;
  onMade: (item: WorkItem) => void;
  onClose: () => void;
}

export function NewItem({ parent: shownParent, onMade, onClose }: Props) {
  const box = useRef<HTMLInputElement>(null);
  const [title, setTitle] = useState("");
  const [kind, setKind] = useState<WorkKind>("task");
  const [parent, setParent] = useState(shownParent);
  const [priority, setPriority] = useState(USUAL_PRIORITY);
  const make = useMutation({
    mutationFn: ({ item, confirmId }: { item: NewWorkItem; confirmId: string }) => createItem(item, confirmId),
    onSuccess: (item) => {
      sayDone(`Made ${item.id}, in ${STATES[item.state]}: ${firstLine(item.title, 80)}`);
      setTitle("");
      box.current?.focus();
      onMade(item);
    },
    onError: (error) => announce(`Not made. ${explain(error)}`),
  });
  useEffect(() => box.current?.focus(), []);

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    if (title.trim() === "" || make.isPending) return;
    make.mutate({ item: { title, kind, priority, parent: parent || null }, confirmId: newConfirmId() });
  }

  return (
    <form
      className="new-item"
      aria-label="New item"
      onSubmit={onSubmit}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        onClose();
      }}
    >
      <input
        ref={box}
        className="line-input new-title"
        aria-label="Title"
        placeholder={kind === "milestone" ? "Title; its number is given to it" : "What is to be done?"}
        maxLength={LONGEST_TITLE}
        value={title}
        onChange={(event) => setTitle(event.target.value)}
      />
      <select
        className="line-input"
        aria-label="Kind of the new item"
        value={kind}
        onChange={(event) => isKind(event.target.value) && setKind(event.target.value)}
      >
        {KIND_NAMES.map((name) => (
          <option key={name} value={name}>
            {KINDS[name]}
          </option>
        ))}
      </select>
      <select
        className="line-input"
        aria-label="Priority of the new item"
        value={priority}
        onChange={(event) => setPriority(Number(event.target.value))}
      >
        {PRIORITIES.map((name, value) => (
          <option key={name} value={value}>
            {name}
          </option>
        ))}
      </select>
      <Parents value={parent} onValue={setParent} none="No epic" label="Epic of the new item" />
      <button type="submit" className="button" data-main disabled={title.trim() === "" || make.isPending}>
        Make it
      </button>
      <button type="button" className="quiet" onClick={onClose}>
        Close
      </button>
      {make.isError && (
        <p className="mark" data-tone="bad" role="alert">
          <Icon name="warn" />
          <span>Not made. {explain(make.error)}</span>
        </p>
      )}
    </form>
  );
}
