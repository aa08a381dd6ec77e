/** Where the project is on its way, and since when. */
import { useQuery } from "@tanstack/react-query";
import { phasesQuery } from "../api/persona-queries";
import type { ProjectPhase } from "../api/types";
import { linkTo } from "../app/routes";
import { Age } from "../ui/Age";
import { plainText } from "../ui/plain-text";

export function PhaseLine({ phase }: { phase: ProjectPhase }) {
  const all = useQuery(phasesQuery).data?.phases ?? [];
  const at = all.findIndex((each) => each.phase === phase.phase);
  const meaning = all[at]?.meaning;
  return (
    <section className="floor-part" aria-labelledby="floor-phase">
      <h2 id="floor-phase" className="floor-title">
        Phase
      </h2>
      <p className="floor-phase">
        <a {...linkTo("personas")}>{phase.phase}</a>
        {meaning !== undefined && <span className="floor-soft">{plainText(meaning)}</span>}
        {phase.changed_at !== null && (
          <span className="floor-soft">
            begun <Age since={phase.changed_at} ago />
          </span>
        )}
      </p>
      <svg className="phase-steps" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        {all.map(({ phase: name }, index) => {
          const width = 100 / all.length;
          return (
            <rect key={name} className="phase-step" data-reached={index <= at || undefined} x={index * width} width={width - 1} height="4" />
          );
        })}
      </svg>
    </section>
  );
}
