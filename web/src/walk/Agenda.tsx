/** The agenda: what is still to be decided in its order, what was put off, what is done. On a narrow window it folds. */
import { useRef, useState, type KeyboardEvent } from "react";
import { flushSync } from "react-dom";
import type { AgendaItem, Walk } from "../api/types";
import { addToAgenda, goToItem, moveItem, removeItem } from "../api/walk-deeds";
import { ReasonBar } from "../inbox/ReasonBar";
import { Icon } from "../ui/Icon";
import { firstLine, plainText } from "../ui/plain-text";
import { sessionName } from "../ui/session-name";
import { useNarrow } from "../ui/useNarrow";
import { isUndecided, partsOf, placeAfterStep, toGo } from "./agenda";
import { KEYS } from "./keys";
import { useEscalations } from "./useEscalations";
import type { WalkDeeds } from "./useWalkDeed";
import { useWalkKey } from "./useWalkKey";
import { handedOf, lookOf, sourceOf } from "./wording";

interface Props {
  walk: Walk;
  deeds: WalkDeeds;
  /** The item that is looked at beside the one on the table. */
  looked: string | null;
  onLook: (id: string | null) => void;
}

const ROW = "[data-agenda-item]";

function rows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(`.walk-agenda ${ROW}`)].filter((row) => row.checkVisibility());
}

export function Agenda({ walk, deeds, looked, onLook }: Props) {
  const isNarrow = useNarrow();
  const [isOpen, setIsOpen] = useState(false);
  const [isAdding, setIsAdding] = useState(false);
  const add = useRef<HTMLButtonElement>(null);
  const { open, deferred, done } = partsOf(walk.agenda);
  const isActive = walk.status === "active";
  const unfolded = !isNarrow || isOpen;
  const left = `${toGo(walk.totals)} ${walk.status === "active" || walk.status === "paused" ? "to go" : "left"}`;
  const escalations = useEscalations();

  function leaveTopic(): void {
    flushSync(() => setIsAdding(false));
    add.current?.focus({ preventScroll: true });
  }

  function addTopic(topic: string): void {
    deeds.act({
      run: (confirmId) => addToAgenda(walk.id, { topic: topic.trim().slice(0, 200) }, confirmId),
      said: "Added to the agenda",
      then: leaveTopic,
    });
  }

  useWalkKey((key, event) => {
    if (isActive && key === KEYS.topic && !event.shiftKey) {
      setIsOpen(true);
      setIsAdding(true);
      return true;
    }
    if ((key !== "j" && key !== "k") || event.shiftKey) return false;
    if (isNarrow) flushSync(() => setIsOpen(true));
    const all = rows();
    const at = all.findIndex((row) => row.contains(document.activeElement));
    const first = all.find((row) => row.getAttribute("aria-current") !== null) ?? all[0];
    (at < 0 ? first : all[at + (key === "j" ? 1 : -1)])?.focus();
    return all.length > 0;
  });

  function go(item: AgendaItem): void {
    if (isNarrow) setIsOpen(false);
    if (!isUndecided(item) || !isActive) return onLook(item.id === looked ? null : item.id);
    onLook(null);
    if (item.id === walk.active_item) return;
    deeds.act({ run: (confirmId) => goToItem(walk.id, item.id, confirmId), said: `Now: ${plainText(item.topic)}` });
  }

  const row = (item: AgendaItem) => (
    <Row
      key={item.id}
      item={item}
      what={sourceOf(item.source, escalations.get(item.source.ref)).label}
      walk={walk}
      deeds={deeds}
      isLooked={item.id === looked}
      onGo={() => go(item)}
    />
  );

  return (
    <section className="walk-agenda" aria-labelledby="walk-agenda" data-open={unfolded || undefined}>
      <header className="walk-side-head">
        <h2 id="walk-agenda">
          {isNarrow ? (
            <button
              type="button"
              className="walk-fold"
              aria-expanded={isOpen}
              aria-controls="walk-agenda-list"
              onClick={() => setIsOpen(!isOpen)}
            >
              <Icon name="chevron" size={13} />
              Agenda
              <span className="count">{left}</span>
            </button>
          ) : (
            <>
              Agenda <span className="count">{left}</span>
            </>
          )}
        </h2>
        {isActive && (
          <button
            ref={add}
            type="button"
            className="tool"
            aria-label="Add a topic"
            title={`Add a topic (${KEYS.topic})`}
            aria-keyshortcuts={KEYS.topic}
            aria-expanded={isAdding}
            onClick={() => {
              setIsOpen(true);
              setIsAdding(!isAdding);
            }}
          >
            <Icon name="plus" />
          </button>
        )}
      </header>
      {isAdding && isActive && (
        <ReasonBar label="What to talk about" action="Add" required onReason={addTopic} onCancel={leaveTopic} />
      )}
      <div id="walk-agenda-list" hidden={!unfolded}>
        {walk.agenda.length === 0 && <p className="card-hint">Nothing waited when the walk began.</p>}
        {open.length > 0 && (
          <ol className="walk-rows" aria-label="To be decided">
            {open.map(row)}
          </ol>
        )}
        {deferred.length > 0 && (
          <>
            <h3 className="walk-rows-title">Put off</h3>
            <ol className="walk-rows" aria-label="Put off">
              {deferred.map(row)}
            </ol>
          </>
        )}
        {done.length > 0 && (
          <details className="fold walk-done" open={walk.status !== "active" || undefined}>
            <summary>
              <Icon name="chevron" size={12} />
              <h3>Done</h3>
              <span className="count">{done.length}</span>
            </summary>
            <ol className="walk-rows" aria-label="Done">
              {done.map(row)}
            </ol>
          </details>
        )}
      </div>
    </section>
  );
}

