/** Where a field is typed, by its shape. */
import { KIND_NAMES, KINDS, PRIORITIES } from "../board/wording";
import type { Field } from "./fields";
import { ItemPicker } from "./ItemPicker";

interface Props {
  field: Field;
  value: string;
  onValue: (value: string) => void;
}

const CHOICES: Record<string, [value: string, label: string][]> = {
  kind: KIND_NAMES.map((name) => [name, KINDS[name]]),
  priority: PRIORITIES.map((name, value) => [String(value), name]),
};

export function FieldInput({ field: { name, label, shape }, value, onValue }: Props) {
  if (shape === "item") return <ItemPicker label={label} value={value} onValue={onValue} />;
  if (shape === "choice")
    return (
      <select className="line-input" aria-label={label} value={value} onChange={(event) => onValue(event.target.value)}>
        {(CHOICES[name] ?? []).map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    );
  if (shape === "text" || shape === "lines")
    return (
      <textarea
        className="line-input"
        aria-label={label}
        rows={shape === "text" ? 8 : 4}
        dir="auto"
        value={value}
        onChange={(event) => onValue(event.target.value)}
      />
    );
  return (
    <input
      className="line-input"
      aria-label={label}
      inputMode={shape === "number" ? "numeric" : undefined}
      dir="auto"
      value={value}
      onChange={(event) => onValue(event.target.value)}
    />
  );
}
