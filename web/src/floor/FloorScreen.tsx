/** The floor: what needs the operator, what runs, what is next, what it cost. Every number leads to its place. */
import { useQuery } from "@tanstack/react-query";
import { floorQuery } from "../api/floor-queries";
import type { Floor } from "../api/types";
import { ReadError, Skeletons } from "../ui/Notice";
import { useCardKeys } from "../ui/useCardKeys";
import { useReturnToCard } from "../ui/useReturnToCard";
import { WalkOffer } from "../walk/WalkOffer";
import { Cost } from "./Cost";
import { FirstSteps } from "./FirstSteps";
import { Needs } from "./Needs";
import { Next } from "./Next";
import { PhaseLine } from "./PhaseLine";
import { Running } from "./Running";
import { TeamRuns } from "./TeamRuns";
import { summaryOf } from "./wording";

export function FloorScreen() {
  const { data, isPending, isError, error, refetch } = useQuery(floorQuery);
  useCardKeys();
  useReturnToCard(data !== undefined);
  const isNew = data?.untouched === true && data.needs.total === 0;
  return (
    <div className="floor">
      <header className="screen-head">
        <h1 tabIndex={-1}>Floor</h1>
        <p>{data && !isNew && summaryOf(data)}</p>
        <WalkOffer />
      </header>
      {isPending && <Skeletons count={3} label="Reading the floor" />}
      {isError && data === undefined && <ReadError what="The floor" error={error} onRetry={() => void refetch()} />}
      {data && (isNew ? <FirstSteps /> : <Parts floor={data} />)}
    </div>
  );
}

function Parts({ floor }: { floor: Floor }) {
  return (
    <>
      <Needs needs={floor.needs} />
      <div className="floor-columns">
        <div className="floor-column">
          <Running running={floor.running} />
          <TeamRuns teams={floor.teams} />
        </div>
        <div className="floor-column">
          <Next ready={floor.ready} />
          <Cost cost={floor.cost} />
          <PhaseLine phase={floor.phase} />
        </div>
      </div>
    </>
  );
}
