/**
 * What can be decided of the item on the table, by button and by key. Nobody agrees to what they have not seen: until the
 * PM's words are there, and once it is settled elsewhere, nothing is decided.
 */
import { useState, type RefObject } from "react";
import { flushSync } from "react-dom";
import type { AgendaItem, Decide, Walk, WalkAction } from "../api/types";
import { goToItem } from "../api/walk-deeds";
import { ReasonBar } from "../inbox/ReasonBar";
import { announce } from "../ui/announce";
import { Icon, type IconName } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { plainText } from "../ui/plain-text";
import { tomorrowMorning } from "../ui/time";
import { holdSeconds } from "../undo/hold";
import { Words } from "../ui/Words";
import { activeOf, toGo, withSent } from "./agenda";
import { DeferBar, HandoffBar } from "./Bars";
import { commandOf, KEYS, numberOf, type Command, type Until } from "./keys";
import { Modify } from "./Modify";
import { post } from "./outbox";
import type { WalkDeeds } from "./useWalkDeed";
import { useWalkKey } from "./useWalkKey";
import { doesWhat, toldOf, verbOf, type DecisionKind } from "./wording";

interface Props {
  walk: Walk;
  item: AgendaItem;
  deeds: WalkDeeds;
  table: RefObject<HTMLElement | null>;
}

type Mode = "modify" | "reject" | "defer" | "handoff";

const HOUR = 60 * 60_000;
const ICONS: Record<DecisionKind, IconName> = {
  ratify: "check",
  modify: "brief",
  reject: "refused",
  defer: "clock",
  handoff: "handover",
};
const OTHERS = ["modify", "reject", "defer", "handoff"] as const;

const WHEN: Record<Until, () => string | undefined> = {
  later: () => undefined,
  hour: () => new Date(Date.now() + HOUR).toISOString(),
  tomorrow: () => tomorrowMorning(new Date()).toISOString(),
  backlog: () => "backlog",
};

