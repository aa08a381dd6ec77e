/** The operator's walk where one is open; else what waits, the way to start one, and those that are over. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { walksQuery } from "../api/walk-queries";
import { ReadError, Skeletons } from "../ui/Notice";
import { StandIn } from "../ui/StandIn";
import { StartWalk } from "./StartWalk";
import { WalkView } from "./WalkView";

export function WalksScreen() {
  const { data, isError, error, refetch } = useQuery(walksQuery);
  // One that ends while it is looked at stays, with what came of it.
  const [shown, setShown] = useState<string | null>(null);
  const open = data?.hint.open_walk ?? null;
  if (open !== null && open !== shown) setShown(open);
  const id = open ?? shown;
  if (id !== null) return <WalkView key={id} id={id} onLeave={() => setShown(null)} />;
  if (data !== undefined) return <StartWalk list={data} onStarted={setShown} />;
  return (
    <>
      <header className="screen-head">
        <StandIn>Walk</StandIn>
      </header>
      {isError ? (
        <ReadError what="What waits" error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeletons count={2} label="Reading what waits" />
      )}
    </>
  );
}
