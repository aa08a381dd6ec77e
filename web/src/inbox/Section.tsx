/** Cards of one urgency under their heading. */
import { isActive } from "../api/escalation-list";
import type { Escalation } from "../api/types";
import { Card } from "./Card";

interface Props {
  title: string;
  escalations: Escalation[];
  onRelease: (id: string) => void;
}

export function Section({ title, escalations, onRelease }: Props) {
  if (escalations.length === 0) return null;
  const headingId = `section-${title.toLowerCase()}`;
  return (
    <section className="section" aria-labelledby={headingId}>
      <h2 id={headingId} className="section-title">
        {title}
        <span className="section-hint">{escalations.filter(isActive).length}</span>
      </h2>
      <ol className="cards">
        {escalations.map((escalation) => (
          <Card key={escalation.id} escalation={escalation} onRelease={onRelease} />
        ))}
      </ol>
    </section>
  );
}
