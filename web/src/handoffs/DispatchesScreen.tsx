/** The work that was given to agents, newest first, and how far each piece of it got. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { dispatchesQuery } from "../api/handoff-queries";
import type { Dispatch } from "../api/types";
import { linkToOne, rememberCard } from "../app/routes";
import { Age } from "../ui/Age";
import { More } from "../ui/More";
import { EmptyState, ReadError, Skeletons } from "../ui/Notice";
import { firstLine, plainText } from "../ui/plain-text";
import { useCardKeys } from "../ui/useCardKeys";
import { useReturnToCard } from "../ui/useReturnToCard";
import { Words } from "../ui/Words";
import { DispatchHead } from "./DispatchHead";
import { openOnEnter } from "./open-on-enter";

const MOST_SHOWN = 300;

export function DispatchesScreen() {
  const found = useInfiniteQuery(dispatchesQuery);
  const dispatches = found.data?.pages.flatMap((page) => page.dispatches) ?? [];
  useCardKeys();
  useReturnToCard(dispatches.length > 0);
  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Dispatches</h1>
        <p>Work that was given to agents. It is complete when a handoff that says so was accepted, and not before.</p>
      </header>
      {found.isPending && <Skeletons count={3} label="Reading the dispatches" />}
      {found.isError && found.data === undefined && (
        <ReadError what="The dispatches" error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.isSuccess && dispatches.length === 0 && (
        <EmptyState title="No work was given to an agent yet">
          <p>Say what is to be done; the agent that takes it on has to show that it did it.</p>
          <pre tabIndex={0} aria-label="Command that gives work to an agent">
            <code>gemba handoff dispatch "Make the tests pass"</code>
          </pre>
        </EmptyState>
      )}
      <ol className="cards">
        {dispatches.map((dispatch) => (
          <DispatchCard key={dispatch.id} dispatch={dispatch} />
        ))}
      </ol>
      <More query={found} />
    </>
  );
}

function DispatchCard({ dispatch }: { dispatch: Dispatch }) {
  const { id } = dispatch;
  const open = linkToOne("dispatch", id);
  return (
    <li className="slot">
      <article className="card" tabIndex={-1} aria-labelledby={`dispatch-${id}`} data-card-id={id} onKeyDown={openOnEnter}>
        <DispatchHead dispatch={dispatch} />
        <h3 id={`dispatch-${id}`} className="words handoff-said" dir="auto">
          <a
            data-opens
            {...open}
            onClick={(event) => {
              rememberCard(id);
              open.onClick(event);
            }}
          >
            <Words text={firstLine(dispatch.goal, MOST_SHOWN)} />
          </a>
        </h3>
        <p className="card-hint">
          Turn {dispatch.turn} · {plainText(dispatch.provider)}
          {dispatch.role !== null && ` · ${plainText(dispatch.role)}`} · changed <Age since={dispatch.changed_at} ago />
        </p>
      </article>
    </li>
  );
}
