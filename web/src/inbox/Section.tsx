/** Cards of one urgency under their heading. */
import { isActive } from "../api/escalation-list";
import type { Escalation } from "../api/types";
import { Card } from "./Card";

interface Props {
  title: string;
  cards: Escalation[];
  othersOf: (id: string) => Escalation[] | undefined;
  onRelease: (id: string) => void;
  onApart: (id: string) => void;
}

export function Section({ title, cards, othersOf, onRelease, onApart }: Props) {
  if (cards.length === 0) return null;
  const headingId = `section-${title.toLowerCase()}`;
  const waiting = cards.filter(isActive).reduce((sum, { id }) => sum + 1 + (othersOf(id)?.length ?? 0), 0);
  return (
    <section className="section" aria-labelledby={headingId}>
      <h2 id={headingId} className="section-title">
        {title}
        <span className="section-hint">{waiting}</span>
      </h2>
      <ol className="cards">
        {cards.map((escalation) => {
          const others = othersOf(escalation.id);
          return (
            <Card
              key={escalation.id}
              escalation={escalation}
              onRelease={onRelease}
              onApart={onApart}
              {...(others && { others })}
            />
          );
        })}
      </ol>
    </section>
  );
}
