/** The second key of a decision: until when it is put off, to whom it is handed. Escape leaves. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, type ReactNode } from "react";
import { personasQuery } from "../api/persona-queries";
import type { WalkSource } from "../api/types";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { plainText } from "../ui/plain-text";
import { numberOf, UNTIL_KEYS, untilOf, type Until } from "./keys";
import { useWalkKey } from "./useWalkKey";
import { isWork, UNTIL } from "./wording";

interface BarProps {
  label: string;
  /** How many there are: the first has the focus. */
  many: number;
  onCancel: () => void;
  children: ReactNode;
}

function ChoiceBar({ label, many, onCancel, children }: BarProps) {
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => bar.current?.querySelector("button")?.focus({ preventScroll: true }), [many]);
  return (
    <div ref={bar} className="bar walk-bar" role="group" aria-label={label} data-walk-waits>
      <span className="bar-label">{label}</span>
      {children}
      <button type="button" className="tool" aria-label="Cancel" title="Cancel (Esc)" onClick={onCancel}>
        <Icon name="close" />
      </button>
    </div>
  );
}

interface DeferProps {
  source: WalkSource;
  onPick: (until: Until) => void;
  onCancel: () => void;
}

export function DeferBar({ source, onPick, onCancel }: DeferProps) {
  const offered = (Object.keys(UNTIL_KEYS) as Until[]).filter((until) => until !== "backlog" || isWork(source));
  useWalkKey((key) => {
    const until = untilOf(key);
    if (until === null || !offered.includes(until)) return false;
    onPick(until);
    return true;
  }, true);
  return (
    <ChoiceBar label="Defer" many={offered.length} onCancel={onCancel}>
      {offered.map((until) => (
        <button
          key={until}
          type="button"
          className="choice"
          aria-keyshortcuts={UNTIL_KEYS[until]}
          onClick={() => onPick(until)}
        >
          <Kbd>{UNTIL_KEYS[until]}</Kbd>
          {UNTIL[until]}
        </button>
      ))}
    </ChoiceBar>
  );
}

const PROPOSING = ["ask", "perspective"];
const MOST = 9;

interface HandoffProps {
  /** Who walks along already. */
  except: string;
  onPick: (persona: string) => void;
  onCancel: () => void;
}

export function HandoffBar({ except, onPick, onCancel }: HandoffProps) {
  const all = useQuery(personasQuery).data?.personas ?? [];
  const able = all.filter(({ id, skills }) => id !== except && skills.some((skill) => PROPOSING.includes(skill)));
  useWalkKey((key) => {
    const chosen = able[(numberOf(key, Math.min(MOST, able.length)) ?? 0) - 1];
    if (chosen === undefined) return false;
    onPick(chosen.id);
    return true;
  }, true);
  return (
    <ChoiceBar label="Hand to" many={able.length} onCancel={onCancel}>
      {able.map(({ id, name }, index) => (
        <button
          key={id}
          type="button"
          className="choice"
          aria-keyshortcuts={index < MOST ? String(index + 1) : undefined}
          onClick={() => onPick(id)}
        >
          {index < MOST && <Kbd>{String(index + 1)}</Kbd>}
          <span>{plainText(name)}</span>
        </button>
      ))}
      {able.length === 0 && <span className="card-hint">No other persona can propose anything.</span>}
    </ChoiceBar>
  );
}
