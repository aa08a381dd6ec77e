/** The agents that run and those that ran, the living first; and the way to start one. */
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { SESSION_LIMIT, sessionsQuery } from "../api/queries";
import { useAskedFor } from "../app/useAskedFor";
import { EmptyState, ReadError, Skeletons } from "../ui/Notice";
import { useCardKeys } from "../ui/useCardKeys";
import { useReturnToCard } from "../ui/useReturnToCard";
import { SessionCard } from "./SessionCard";
import { StartForm } from "./StartForm";
import { isAtWork, livingFirst } from "./wording";

export function SessionsScreen() {
  const { data, isPending, isError, error, refetch } = useQuery(sessionsQuery);
  const [starting, setStarting] = useState(false);
  const start = useRef<HTMLButtonElement>(null);
  const sessions = data?.sessions.toSorted(livingFirst) ?? [];
  const living = sessions.filter((session) => isAtWork(session)).length;
  useCardKeys();
  useReturnToCard(sessions.length > 0);
  useAskedFor("session", () => setStarting(true));

  function leave(): void {
    setStarting(false);
    start.current?.focus();
  }

  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Sessions</h1>
        <p>{data ? `${living === 0 ? "No" : living} ${living < 2 ? "agent is" : "agents are"} at work.` : "The agents at work."}</p>
      </header>
      <p className="start-bar">
        <button
          ref={start}
          type="button"
          className="button"
          aria-expanded={starting}
          aria-controls="start-session"
          onClick={() => setStarting(!starting)}
        >
          Start an agent…
        </button>
      </p>
      <div id="start-session">{starting && <StartForm onLeave={leave} />}</div>
      {isPending && <Skeletons count={3} label="Reading the sessions" />}
      {isError && data === undefined && (
        <ReadError what="The sessions" error={error} onRetry={() => void refetch()} />
      )}
      {data && sessions.length === 0 && <Nothing />}
      <ol className="cards">
        {sessions.map((session) => (
          <SessionCard key={session.id} session={session} />
        ))}
      </ol>
      {sessions.length >= SESSION_LIMIT && <p className="more">The {SESSION_LIMIT} heard of last are shown.</p>}
    </>
  );
}

function Nothing() {
  return (
    <EmptyState title="No agent was heard of yet">
      <p>An agent that Gemba starts works in a git worktree of its own, and stands here until long after it is over. By hand:</p>
      <pre tabIndex={0} aria-label="Commands that start agents">
        <code>{'gemba agents\ngemba session start --agent builtin "run: make test"'}</code>
      </pre>
      <p>Agents that you start yourself stand here as soon as they ask something or say what they do.</p>
    </EmptyState>
  );
}
