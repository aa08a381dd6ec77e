/** What needs the operator: how much of each kind and since when, then the most pressing asks themselves. */
import { useQuery } from "@tanstack/react-query";
import { isActive } from "../api/escalation-list";
import { unresolvedQuery } from "../api/queries";
import type { Escalation, Floor } from "../api/types";
import { linkTo, linkToOne, rememberCard } from "../app/routes";
import { useUnseenAssumptions } from "../assumptions/unseen";
import { openOnEnter } from "../handoffs/open-on-enter";
import { kindOf } from "../inbox/wording";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { firstLine } from "../ui/plain-text";
import { sessionName } from "../ui/session-name";
import { needsOf, type Need } from "./wording";

const MOST_ASKS = 4;

export function Needs({ needs }: { needs: Floor["needs"] }) {
  const found = needsOf(needs, useUnseenAssumptions());
  const asks = useQuery(unresolvedQuery).data?.escalations.filter(isActive).slice(0, MOST_ASKS) ?? [];
  return (
    <section className="floor-part" aria-labelledby="floor-needs">
      <h2 id="floor-needs" className="floor-title">
        Needs you
        {needs.snoozed > 0 && (
          <a className="section-hint" {...linkTo("inbox")}>
            {needs.snoozed.toLocaleString("en")} snoozed
          </a>
        )}
      </h2>
      {found.length === 0 ? (
        <p className="floor-calm">
          <Icon name="check" /> Nobody waits for you.
        </p>
      ) : (
        <ul className="strip" aria-label="What waits, by kind">
          {found.map((need) => (
            <Entry key={need.name} need={need} />
          ))}
        </ul>
      )}
      {asks.length > 0 && (
        <ol className="floor-rows" aria-label="The most pressing asks">
          {asks.map((ask) => (
            <Ask key={ask.id} ask={ask} />
          ))}
        </ol>
      )}
    </section>
  );
}

function Entry({ need }: { need: Need }) {
  const { many, label, oldest, one } = need;
  return (
    <li data-need={need.name} data-tone={need.tone} data-part={need.isPart}>
      <a className="strip-link" {...linkTo(need.route)}>
        <span className="strip-many">{many.toLocaleString("en")}</span> <span className="strip-label">{label}</span>
      </a>
      {oldest !== null && (
        <span className="strip-age">
          {one === null ? (
            <Age since={oldest} ago />
          ) : (
            <a title="To the oldest" {...linkToOne(one.what, one.id)}>
              <Age since={oldest} ago />
              <span className="visually-hidden">: the oldest {label}</span>
            </a>
          )}
        </span>
      )}
    </li>
  );
}

function Ask({ ask }: { ask: Escalation }) {
  const { id, urgency, session_id: session } = ask;
  const { label, icon } = kindOf(ask);
  const open = linkToOne("escalation", id);
  return (
    <li
      className="row floor-row floor-ask"
      tabIndex={-1}
      data-card-id={id}
      data-tone={urgency === "blocking" ? "hot" : undefined}
      onKeyDown={openOnEnter}
    >
      <Icon name={icon} />
      <div className="floor-words">
        <p className="floor-line" dir="auto">
          <a
            data-opens
            {...open}
            onClick={(event) => {
              rememberCard(id);
              open.onClick(event);
            }}
          >
            {firstLine(ask.title ?? ask.text, 160)}
          </a>
        </p>
        <p className="floor-soft">
          {label} from <a {...linkToOne("session", session)}>{sessionName(session)}</a>
        </p>
      </div>
      <Age className="floor-age" since={ask.opened_at} />
    </li>
  );
}
