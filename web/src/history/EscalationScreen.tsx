/** One escalation by its address: the card as it is, and the earlier answers to like questions. */
import { useQuery } from "@tanstack/react-query";
import { escalationQuery, meQuery, precedentsQuery, settledQuery, unresolvedQuery } from "../api/queries";
import type { Escalation, Precedent } from "../api/types";
import { linkToOne } from "../app/routes";
import { Card } from "../inbox/Card";
import { answererOf } from "../inbox/PrecedentMark";
import { kindOf } from "../inbox/wording";
import { firstLine, plainText } from "../ui/plain-text";
import { sessionName } from "../ui/session-name";
import { ReadError, Skeletons } from "../ui/Notice";
import { formatWhole } from "../ui/time";

export function EscalationScreen({ id }: { id: string }) {
  const { data: whole, isPending, isError, error, refetch } = useQuery(escalationQuery(id));
  const escalation = useNewest(whole);
  const precedents = useQuery(precedentsQuery(id)).data?.precedents ?? [];
  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>{escalation ? kindOf(escalation).label : "Escalation"}</h1>
        {escalation && (
          <p>
            Asked by <a {...linkToOne("session", escalation.session_id)}>{sessionName(escalation.session_id)}</a> on{" "}
            {formatWhole(new Date(escalation.opened_at))}
          </p>
        )}
      </header>
      {isPending && <Skeletons count={1} label="Reading the escalation" />}
      {isError && whole === undefined && (
        <ReadError what="The escalation" home="inbox" error={error} onRetry={() => void refetch()} />
      )}
      {escalation && (
        <ol className="cards">
          <Card escalation={escalation} />
        </ol>
      )}
      {precedents.length > 0 && <Precedents precedents={precedents} />}
    </>
  );
}

/** The lists hear of what changed first; the whole follows. */
function useNewest(whole: Escalation | undefined): Escalation | undefined {
  const lists = [useQuery(unresolvedQuery).data, useQuery(settledQuery).data];
  const listed = lists.flatMap((list) => list?.escalations ?? []).find((one) => one.id === whole?.id);
  if (whole === undefined || listed === undefined || listed.changed_at <= whole.changed_at) return whole;
  return { ...listed, text: whole.text, text_cut: false };
}

function Precedents({ precedents }: { precedents: Precedent[] }) {
  const me = useQuery(meQuery).data?.operator;
  return (
    <section className="section" aria-labelledby="section-precedents">
      <h2 id="section-precedents" className="section-title">
        Answered before
      </h2>
      <ul className="rows">
        {precedents.map((one) => (
          <li key={one.escalation_id} className="row">
            <div className="row-words">
              <p className="row-title" dir="auto">
                <a {...linkToOne("escalation", one.escalation_id)}>{firstLine(one.text)}</a>
              </p>
              <p className="row-answer" dir="auto">
                {plainText(one.answer.text)}
              </p>
              <p className="row-note">
                {answererOf(one.by, one.who, me)} · {sessionName(one.session_id)} · {formatWhole(new Date(one.at))}
              </p>
              <p className="row-note">{plainText(one.why)}</p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