interface RowProps {
  item: AgendaItem;
  /** What it is, in a word. */
  what: string;
  walk: Walk;
  deeds: WalkDeeds;
  isLooked: boolean;
  onGo: () => void;
}

function Row({ item, what, walk, deeds, isLooked, onGo }: RowProps) {
  const look = lookOf(item);
  const canMove = walk.status === "active" && isUndecided(item);
  const isOnTable = item.id === walk.active_item && (walk.status === "active" || walk.status === "paused");
  const { persona_id: persona, consult_id: consult } = item.decision ?? {};
  const handed =
    persona != null && item.status === "deferred"
      ? handedOf(persona, walk.consults.find(({ id }) => id === consult)?.status)
      : null;

  function move(step: 1 | -1): void {
    const place = placeAfterStep(walk.agenda, item.id, step);
    if (place === null) return;
    const words = `Moved ${step === 1 ? "down" : "up"}, to place ${place}`;
    deeds.act({ run: (confirmId) => moveItem(walk.id, item.id, place, confirmId), said: words });
  }

  function remove(): void {
    const all = rows();
    const at = all.findIndex((row) => row.dataset["agendaItem"] === item.id);
    const heir = all[at + 1] ?? all[at - 1] ?? document.querySelector<HTMLElement>("main h1");
    deeds.act({
      run: (confirmId) => removeItem(walk.id, item.id, confirmId),
      said: "Left out of this walk; it waits as it did",
      then: () => heir?.focus(),
    });
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (!canMove || event.defaultPrevented) return;
    if (event.key === "J" || event.key === "K") move(event.key === "J" ? 1 : -1);
    else if (event.key === "Delete") remove();
    else return;
    event.preventDefault();
  }

  return (
    <li className="walk-row" data-tone={look.tone} data-status={item.status}>
      <button
        type="button"
        className="walk-row-main"
        data-agenda-item={item.id}
        aria-current={isOnTable ? "step" : undefined}
        aria-pressed={isLooked || undefined}
        onClick={onGo}
        onKeyDown={onKeyDown}
      >
        <Icon name={look.icon} size={14} />
        <span className="walk-row-words">
          <span className="walk-row-topic" dir="auto">
            {firstLine(item.topic.replaceAll("`", ""), 120)}
          </span>
          <span className="walk-row-note">
            {isOnTable || item.status === "queued" ? "" : `${handed ?? look.label} · `}
            <span data-hot={item.priority === 0 && isUndecided(item) ? true : undefined}>{what}</span>
            {item.source.worker !== null && ` · ${sessionName(item.source.worker)}`}
          </span>
          {item.settled !== null && <span className="walk-row-note">{plainText(item.settled)}</span>}
        </span>
        <span className="visually-hidden">{isOnTable ? ", on the table" : ""}</span>
      </button>
      {canMove && (
        <span className="walk-row-tools">
          <Tool name="Up" shortcut="Shift K" turn="up" topic={item.topic} onPress={() => move(-1)} />
          <Tool name="Down" shortcut="Shift J" turn="down" topic={item.topic} onPress={() => move(1)} />
          <Tool name="Leave out" shortcut="Delete" topic={item.topic} onPress={remove} />
        </span>
      )}
    </li>
  );
}

interface ToolProps {
  name: string;
  shortcut: string;
  turn?: "up" | "down";
  topic: string;
  onPress: () => void;
}

function Tool({ name, shortcut, turn, topic, onPress }: ToolProps) {
  return (
    <button
      type="button"
      className="tool"
      data-turn={turn}
      aria-label={`${name}: ${firstLine(topic, 60)}`}
      title={`${name} (${shortcut})`}
      onClick={onPress}
    >
      <Icon name={turn === undefined ? "close" : "chevron"} size={13} />
    </button>
  );
}
