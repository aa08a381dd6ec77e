/**
 * One field of an item, read and edited in its place. What somebody else makes of it meanwhile is shown beside what is
 * typed, which stays until it is saved or given up; nothing is overwritten unseen.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { newConfirmId } from "../api/client";
import { explain, Refused } from "../api/problem";
import { refresh } from "../api/queries";
import type { WorkItem } from "../api/types";
import { changeItem } from "../api/work-deeds";
import { ITEM, itemQuery } from "../api/work-queries";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { changeOf, isContested, read, textOf, type Field } from "./fields";
import { FieldInput } from "./FieldInput";

interface Props {
  item: WorkItem;
  field: Field;
  /** How it is shown while nobody edits it. */
  children: ReactNode;
}

interface Saving {
  item: WorkItem;
  value: string | number | string[] | null;
  /** What the field was when one decided: a change of something else is no conflict. */
  over: string;
  confirmId: string;
}

export function EditField({ item, field, children }: Props) {
  const client = useQueryClient();
  const edit = useRef<HTMLButtonElement>(null);
  /** What the field was when the editing began, and what is typed. */
  const [base, setBase] = useState<string | null>(null);
  const [typed, setTyped] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  const now = textOf(item, field);
  const contested = base !== null && isContested(base, now, typed);

  async function save({ item: looked, value, over, confirmId }: Saving): Promise<WorkItem> {
    try {
      return await changeItem(looked.id, changeOf(field, value, looked.version), confirmId);
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== "version_conflict" || error.item === null) throw error;
      client.setQueryData(itemQuery(looked.id).queryKey, error.item);
      // Something else of the item was changed: what was decided here still holds.
      if (textOf(error.item, field) !== over) throw error;
      return save({ item: error.item, value, over, confirmId: newConfirmId() });
    }
  }

  const saving = useMutation({
    mutationFn: save,
    onSuccess: (saved) => {
      client.setQueryData(itemQuery(saved.id).queryKey, saved);
      void refresh([...ITEM, saved.id]);
      announce(`${field.label} is saved`);
      leave();
    },
    onError: (error) => announce(`Not saved. ${explain(error)}`),
  });

  function begin(): void {
    saving.reset();
    setFault(null);
    setTyped(now);
    setBase(now);
  }

  function leave(): void {
    setBase(null);
    requestAnimationFrame(() => edit.current?.focus({ preventScroll: true }));
  }

  function submit(): void {
    const said = read(field, typed);
    setFault("fault" in said ? said.fault : null);
    if ("fault" in said || saving.isPending) return;
    if (typed === now) leave();
    else saving.mutate({ item, value: said.value, over: now, confirmId: newConfirmId() });
  }

  if (base === null)
    return (
      <div className="item-field" data-field={field.name}>
        {children}
        <button
          ref={edit}
          type="button"
          className="link-button"
          aria-label={`Edit: ${field.label.toLowerCase()}`}
          onClick={begin}
        >
          Edit
        </button>
      </div>
    );
  return (
    <form
      className="item-field field-form"
      data-field={field.name}
      aria-label={field.label}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") leave();
        else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <Focused>
        <FieldInput field={field} value={typed} onValue={setTyped} />
      </Focused>
      {field.help !== undefined && <p className="hint">{field.help}</p>}
      {contested && <Theirs item={item} text={now} none={field.none} onTake={() => (setTyped(now), setBase(now))} />}
      <div className="field-foot">
        <button type="submit" className="button" disabled={saving.isPending}>
          {contested ? "Save mine over it" : "Save"}
        </button>
        <button type="button" className="quiet" onClick={leave}>
          Leave it as it is
        </button>
      </div>
      {(fault !== null || (saving.isError && !contested)) && (
        <p className="mark" data-tone="bad" role="alert">
          <Icon name="warn" />
          <span>Not saved. {plainText(fault ?? explain(saving.error))}</span>
        </p>
      )}
    </form>
  );
}

/** The first thing in it has the focus from the start. */
function Focused({ children }: { children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const input = box.current?.querySelector<HTMLInputElement | HTMLTextAreaElement>("input, textarea, select");
    input?.focus();
    if (input instanceof HTMLInputElement) input.select();
  }, []);
  return <div ref={box}>{children}</div>;
}

interface TheirsProps {
  item: WorkItem;
  text: string;
  none: string;
  onTake: () => void;
}

function Theirs({ item, text, none, onTake }: TheirsProps) {
  return (
    <div className="theirs" role="alert">
      <p>
        <Icon name="warn" size={14} /> {plainText(item.updated_by)} changed it meanwhile. Yours stands above; it is now:
      </p>
      <blockquote dir="auto">{text === "" ? none || "nothing" : plainText(text)}</blockquote>
      <button type="button" className="link-button" onClick={onTake}>
        Take theirs
      </button>
    </div>
  );
}
