/** The proposed action as the operator wants it: words, a command, an answer of a form, or the members of a request. */
import { useEffect, useId, useMemo, useRef, useState, type FormEvent, type KeyboardEvent } from "react";
import { SchemaForm, type Focusable } from "../answer/SchemaForm";
import type { AgendaItem, Decide, Escalation, WalkAction } from "../api/types";
import { EditCommand } from "../approvals/EditCommand";
import { usePlan } from "../approvals/Plan";
import { linkToOne } from "../app/routes";
import { actionWords } from "../consults/lines";
import { useDraft } from "../inbox/useDraft";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { bodyFrom, bodyOf, editedBody, editedValue, editedWords, formOf, type BodyField, type Faults } from "./modify";
import { draftOf } from "./outbox";
import { useEscalations } from "./useEscalations";

type Edited = NonNullable<Decide["edited"]>;

interface Props {
  item: AgendaItem;
  action: WalkAction;
  onModified: (edited: Edited) => void;
  onCancel: () => void;
}

export function Modify({ item, action, onModified, onCancel }: Props) {
  const escalation = useEscalations().get(item.source.ref);
  const form = useMemo(() => formOf(action), [action]);
  if (form.as === "command" && escalation !== undefined)
    return <Commands item={item} escalation={escalation} onModified={onModified} onCancel={onCancel} />;
  if (escalation !== undefined && escalation.schema !== null)
    return <Typed item={item} escalation={escalation} onModified={onModified} onCancel={onCancel} />;
  if (form.as === "words")
    return <WordsForm item={item} proposed={form.text} onModified={onModified} onCancel={onCancel} />;
  if (form.as === "fields")
    return (
      <Fields action={action} within={form.within} first={form.fields} onModified={onModified} onCancel={onCancel} />
    );
  return null;
}

type Of<More> = Pick<Props, "onModified" | "onCancel"> & More;

function WordsForm({ item, proposed, onModified, onCancel }: Of<{ item: AgendaItem; proposed: string }>) {
  const hintId = useId();
  const [draft, setDraft] = useDraft(draftOf(item.id));
  const [text, setText] = useState(draft || proposed);
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const own = box.current;
    own?.focus({ preventScroll: true });
    own?.setSelectionRange(own.value.length, own.value.length);
  }, []);

  function change(next: string): void {
    setText(next);
    setDraft(next);
  }

  function send(): void {
    if (text.trim() === "") box.current?.focus();
    else onModified(editedWords(text));
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) send();
    else if (event.key === "Escape") onCancel();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div className="walk-modify" role="group" aria-label="Modify the reply">
      <textarea
        ref={box}
        className="line-input walk-words"
        aria-label="Reply"
        aria-describedby={hintId}
        rows={Math.min(10, text.split("\n").length + 1)}
        value={text}
        onChange={(event) => change(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="bar">
        <button type="button" className="button" data-main aria-disabled={text.trim() === ""} onClick={send}>
          Answer so
        </button>
        <Cancel onCancel={onCancel} />
        <span id={hintId} className="card-hint walk-keys-hint">
          Enter sends, Shift+Enter breaks the line
        </span>
      </div>
    </div>
  );
}

function Commands({ item, escalation, onModified, onCancel }: Of<{ item: AgendaItem; escalation: Escalation }>) {
  const plan = usePlan(escalation);
  const [draft, setDraft] = useDraft(draftOf(item.id));
  if (plan.isUnread) return <p className="card-hint">Reading what would run…</p>;
  if (plan.steps.length > 1)
    return (
      <div className="bar">
        <p className="card-hint">
          A plan of several steps is edited step by step, <a {...linkToOne("escalation", escalation.id)}>where it was asked</a>.
        </p>
        <Cancel onCancel={onCancel} />
      </div>
    );
  return (
    <EditCommand
      steps={plan.steps}
      draft={draft}
      onDraft={setDraft}
      settled={false}
      onEdit={(_step, command) => onModified(editedWords(command))}
      onCancel={onCancel}
    />
  );
}

function Typed({ item, escalation, onModified, onCancel }: Of<{ item: AgendaItem; escalation: Escalation }>) {
  const [draft, setDraft] = useDraft(draftOf(item.id));
  const form = useRef<Focusable>(null);
  useEffect(() => form.current?.focus({ preventScroll: true }), []);
  return (
    <div className="walk-modify" role="group" aria-label="Modify the answer">
      <SchemaForm
        ref={form}
        schema={escalation.schema ?? {}}
        draft={draft}
        onDraft={setDraft}
        onValue={(value) => onModified(editedValue(escalation.id, value))}
        onLeave={onCancel}
        error={null}
        disabled={false}
        action="Answer so"
      />
      <Cancel onCancel={onCancel} />
    </div>
  );
}

