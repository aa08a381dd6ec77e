/**
 * A walk: the agenda, the item on the table with what can be decided of it, what happens elsewhere, the totals. What was
 * decided a moment ago and is still on its way counts as decided (outbox.ts).
 */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { personasQuery } from "../api/persona-queries";
import { refresh } from "../api/queries";
import type { Walk } from "../api/types";
import { walkQuery } from "../api/walk-queries";
import { linkTo } from "../app/routes";
import { Mark } from "../handoffs/Mark";
import { useConnection } from "../live/line";
import { Failure } from "../sessions/AskOnce";
import { Age } from "../ui/Age";
import { announce } from "../ui/announce";
import { ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";
import { StandIn, useFocusOfStandIn } from "../ui/StandIn";
import { activeOf, withSent } from "./agenda";
import { Agenda } from "./Agenda";
import { Elsewhere } from "./Elsewhere";
import { Ended } from "./Ended";
import { useOutbox } from "./outbox";
import { Sending } from "./Sending";
import { Table } from "./Table";
import { TotalsBar } from "./TotalsBar";
import { useWalkDeed } from "./useWalkDeed";
import { WalkControls } from "./WalkControls";
import { nameOf, STATUSES } from "./wording";

export function WalkView({ id, onLeave }: { id: string; onLeave?: () => void }) {
  const { data: walk, dataUpdatedAt: readAt, isPending, isError, error, refetch } = useQuery(walkQuery(id));
  useReadAgainWhenBack(id);
  if (walk !== undefined) return <Whole walk={walk} readAt={readAt} {...(onLeave && { onLeave })} />;
  return (
    <>
      <header className="screen-head">
        <StandIn>Walk</StandIn>
      </header>
      {isPending && <Skeletons count={2} label="Reading the walk" />}
      {isError && <ReadError what="The walk" home="walks" error={error} onRetry={() => void refetch()} />}
    </>
  );
}

/** After an outage: whatever was missed, and whether the server knows what was decided last. */
function useReadAgainWhenBack(id: string): void {
  const { phase } = useConnection();
  const wasLive = useRef(phase === "live");
  useEffect(() => {
    if (phase === "live" && !wasLive.current) void refresh(walkQuery(id).queryKey);
    if (phase === "live" || phase === "waiting") wasLive.current = phase === "live";
  }, [phase, id]);
}

function Whole({ walk: known, readAt, onLeave }: { walk: Walk; readAt: number; onLeave?: () => void }) {
  const { letters, notTaken, isStuck } = useOutbox();
  const sent = useMemo(() => letters.filter((one) => one.walk === known.id), [letters, known.id]);
  const walk = useMemo(() => withSent(known, sent), [known, sent]);
  const deeds = useWalkDeed(walk.id);
  const isOver = walk.status === "completed" || walk.status === "abandoned";
  const active = isOver ? null : activeOf(walk);
  const [looked, setLooked] = useState<string | null>(null);
  const shown = walk.agenda.find(({ id }) => id === looked) ?? active;
  // Known before an item is handed to one: the second key follows at once.
  useQuery(personasQuery);
  useFocusOfStandIn();
  useTellOfTable(active?.settled ?? null, active?.topic ?? null);
  return (
    <div className="walk" data-status={walk.status}>
      <header className="screen-head walk-head">
        <h1 tabIndex={-1} dir="auto" className="session-title">
          {nameOf(walk)}
        </h1>
        <p className="walk-facts">
          <Mark look={STATUSES[walk.status]} />
          <span>
            {isOver ? "ended " : "began "}
            <Age since={walk.ended_at ?? walk.started_at} ago />
          </span>
          <span className="walk-with">with {plainText(walk.persona_id)}</span>
          {onLeave && isOver && (
            <button type="button" className="link-button" onClick={onLeave}>
              To the walks
            </button>
          )}
          {!onLeave && <a {...linkTo("walks")}>All walks</a>}
        </p>
        {!isOver && <WalkControls walk={walk} deeds={deeds} />}
        <Failure of="Not done" error={deeds.error} />
      </header>
      <Sending
        sent={sent}
        isStuck={isStuck}
        notTaken={notTaken.filter((one) => one.walk === walk.id)}
        walk={walk}
        deeds={deeds}
      />
      <div className="walk-parts">
        <Agenda walk={walk} deeds={deeds} looked={looked} onLook={setLooked} />
        <div className="walk-middle">
          {isOver && looked === null ? (
            <Ended walk={walk} />
          ) : (
            <Table walk={walk} item={shown} isActive={shown === active} deeds={deeds} onBack={() => setLooked(null)} />
          )}
        </div>
        {!isOver && <Elsewhere walk={walk} deeds={deeds} />}
      </div>
      <TotalsBar totals={walk.totals} status={walk.status} readAt={readAt} />
    </div>
  );
}

/** Somebody settled what is on the table. */
function useTellOfTable(settled: string | null, topic: string | null): void {
  useEffect(() => {
    if (settled !== null && topic !== null)
      announce(`Settled elsewhere: ${plainText(topic)}. ${plainText(settled)}. Press n for the next one`);
  }, [settled, topic]);
}