export function Decisions({ walk, item, deeds, table }: Props) {
  // Both belong to one item: with the next one they are as they were.
  const [open, setOpen] = useState<{ item: string; mode: Mode } | null>(null);
  const [picked, setPicked] = useState<{ item: string; number: number } | null>(null);
  const mode = open?.item === item.id ? open.mode : null;
  const actions = item.framing?.actions ?? [];
  const number = picked?.item === item.id ? picked.number : 1;
  const action = actions[number - 1];
  const isPaused = walk.status === "paused";
  const canDecide = !isPaused && item.framing !== null && item.settled === null;

  function leave(): void {
    flushSync(() => setOpen(null));
    table.current?.focus({ preventScroll: true });
  }

  function decide(given: Decide): void {
    const isAnswer = item.source.kind === "escalation" && given.kind !== "defer" && given.kind !== "handoff";
    const body = isAnswer && holdSeconds() > 0 ? { ...given, hold: holdSeconds() } : given;
    const after = withSent(walk, [{ item: item.id, body }]);
    if (mode !== null) leave();
    post(walk.id, item, body);
    announce(toldOf(body.kind, item.topic, activeOf(after)?.topic ?? null, toGo(after.totals)));
  }

  function next(): void {
    deeds.act({
      run: (confirmId) => goToItem(walk.id, null, confirmId),
      said: (then) => {
        const now = activeOf(then);
        return now === null ? "Nothing else is on the agenda" : `Now: ${plainText(now.topic)}`;
      },
    });
  }

  function choose(command: Command): boolean {
    if (command === "next" && !isPaused) next();
    else if (!canDecide) return false;
    else if (command === "ratify") {
      if (action === undefined) return false;
      decide({ kind: "ratify", action: number });
    } else if (command === "modify" && action === undefined) return false;
    else if (command === "modify" || command === "reject" || command === "defer" || command === "handoff")
      setOpen({ item: item.id, mode: command });
    else return false;
    return true;
  }

  useWalkKey((key, event) => {
    if (mode !== null) {
      if (key !== "Escape") return false;
      leave();
      return true;
    }
    if (event.shiftKey) return false;
    const chosen = canDecide ? numberOf(key, actions.length) : null;
    if (chosen !== null) {
      setPicked({ item: item.id, number: chosen });
      announce(`${chosen}: ${plainText(actions[chosen - 1]?.label ?? "")}`);
      return true;
    }
    const command = commandOf(key);
    return command !== null && choose(command);
  }, mode !== null);

  return (
    <>
      {actions.length > 0 && (
        <Actions
          actions={actions}
          number={number}
          name={`walk-action-${item.id}`}
          isOff={!canDecide}
          onPick={(chosen) => setPicked({ item: item.id, number: chosen })}
        />
      )}
      {item.settled !== null && (
        <p className="mark" data-tone="warn" role="status">
          <Icon name="stamp" />
          <span>
            <strong>Settled elsewhere:</strong> {plainText(item.settled)}. There is nothing left to decide.
          </span>
        </p>
      )}
      {isPaused && <p className="card-hint">The walk is paused: go on with it to decide.</p>}
      {mode === null && !isPaused && (
        <div className="walk-decide" role="group" aria-label="Decide">
          {item.settled === null && (
            <button
              type="button"
              className="button walk-ratify"
              data-main
              aria-keyshortcuts={KEYS.ratify}
              aria-disabled={!canDecide || action === undefined}
              onClick={() => choose("ratify")}
            >
              <Icon name={ICONS.ratify} /> {verbOf("ratify")}
              {actions.length > 1 && <span className="walk-which">{number}</span>}
              <Kbd>{KEYS.ratify}</Kbd>
            </button>
          )}
          {item.settled === null &&
            OTHERS.map((kind) => (
              <button
                key={kind}
                type="button"
                className="button"
                data-decision={kind}
                aria-keyshortcuts={KEYS[kind]}
                aria-disabled={!canDecide || (kind === "modify" && action === undefined)}
                onClick={() => choose(kind)}
              >
                <Icon name={ICONS[kind]} /> <span>{verbOf(kind)}</span>
                <Kbd>{KEYS[kind]}</Kbd>
              </button>
            ))}
          <button
            type="button"
            className={item.settled === null ? "quiet walk-next" : "button walk-next"}
            data-main={item.settled !== null || undefined}
            aria-keyshortcuts={KEYS.next}
            onClick={() => choose("next")}
          >
            <Icon name="skip" /> <span>Next</span> <Kbd>{KEYS.next}</Kbd>
          </button>
        </div>
      )}
      {mode === "modify" && action !== undefined && (
        <Modify
          key={`${item.id} ${number}`}
          item={item}
          action={action}
          onModified={(edited) => decide({ kind: "modify", action: number, edited })}
          onCancel={leave}
        />
      )}
      {mode === "reject" && (
        <ReasonBar
          label={item.source.kind === "escalation" ? "Why not? The agent is told" : "Why not?"}
          action="Reject"
          required
          onReason={(rationale) => decide({ kind: "reject", rationale: rationale.trim() })}
          onCancel={leave}
        />
      )}
      {mode === "defer" && (
        <DeferBar
          source={item.source}
          onPick={(until) => {
            const when = WHEN[until]();
            decide({ kind: "defer", ...(when !== undefined && { until: when }) });
          }}
          onCancel={leave}
        />
      )}
      {mode === "handoff" && (
        <HandoffBar
          except={walk.persona_id}
          onPick={(persona) => decide({ kind: "handoff", persona })}
          onCancel={leave}
        />
      )}
    </>
  );
}

interface ActionsProps {
  actions: WalkAction[];
  number: number;
  name: string;
  isOff: boolean;
  onPick: (number: number) => void;
}

function Actions({ actions, number, name, isOff, onPick }: ActionsProps) {
  return (
    <fieldset className="walk-actions">
      <legend>The PM proposes</legend>
      {actions.map((action, index) => {
        const does = doesWhat(action);
        return (
          <label key={index} className="walk-action" data-chosen={(number === index + 1 && !isOff) || undefined}>
            <input
              type="radio"
              name={name}
              aria-keyshortcuts={String(index + 1)}
              checked={number === index + 1}
              disabled={isOff}
              onChange={() => onPick(index + 1)}
            />
            <span className="walk-action-words">
              <span dir="auto">
                <Words text={action.label} />
              </span>
              {does !== "" && (
                <span className="card-hint" dir="auto">
                  {does}
                </span>
              )}
            </span>
            {actions.length > 1 && <Kbd>{String(index + 1)}</Kbd>}
          </label>
        );
      })}
    </fieldset>
  );
}
