/** What agents handed over at the end of their turns, newest first, by what became of it. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { goalsQuery, handoffsQuery, type HandoffFilter } from "../api/handoff-queries";
import type { Handoff } from "../api/types";
import { linkToHandoffs, linkToOne, useParameter } from "../app/routes";
import { More } from "../ui/More";
import { EmptyState, ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";
import { useCardKeys } from "../ui/useCardKeys";
import { useReturnToCard } from "../ui/useReturnToCard";
import { HandoffCard } from "./HandoffCard";
import { STATES } from "./wording";

type State = Handoff["state"];

const FILTERS: [state: State | "", label: string][] = [
  ["", "All"],
  ["refused", "Refused"],
  ["checking", "Checking"],
  ["accepted", "Accepted"],
];

export function HandoffsScreen() {
  const [wanted] = useParameter("state");
  const [session] = useParameter("session");
  // An address that was typed wrongly shows all of them.
  const state = wanted in STATES ? (wanted as State) : "";
  const filter: HandoffFilter = { ...(state !== "" && { state }), ...(session !== "" && { session }) };
  const found = useInfiniteQuery(handoffsQuery(filter));
  const goals = useQuery(goalsQuery).data;
  const handoffs = found.data?.pages.flatMap((page) => page.handoffs) ?? [];
  const isThere = found.data !== undefined && !found.isPlaceholderData;
  useCardKeys();
  useReturnToCard(handoffs.length > 0);
  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Handoffs</h1>
        <p>What agents say at the end of a turn, and what was found about it.</p>
      </header>
      <nav className="tabs" aria-label="Which handoffs">
        {FILTERS.map(([one, label]) => (
          <a key={one} {...linkToHandoffs({ state: one, session })} aria-current={one === state ? "true" : undefined}>
            {label}
          </a>
        ))}
      </nav>
      {session !== "" && (
        <p className="found">
          Only of <a {...linkToOne("session", session)}>{plainText(session)}</a> ·{" "}
          <a {...linkToHandoffs({ state, session: "" })}>of all</a>
        </p>
      )}
      {found.isPending && <Skeletons count={3} label="Reading the handoffs" />}
      {found.isError && found.data === undefined && (
        <ReadError what="The handoffs" error={found.error} onRetry={() => void found.refetch()} />
      )}
      {isThere && handoffs.length === 0 && <Nothing state={state} />}
      <ol className="cards" aria-busy={found.isPlaceholderData}>
        {handoffs.map((handoff) => (
          <HandoffCard key={handoff.id} handoff={handoff} goal={goals?.get(handoff.dispatch_id ?? "")} />
        ))}
      </ol>
      <More query={found} />
    </>
  );
}

function Nothing({ state }: { state: State | "" }) {
  if (state === "checking")
    return (
      <EmptyState title="Nothing is being checked">
        <p>What says that it is complete is compared with the files, the commands and the tests, and stands here meanwhile.</p>
      </EmptyState>
    );
  if (state !== "")
    return (
      <EmptyState title={`No handoff was ${state}`}>
        <p>
          <a {...linkToHandoffs({ state: "", session: "" })}>All handoffs</a>
        </p>
      </EmptyState>
    );
  return (
    <EmptyState title="No agent has handed anything over">
      <p>An agent ends its turn with an envelope that is checked before anybody believes it. By hand:</p>
      <pre tabIndex={0} aria-label="Commands that agents use">
        <code>{"gemba handoff template > handoff.json\ngemba handoff submit handoff.json"}</code>
      </pre>
    </EmptyState>
  );
}
