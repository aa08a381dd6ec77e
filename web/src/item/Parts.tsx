/** What an item consists of, and how much of that is finished. */
import { useQuery } from "@tanstack/react-query";
import type { WorkItem } from "../api/types";
import { partsQuery } from "../api/work-queries";
import { linkToBoard, linkToOne } from "../app/routes";
import { isFinished } from "../board/columns";
import { standingOf, STATES } from "../board/wording";
import { plainText } from "../ui/plain-text";

const SHOWN = 50;

export function Parts({ item }: { item: WorkItem }) {
  const parts = useQuery(partsQuery(item.id)).data;
  const total = parts?.columns.reduce((sum, column) => sum + column.total, 0) ?? 0;
  if (parts === undefined || total === 0) return null;
  const finished = parts.columns.filter(({ state }) => isFinished(state)).reduce((sum, column) => sum + column.total, 0);
  const cards = parts.columns.flatMap((column) => column.cards);
  return (
    <section className="section" aria-labelledby="item-parts">
      <h2 id="item-parts" className="section-title">
        Parts <span className="count">{total}</span>
      </h2>
      <p className="parts-progress">
        <progress value={finished} max={total} aria-label="How much is finished" /> {finished} of {total} finished
      </p>
      <ul className="relations">
        {cards.slice(0, SHOWN).map((card) => {
          const standing = standingOf(card, parts.names);
          return (
            <li key={card.id}>
              <span className="relation-said">{STATES[card.state]}</span>
              <span className="relation-other" dir="auto" data-over={isFinished(card.state) || undefined}>
                <a {...linkToOne("item", card.id)}>{plainText(card.title)}</a> <span className="item-id">{card.id}</span>
                {standing && (
                  <span className="item-standing" data-tone={standing.tone} title={standing.long}>
                    {" "}
                    {standing.short}
                  </span>
                )}
              </span>
            </li>
          );
        })}
      </ul>
      {total > SHOWN && (
        <p className="card-hint">
          <a {...linkToBoard({ parent: item.id })}>All {total} on the board</a>
        </p>
      )}
    </section>
  );
}
