/** What was asked of personas lately, newest first; each opens beside the list. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { MouseEvent } from "react";
import { consultsQuery } from "../api/consult-queries";
import { personasQuery } from "../api/persona-queries";
import type { ConsultSummary } from "../api/types";
import { Mark } from "../handoffs/Mark";
import { count, formatDollars, skillOf, STATUSES } from "../consults/wording";
import { linkToConsultOnCoach } from "../app/routes";
import { Age } from "../ui/Age";
import { More } from "../ui/More";
import { ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";

interface Props {
  current: string;
  onOpen: (id: string) => void;
}

export function ConsultList({ current, onOpen }: Props) {
  const found = useInfiniteQuery(consultsQuery);
  const personas = useQuery(personasQuery).data?.personas;
  const names = new Map(personas?.map(({ id, name }) => [id, name]));
  const consults = found.data?.pages.flatMap((page) => page.consults) ?? [];
  return (
    <section className="section" aria-labelledby="consults-title">
      <h2 id="consults-title" className="section-title">
        Consults
      </h2>
      {found.isPending && <Skeletons count={1} label="Reading the consults" />}
      {found.isError && found.data === undefined && (
        <ReadError what="The consults" error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.data && consults.length === 0 && (
        <p className="section-hint">Nobody was asked yet. An order that is recommended stands here with its reasons.</p>
      )}
      {consults.length > 0 && (
        <ol className="rows">
          {consults.map((consult) => (
            <Row
              key={consult.id}
              consult={consult}
              by={names.get(consult.persona_id) ?? consult.persona_id}
              isCurrent={consult.id === current}
              onOpen={onOpen}
            />
          ))}
        </ol>
      )}
      <More query={found} />
    </section>
  );
}

interface RowProps {
  consult: ConsultSummary;
  by: string;
  isCurrent: boolean;
  onOpen: (id: string) => void;
}

function Row({ consult, by, isCurrent, onOpen }: RowProps) {
  const { id, line_count: lines, line_error_count: errors, dollars } = consult;
  const open = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    onOpen(id);
  };
  return (
    <li className="row consult-row" data-current={isCurrent || undefined}>
      <Mark look={STATUSES[consult.status]} />
      <div className="row-words">
        <p>
          <a href={linkToConsultOnCoach(id)} data-consult-link={id} aria-current={isCurrent ? "true" : undefined} onClick={open}>
            {skillOf(consult.skill_id)}
          </a>{" "}
          by {plainText(by)}
        </p>
        <p className="row-note">
          {count(lines)} {lines === 1 ? "line" : "lines"}
          {errors > 0 && `, ${count(errors)} not taken`}
          {consult.tokens.total > 0 && ` · ${count(consult.tokens.total)} tokens`}
          {dollars !== null && dollars > 0 && ` · ${formatDollars(dollars)}`}
        </p>
      </div>
      <span className="row-note">
        <Age since={consult.started_at} ago />
      </span>
    </li>
  );
}
