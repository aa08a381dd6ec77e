/** One work item on the board: what it is, where it stands, and why it was not moved where somebody wanted it. */
import { memo, useRef } from "react";
import type { WorkCard, WorkState } from "../api/types";
import { linkToOne, rememberCard } from "../app/routes";
import { Icon } from "../ui/Icon";
import { firstLine, plainText } from "../ui/plain-text";
import { useHandOverFocus } from "../ui/useHandOverFocus";
import type { Movable, Refusal } from "./useMoves";
import { KINDS, PRIORITIES, standingOf, STATES } from "./wording";

/** The same for every card for as long as the board is shown, so that scrolling draws only what comes into view. */
export interface CardDeeds {
  askWhere: (card: WorkCard) => void;
  move: (card: Movable, to: WorkState) => void;
  putAway: (id: string) => void;
  beginDrag: (card: WorkCard) => void;
  endDrag: () => void;
}

interface Props {
  card: WorkCard;
  names: Readonly<Record<string, string>>;
  /** Tab leads here. */
  isStop: boolean;
  movingTo: WorkState | undefined;
  refusal: Refusal | undefined;
  deeds: CardDeeds;
}

/** Who is left behind with the focus when a card goes away: its neighbour below, else above. */
function heirOf(card: HTMLElement): HTMLElement | null {
  const row = card.closest("li");
  const next = row?.nextElementSibling ?? row?.previousElementSibling;
  return next?.querySelector<HTMLElement>(".item-card") ?? null;
}

export const ItemCard = memo(function ItemCard({ card, names, isStop, movingTo, refusal, deeds }: Props) {
  const element = useRef<HTMLElement>(null);
  useHandOverFocus(element, heirOf);
  const open = linkToOne("item", card.id);
  const standing = standingOf(card, names);
  return (
    <article
      ref={element}
      className="item-card"
      tabIndex={isStop ? 0 : -1}
      aria-labelledby={`card-${card.id}`}
      aria-keyshortcuts="m Enter"
      aria-busy={movingTo !== undefined}
      data-item-id={card.id}
      data-kind={card.kind}
      draggable={movingTo === undefined}
      onDragStart={(event) => {
        event.dataTransfer.setData("text/plain", card.id);
        event.dataTransfer.effectAllowed = "move";
        deeds.beginDrag(card);
      }}
      onDragEnd={deeds.endDrag}
    >
      <header className="item-head">
        <span className="item-kind">{KINDS[card.kind]}</span>
        <span className="item-id">{card.id}</span>
        <span className="item-priority" data-high={card.priority < 2 || undefined}>
          {PRIORITIES[card.priority]}
        </span>
        <button type="button" className="item-move" tabIndex={-1} onClick={() => deeds.askWhere(card)}>
          Move…<span className="visually-hidden"> {firstLine(card.title, 60)}</span>
        </button>
      </header>
      <h3 id={`card-${card.id}`} className="item-title" dir="auto" title={firstLine(card.title, 300)}>
        <a
          {...open}
          tabIndex={-1}
          draggable={false}
          onClick={(event) => {
            rememberCard(card.id);
            open.onClick(event);
          }}
        >
          {plainText(card.title)}
        </a>
      </h3>
      <p className="item-line">
        {card.parent !== null && (
          <span className="item-epic" dir="auto" title={firstLine(names[card.parent] ?? card.parent, 300)}>
            <span className="visually-hidden">Part of </span>
            {plainText(names[card.parent] ?? card.parent)}
          </span>
        )}
        {card.assignee !== null && (
          <span className="item-assignee">
            <span className="visually-hidden">Assigned to </span>@{plainText(card.assignee)}
          </span>
        )}
      </p>
      <p className="item-line">
        {movingTo !== undefined && <span className="item-standing">Moving to {STATES[movingTo].toLowerCase()}…</span>}
        {movingTo === undefined && standing && (
          <span className="item-standing" data-tone={standing.tone} title={standing.long}>
            <span aria-hidden="true">{standing.short}</span>
            <span className="visually-hidden">{standing.long}</span>
          </span>
        )}
        {card.labels.length > 0 && (
          <span className="item-labels">
            <span className="visually-hidden">Labels: </span>
            {card.labels.map((label) => plainText(label)).join(" · ")}
          </span>
        )}
      </p>
      {refusal && <NotMoved card={card} refusal={refusal} deeds={deeds} />}
    </article>
  );
});

function NotMoved({ card, refusal, deeds }: { card: WorkCard; refusal: Refusal; deeds: CardDeeds }) {
  return (
    <div className="item-refusal" role="group" aria-label={`Not moved to ${STATES[refusal.to].toLowerCase()}`}>
      <p>
        <Icon name="warn" size={14} /> {plainText(refusal.words)}
      </p>
      <div className="item-refusal-foot">
        {refusal.escalation !== null && (
          <a className="link-button" {...linkToOne("escalation", refusal.escalation)}>
            Answer it
          </a>
        )}
        {refusal.isConflict && card.state !== refusal.to && (
          <button type="button" className="link-button" onClick={() => deeds.move(card, refusal.to)}>
            Move it all the same
          </button>
        )}
        <button type="button" className="link-button" onClick={() => deeds.putAway(card.id)}>
          Leave it
        </button>
      </div>
    </div>
  );
}
