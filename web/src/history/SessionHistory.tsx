/** What a session handed over, its figures, and everything it asked or decided alone, newest first. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { isUnresolved } from "../api/escalation-list";
import { sessionAsksQuery, sessionAssumptionsQuery } from "../api/queries";
import type { Assumption, Escalation } from "../api/types";
import { linkToOne, useParameter } from "../app/routes";
import { SessionHandoffs } from "../handoffs/SessionHandoffs";
import { SettledRow } from "../inbox/Rows";
import { kindOf } from "../inbox/wording";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { More } from "../ui/More";
import { ReadError, Skeletons } from "../ui/Notice";
import { firstLine, plainText } from "../ui/plain-text";
import { formatSeconds } from "../ui/time";
import { figuresOf, timelineOf, type Entry } from "./timeline";

const ASKED_HEADING = "section-asked";

/** Brings what the session asked into view, and the focus there. */
export function showAsked(): void {
  const heading = document.getElementById(ASKED_HEADING);
  heading?.scrollIntoView({ block: "start" });
  heading?.focus({ preventScroll: true });
}

export function SessionHistory({ id }: { id: string }) {
  const [wanted, setWanted] = useParameter("show");
  const asks = useInfiniteQuery(sessionAsksQuery(id));
  const assumptions = useQuery(sessionAssumptionsQuery(id)).data?.assumptions ?? [];
  const escalations = asks.data?.pages.flatMap((page) => page.escalations) ?? [];
  const total = asks.data?.pages[0]?.total ?? 0;
  const entries = timelineOf(escalations, assumptions, asks.hasNextPage);
  // Once what it asked is there, which moves what stands below.
  const isWanted = wanted === "asked" && asks.isSuccess;
  useEffect(() => {
    if (!isWanted) return;
    setWanted("");
    showAsked();
  });
  return (
    <>
      <SessionHandoffs session={id} />
      <section className="section" aria-labelledby={ASKED_HEADING}>
        <h2 id={ASKED_HEADING} className="section-title" tabIndex={-1}>
          Asked and decided
        </h2>
        {asks.isPending && <Skeletons count={2} label="Reading what it asked" />}
        {asks.isError && asks.data === undefined && (
          <ReadError what="What it asked" error={asks.error} onRetry={() => void asks.refetch()} />
        )}
        {asks.isSuccess && entries.length === 0 && (
          <p className="card-hint">
            It has asked nothing. Questions, answers and decisions taken alone stand here as they happen.
          </p>
        )}
        {entries.length > 0 && (
          <>
            <Figures escalations={escalations} total={total} assumed={assumptions.length} />
            <ul className="rows" aria-label="What it asked">
              {entries.map((entry) => (
                <TimelineRow key={entry.id} entry={entry} />
              ))}
            </ul>
          </>
        )}
        <More query={asks} />
      </section>
    </>
  );
}

function Figures({ escalations, total, assumed }: { escalations: Escalation[]; total: number; assumed: number }) {
  const figures = figuresOf(escalations);
  const shown: [name: string, value: string][] = [
    ["asked", String(total)],
    ["waiting", String(figures.waiting)],
    ["answered", String(figures.answered)],
    ["decided alone", String(assumed)],
    ["usual wait", figures.usualWait === null ? "–" : formatSeconds(figures.usualWait / 1_000)],
  ];
  return (
    <dl className="panel counters">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function TimelineRow({ entry }: { entry: Entry }) {
  if (entry.what === "assumption") return <AssumptionRow assumption={entry.assumption} />;
  return isUnresolved(entry.escalation) ? (
    <WaitingRow escalation={entry.escalation} />
  ) : (
    <SettledRow escalation={entry.escalation} />
  );
}

function WaitingRow({ escalation }: { escalation: Escalation }) {
  const { label, icon } = kindOf(escalation);
  return (
    <li className="row" data-escalation-id={escalation.id} data-state={escalation.state}>
      <Icon name={icon} />
      <div className="row-words">
        <p className="row-title" dir="auto">
          <a {...linkToOne("escalation", escalation.id)}>{firstLine(escalation.title ?? escalation.text)}</a>
        </p>
        <p className="row-note">
          {label} · waits since <Age since={escalation.opened_at} ago />
        </p>
      </div>
      <a className="quiet" {...linkToOne("escalation", escalation.id)}>
        Answer…
      </a>
    </li>
  );
}

function AssumptionRow({ assumption }: { assumption: Assumption }) {
  return (
    <li className="row" data-assumption-id={assumption.id}>
      <Icon name="fork" />
      <div className="row-words">
        <p className="row-title" dir="auto">
          {firstLine(assumption.text)}
        </p>
        <p className="row-answer" dir="auto">
          {plainText(assumption.overturned?.text ?? assumption.chose)}
        </p>
        <p className="row-note">
          {assumption.overturned === null ? "Decided alone" : "Decided alone, overturned"}{" "}
          <Age since={assumption.recorded_at} ago />
        </p>
      </div>
    </li>
  );
}
