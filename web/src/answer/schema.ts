/**
 * An answer's schema as a small form, where it is simple enough for one: a boolean, an enumeration, a text, a number, or an
 * object of those. Pure. Everything else is answered as JSON; the server judges every answer, however it was written.
 */
export type Schema = Record<string, unknown>;

export interface Field {
  /** The member's name; empty when the whole answer is this one value. */
  name: string;
  label: string;
  description: string | null;
  type: "boolean" | "enum" | "string" | "integer" | "number";
  /** The values of an enumeration. */
  values: unknown[];
  required: boolean;
  /** A text with room for more than a line. */
  long: boolean;
  given: string;
}

export type Inputs = Record<string, string>;

const SCALARS = ["boolean", "string", "integer", "number"];
/** Words that change what fits in a way that no field shows. */
const INTRICATE = [
  ...["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not"],
  ...["if", "patternProperties", "dependentSchemas"],
];
const MOST_FIELDS = 20;
/** As many as there are number keys; more are chosen from a list, and very many are typed. */
const MOST_CHOICES = 9;
const MOST_VALUES = 200;
const LONG = 120;

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown) => (typeof value === "string" && value !== "" ? value : null);

/** The fields of a form for it, or null when it wants JSON. */
export function fieldsOf(schema: Schema): Field[] | null {
  if (INTRICATE.some((word) => word in schema)) return null;
  if (schema["type"] !== "object") {
    const field = fieldOf("", schema, true);
    return field && [field];
  }
  const members = isObject(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const named = new Set(members.map(([name]) => name));
  if (members.length === 0 || members.length > MOST_FIELDS || !required.every((name) => named.has(name as string)))
    return null;
  const fields = members.map(([name, member]) => fieldOf(name, member, required.includes(name)));
  return fields.every((field) => field !== null) ? fields : null;
}

function fieldOf(name: string, schema: unknown, required: boolean): Field | null {
  if (!isObject(schema) || INTRICATE.some((word) => word in schema)) return null;
  const values = Array.isArray(schema["enum"]) ? schema["enum"] : "const" in schema ? [schema["const"]] : [];
  const type = schema["type"];
  if (values.length === 0 && !SCALARS.includes(type as string)) return null;
  if (values.length > MOST_VALUES) return null;
  if (values.some((value) => typeof value === "object" && value !== null)) return null;
  const given = schema["default"];
  return {
    name,
    label: textOf(schema["title"]) ?? (name === "" ? "Answer" : name),
    description: textOf(schema["description"]),
    type: values.length > 0 ? "enum" : (type as Field["type"]),
    values,
    required,
    long: type === "string" && Number(schema["maxLength"] ?? Number.POSITIVE_INFINITY) > LONG,
    given: given === undefined ? "" : typeof given === "string" && values.length === 0 ? given : JSON.stringify(given),
  };
}

/** What one key can answer: yes or no, or one of a few values. Null when it takes more. */
export function choicesIn(schema: Schema): { label: string; value: unknown }[] | null {
  const [field, second] = fieldsOf(schema) ?? [];
  if (field === undefined || second !== undefined || field.name !== "") return null;
  if (field.type === "boolean")
    return [
      { label: "Yes", value: true },
      { label: "No", value: false },
    ];
  if (field.type !== "enum" || field.values.length > MOST_CHOICES) return null;
  return field.values.map((value) => ({ label: typeof value === "string" ? value : JSON.stringify(value), value }));
}

/** What stands in a field. A member may have any name, also one that every object has. */
export function inputOf(field: Field, inputs: Inputs): string {
  const text: unknown = Object.hasOwn(inputs, field.name) ? inputs[field.name] : undefined;
  return typeof text === "string" ? text : field.given;
}

/** The answer that the filled-in fields make. What is optional and empty is left out; what is no number stays a text. */
export function valueFrom(fields: Field[], inputs: Inputs): unknown {
  const [only] = fields;
  if (only?.name === "") return valueOf(only, inputOf(only, inputs));
  const filled = fields
    .map((field) => [field, inputOf(field, inputs)] as const)
    .filter(([field, text]) => text !== "" || (field.required && field.type === "string"));
  return Object.fromEntries(filled.map(([field, text]) => [field.name, valueOf(field, text)]));
}

function valueOf(field: Field, text: string): unknown {
  switch (field.type) {
    case "string":
      return text;
    case "boolean":
    case "enum":
      return parsed(text);
    case "integer":
    case "number": {
      const number = Number(text.trim());
      return text.trim() === "" || Number.isNaN(number) ? text : number;
    }
  }
}

/** A JSON text as its value; what is none as the text that it is. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The name of the first field that must be filled in and is not. */
export function missingIn(fields: Field[], inputs: Inputs): Field | null {
  const isEmpty = (field: Field) => inputOf(field, inputs).trim() === "";
  return fields.find((field) => field.required && field.type !== "string" && isEmpty(field)) ?? null;
}

/** Which member a refusal points at: "/value/port" → "port"; empty for the answer as a whole. */
export function memberAt(pointer: string | null): string {
  const [, , member = ""] = (pointer ?? "").split("/");
  return member.replaceAll("~1", "/").replaceAll("~0", "~");
}