const WHOLE = "body";

interface FieldsProps {
  action: WalkAction;
  within: string | null;
  first: BodyField[];
}

function Fields({ action, within, first, onModified, onCancel }: Of<FieldsProps>) {
  const ids = useId();
  const [fields, setFields] = useState(first);
  const [faults, setFaults] = useState<Faults>(new Map());
  /** The whole body as it is typed, once it is wanted so. */
  const [json, setJson] = useState<string | null>(null);
  const isJson = json !== null;
  const form = useRef<HTMLFormElement>(null);
  useEffect(
    () => form.current?.querySelector<HTMLElement>("input, textarea, button")?.focus({ preventScroll: true }),
    [isJson],
  );

  function asJson(): void {
    const made = bodyOf(action, within, fields);
    setFaults(new Map());
    setJson(JSON.stringify("body" in made ? made.body : action.body, null, 2));
  }

  function send(event: FormEvent): void {
    event.preventDefault();
    if (json !== null) {
      const typed = bodyFrom(json);
      if ("body" in typed) return onModified(editedBody(typed.body));
      setFaults(new Map([[WHOLE, typed.fault]]));
      return document.getElementById(`${ids}-json`)?.focus();
    }
    const made = bodyOf(action, within, fields);
    if ("body" in made) return onModified(editedBody(made.body));
    setFaults(made.faults);
    const at = fields.findIndex(({ name }) => made.faults.has(name));
    document.getElementById(`${ids}-${at}`)?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== "Escape" || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    onCancel();
  }

  const change = (at: number, input: string) =>
    setFields(fields.map((field, index) => (index === at ? { ...field, input } : field)));

  return (
    <form ref={form} className="walk-modify" aria-label="Modify the action" onSubmit={send} onKeyDown={onKeyDown}>
      <p className="card-hint">
        {plainText(actionWords(action))}
      </p>
      {json !== null && (
        <FieldRow
          id={`${ids}-json`}
          field={{ name: WHOLE, kind: "json", input: json }}
          fault={faults.get(WHOLE)}
          onInput={setJson}
        />
      )}
      {!isJson &&
        fields.map((field, at) => (
          <FieldRow
            key={field.name}
            id={`${ids}-${at}`}
            field={field}
            fault={faults.get(field.name)}
            onInput={(input) => change(at, input)}
          />
        ))}
      {!isJson && fields.length === 0 && <p className="card-hint">It takes nothing that could be changed.</p>}
      <div className="bar">
        <button type="submit" className="button" data-main>
          Do it so
        </button>
        {!isJson && (
          <button type="button" className="quiet" onClick={asJson}>
            As JSON
          </button>
        )}
        <Cancel onCancel={onCancel} />
      </div>
    </form>
  );
}

interface FieldRowProps {
  id: string;
  field: BodyField;
  fault: string | undefined;
  onInput: (input: string) => void;
}

function FieldRow({ id, field: { name, kind, input }, fault, onInput }: FieldRowProps) {
  const shared = {
    id,
    "aria-invalid": fault !== undefined,
    "aria-describedby": fault === undefined ? undefined : `${id}-fault`,
  };
  const isLong = kind === "json" || (kind === "text" && (input.length > 80 || input.includes("\n")));
  return (
    <div className="field">
      <label htmlFor={id}>{plainText(name.replaceAll("_", " "))}</label>
      {kind === "flag" ? (
        <input
          {...shared}
          type="checkbox"
          className="walk-flag"
          checked={input === "true"}
          onChange={(event) => onInput(String(event.target.checked))}
        />
      ) : isLong ? (
        <textarea
          {...shared}
          className={kind === "json" ? "line-input json" : "line-input"}
          rows={Math.min(8, input.split("\n").length + 1)}
          spellCheck={kind !== "json"}
          value={input}
          onChange={(event) => onInput(event.target.value)}
        />
      ) : (
        <input
          {...shared}
          type="text"
          inputMode={kind === "number" ? "decimal" : "text"}
          className="line-input"
          value={input}
          onChange={(event) => onInput(event.target.value)}
        />
      )}
      {fault !== undefined && (
        <p id={`${id}-fault`} className="fault">
          {fault}
        </p>
      )}
    </div>
  );
}

function Cancel({ onCancel }: { onCancel: () => void }) {
  return (
    <button type="button" className="tool" aria-label="Cancel" title="Cancel (Esc)" onClick={onCancel}>
      <Icon name="close" />
    </button>
  );
}
