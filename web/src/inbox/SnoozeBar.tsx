/** For how long a card is put off; takes the place of the reply line. */
import { useEffect, useRef } from "react";
import type { Snooze } from "../api/types";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { formatMoment, tomorrowMorning } from "../ui/time";

export interface Span {
  label: string;
  body: () => Snooze;
  words: () => string;
}

const untilTomorrow = () => tomorrowMorning(new Date());

export const SPANS: Span[] = [
  { label: "15 min", body: () => ({ seconds: 15 * 60 }), words: () => "Snoozed for 15 minutes" },
  { label: "1 hour", body: () => ({ seconds: 60 * 60 }), words: () => "Snoozed for an hour" },
  {
    label: "Tomorrow 9:00",
    body: () => ({ until: untilTomorrow().toISOString() }),
    words: () => `Snoozed until ${formatMoment(untilTomorrow(), new Date())}`,
  },
];

export function SnoozeBar({ onPick, onCancel }: { onPick: (span: Span) => void; onCancel: () => void }) {
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => first.current?.focus({ preventScroll: true }), []);
  return (
    <div className="bar" role="group" aria-label="Snooze for">
      <span className="bar-label">Snooze</span>
      {SPANS.map((span, index) => (
        <button
          key={span.label}
          ref={index === 0 ? first : null}
          type="button"
          className="choice"
          aria-keyshortcuts={String(index + 1)}
          onClick={() => onPick(span)}
        >
          <Kbd>{String(index + 1)}</Kbd>
          {span.label}
        </button>
      ))}
      <button type="button" className="tool" aria-label="Cancel" title="Cancel (Esc)" onClick={onCancel}>
        <Icon name="close" />
      </button>
    </div>
  );
}
