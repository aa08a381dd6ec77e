/** What one session handed over last, a line each; nothing where it handed nothing over. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { handoffsQuery } from "../api/handoff-queries";
import type { Handoff } from "../api/types";
import { linkToHandoffs, linkToOne } from "../app/routes";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { firstLine } from "../ui/plain-text";
import { saidBy, STATES, statusOf } from "./wording";

const MOST_SHOWN = 5;

export function SessionHandoffs({ session }: { session: string }) {
  const page = useInfiniteQuery(handoffsQuery({ session })).data?.pages[0];
  if (page === undefined || page.total === 0) return null;
  return (
    <section className="section session-handoffs" aria-labelledby="section-handoffs">
      <h2 id="section-handoffs" className="section-title">
        Handed over
        <span className="section-hint">
          {page.total > MOST_SHOWN ? (
            <a {...linkToHandoffs({ state: "", session })}>all {page.total}</a>
          ) : (
            String(page.total)
          )}
        </span>
      </h2>
      <ul className="rows">
        {page.handoffs.slice(0, MOST_SHOWN).map((handoff) => (
          <HandoffRow key={handoff.id} handoff={handoff} />
        ))}
      </ul>
    </section>
  );
}

function HandoffRow({ handoff }: { handoff: Handoff }) {
  const { label, icon } = STATES[handoff.state];
  return (
    <li className="row">
      <Icon name={icon} />
      <div className="row-words">
        <p className="row-title" dir="auto">
          <a {...linkToOne("handoff", handoff.id)}>{firstLine(saidBy(handoff))}</a>
        </p>
        <p className="row-note">
          {label} · {statusOf(handoff.plan_status)} · <Age since={handoff.created_at} ago />
        </p>
      </div>
    </li>
  );
}
