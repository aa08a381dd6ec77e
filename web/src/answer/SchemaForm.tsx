/**
 * An answer that must have a form: fields made from its schema, or JSON where that takes more than fields. What the server
 * refuses is said at the field that it points at. What is filled in is kept as the card's draft.
 */
import { useId, useImperativeHandle, useRef, useState, type FormEvent, type KeyboardEvent, type Ref } from "react";
import { Refused } from "../api/problem";
import { plainText } from "../ui/plain-text";
import { fieldsOf, inputOf, memberAt, missingIn, parsed, valueFrom } from "./schema";
import type { Field, Inputs, Schema } from "./schema";

export interface Focusable {
  focus: (options?: FocusOptions) => void;
}

interface Props {
  ref?: Ref<Focusable>;
  schema: Schema;
  draft: string;
  onDraft: (draft: string) => void;
  onValue: (value: unknown) => void;
  onLeave: () => void;
  error: unknown;
  disabled: boolean;
  action: string;
}

type Faults = Map<string, string>;

function readInputs(draft: string): Inputs {
  const kept = parsed(draft);
  return typeof kept === "object" && kept !== null && !Array.isArray(kept) ? (kept as Inputs) : {};
}

/** What the server said of each member; under the empty name what it said of the whole. */
function faultsIn(error: unknown): Faults {
  if (!(error instanceof Refused) || error.code !== "does_not_fit") return new Map();
  if (error.findings.length === 0) return new Map([[memberAt(error.pointer), error.message]]);
  return new Map(
    error.findings.map(({ pointer, found, allowed }) => [
      memberAt(`/value${pointer}`),
      pointer === "" ? `Allowed: ${allowed}` : `${found} does not fit; allowed: ${allowed}`,
    ]),
  );
}

export function SchemaForm({ ref, schema, draft, onDraft, onValue, onLeave, error, disabled, action }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const fields = fieldsOf(schema);
  const [missing, setMissing] = useState<Field | null>(null);
  const faults = missing ? new Map([[missing.name, "This one is needed."]]) : faultsIn(error);
  const focusOn = (name?: string) => {
    const found = [...(form.current?.querySelectorAll<HTMLElement>("[data-member]") ?? [])];
    (found.find((one) => one.dataset["member"] === name) ?? found[0])?.focus();
  };
  useImperativeHandle(ref, () => ({ focus: () => focusOn() }));

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (disabled) return;
    const inputs = readInputs(draft);
    const empty = fields && missingIn(fields, inputs);
    setMissing(empty);
    if (empty) focusOn(empty.name);
    else if (fields) onValue(valueFrom(fields, inputs));
    else if (draft.trim() !== "") onValue(parsed(draft));
  }

  function change(name: string, text: string): void {
    setMissing(null);
    onDraft(JSON.stringify({ ...readInputs(draft), [name]: text }));
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== "Escape" || event.nativeEvent.isComposing) return;
    event.stopPropagation();
    onLeave();
  }

  // A fault that no field is there for is told below all of them; of JSON, at its box.
  const unplaced = fields === null ? [] : [...faults].filter(([name]) => !fields.some((field) => field.name === name));
  const ofJson = [...faults].map(([name, words]) => (name === "" ? words : `${name}: ${words}`)).join(" · ") || null;
  return (
    <form ref={form} className="typed" aria-label="Answer" noValidate onSubmit={submit} onKeyDown={onKeyDown}>
      {fields === null ? (
        <JsonField schema={schema} text={draft} fault={ofJson} onText={onDraft} />
      ) : (
        fields.map((field) => (
          <FieldLine
            key={field.name}
            field={field}
            text={inputOf(field, readInputs(draft))}
            fault={faults.get(field.name) ?? null}
            onText={(text) => change(field.name, text)}
          />
        ))
      )}
      {unplaced.map(([name, words]) => (
        <p key={name} className="fault" role="alert">
          {name !== "" && <code>{plainText(name)}</code>} {plainText(words)}
        </p>
      ))}
      <button type="submit" className="button" disabled={disabled}>
        {action}
      </button>
    </form>
  );
}

interface LineProps {
  field: Field;
  text: string;
  fault: string | null;
  onText: (text: string) => void;
}

function FieldLine({ field, text, fault, onText }: LineProps) {
  const id = useId();
  const described = [field.description !== null && `${id}-about`, fault !== null && `${id}-fault`].filter(Boolean);
  const control = {
    id,
    "data-member": field.name,
    "aria-required": field.required,
    "aria-invalid": fault !== null,
    "aria-describedby": described.join(" ") || undefined,
    value: text,
  };
  return (
    <div className="field">
      <label htmlFor={id}>
        {plainText(field.label)}
        {!field.required && <span className="field-optional"> (optional)</span>}
      </label>
      {field.type === "boolean" || field.type === "enum" ? (
        <select {...control} className="line-input" onChange={(event) => onText(event.target.value)}>
          <option value="">–</option>
          {choicesOf(field).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...control}
          type="text"
          className="line-input"
          inputMode={field.type === "string" ? "text" : field.type === "integer" ? "numeric" : "decimal"}
          autoComplete="off"
          onChange={(event) => onText(event.target.value)}
        />
      )}
      {field.description !== null && (
        <p id={`${id}-about`} className="card-hint" dir="auto">
          {plainText(field.description)}
        </p>
      )}
      {fault !== null && (
        <p id={`${id}-fault`} className="fault" role="alert">
          {plainText(fault)}
        </p>
      )}
    </div>
  );
}

function choicesOf(field: Field): [value: string, label: string][] {
  if (field.type === "boolean")
    return [
      ["true", "Yes"],
      ["false", "No"],
    ];
  return field.values.map((value) => [
    JSON.stringify(value),
    typeof value === "string" ? plainText(value) : JSON.stringify(value),
  ]);
}

interface JsonProps {
  schema: Schema;
  text: string;
  fault: string | null;
  onText: (text: string) => void;
}

function JsonField({ schema, text, fault, onText }: JsonProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>Answer, as JSON</label>
      <textarea
        id={id}
        data-member=""
        className="line-input json"
        rows={3}
        spellCheck={false}
        aria-invalid={fault !== null}
        aria-describedby={`${id}-schema${fault === null ? "" : ` ${id}-fault`}`}
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
      {fault !== null && (
        <p id={`${id}-fault`} className="fault" role="alert">
          {plainText(fault)}
        </p>
      )}
      <details className="schema">
        <summary>The form it must have</summary>
        <pre id={`${id}-schema`} tabIndex={0} aria-label="Schema">
          <code>{plainText(JSON.stringify(schema, null, 2))}</code>
        </pre>
      </details>
    </div>
  );
}
