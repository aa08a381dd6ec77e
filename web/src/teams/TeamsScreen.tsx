/** The team runs, newest first, and the way to start one. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { teamsQuery } from "../api/team-queries";
import { useParameter } from "../app/routes";
import { useAskedFor } from "../app/useAskedFor";
import { Holds } from "../sprints/Holds";
import { More } from "../ui/More";
import { EmptyState, ReadError, Skeletons } from "../ui/Notice";
import { useCardKeys } from "../ui/useCardKeys";
import { useReturnToCard } from "../ui/useReturnToCard";
import { RunCard } from "./RunCard";
import { StartTeam } from "./StartTeam";

export function TeamsScreen() {
  const found = useInfiniteQuery(teamsQuery);
  const [epic, setEpic] = useParameter("epic");
  const [starting, setStarting] = useState(epic !== "");
  const start = useRef<HTMLButtonElement>(null);
  const runs = found.data?.pages.flatMap((page) => page.runs) ?? [];
  useCardKeys();
  useReturnToCard(runs.length > 0);
  useAskedFor("team", () => setStarting(true));
  useEffect(() => {
    if (epic !== "") setStarting(true);
  }, [epic]);

  function leave(): void {
    setStarting(false);
    setEpic("");
    start.current?.focus();
  }

  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Teams</h1>
        <p>{found.data === undefined ? "" : summaryOf(runs)}</p>
      </header>
      <p className="start-bar bar">
        <button
          ref={start}
          type="button"
          className="button"
          aria-expanded={starting}
          aria-controls="start-team"
          onClick={() => (starting ? leave() : setStarting(true))}
        >
          Start a team…
        </button>
      </p>
      <div id="start-team">{starting && <StartTeam key={epic} epic={epic} onLeave={leave} />}</div>
      <Holds />
      {found.isPending && <Skeletons count={3} label="Reading the team runs" />}
      {found.isError && found.data === undefined && (
        <ReadError what="The team runs" error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.data && runs.length === 0 && !starting && <Nothing onStart={() => setStarting(true)} />}
      <ol className="cards">
        {runs.map((run) => (
          <RunCard key={run.id} run={run} />
        ))}
      </ol>
      <More query={found} />
    </>
  );
}

function summaryOf(runs: { state: string; waits_for_you: number }[]): string {
  const running = runs.filter(({ state }) => state === "running").length;
  const waiting = runs.reduce((sum, { waits_for_you: many }) => sum + many, 0);
  if (runs.length === 0) return "Several agents on one task, with gates that measure what they hand in.";
  const words = [
    running === 0 ? "Nothing runs" : running === 1 ? "1 run is under way" : `${running} runs are under way`,
    waiting === 0 ? "nothing waits for you" : waiting === 1 ? "1 task waits for you" : `${waiting} tasks wait for you`,
  ];
  return `${words.join("; ")}.`;
}

function Nothing({ onStart }: { onStart: () => void }) {
  return (
    <EmptyState title="No team has run here yet">
      <p>
        A team run takes one text apart into roles and tasks. Each task has an agent in a worktree of its own; what it
        hands in is measured at a gate before others build on it, and what needs you comes to the inbox. It survives
        restarts.
      </p>
      <pre tabIndex={0} aria-label="The command that starts a team">
        <code>{'gemba team start "Investigate the slow search, fix it and test it"'}</code>
      </pre>
      <p>
        <button type="button" className="button" onClick={onStart}>
          Start a team here
        </button>
      </p>
    </EmptyState>
  );
}
