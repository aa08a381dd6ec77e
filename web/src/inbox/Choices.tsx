/** The answers that take one key. */
import { plainText } from "../ui/plain-text";
import { Kbd } from "../ui/Kbd";
import type { Choice } from "./choices";

const KEYS = 9;

interface Props {
  choices: Choice[];
  disabled: boolean;
  /** The number that was pressed once and answers when it is pressed again. */
  armed?: number | null;
  onChoose: (choice: Choice) => void;
}

export function Choices({ choices, disabled, armed = null, onChoose }: Props) {
  return (
    <ol className="choices" aria-label="Answers">
      {choices.map((choice, index) => (
        <li key={index}>
          <button
            type="button"
            className="choice"
            data-armed={armed === index + 1 || undefined}
            disabled={disabled}
            {...(index < KEYS && { "aria-keyshortcuts": String(index + 1) })}
            onClick={() => onChoose(choice)}
          >
            {index < KEYS && <Kbd>{String(index + 1)}</Kbd>}
            <span dir="auto">{plainText(choice.label)}</span>
          </button>
        </li>
      ))}
    </ol>
  );
}
