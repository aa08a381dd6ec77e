/** What agents decided alone, newest first; the operator may decide otherwise. */
import { useQuery } from "@tanstack/react-query";
import { assumptionsQuery } from "../api/queries";
import type { Assumption } from "../api/types";
import { EmptyState, ReadError, Skeletons } from "../ui/Notice";
import { useCardKeys } from "../ui/useCardKeys";
import { AssumptionCard } from "./AssumptionCard";
import { useMarkSeen } from "./unseen";

const NONE: Assumption[] = [];

export function AssumptionsScreen() {
  const { data, isPending, isError, error, refetch } = useQuery(assumptionsQuery);
  const assumptions = data?.assumptions ?? NONE;
  const older = (data?.total ?? 0) - assumptions.length;
  useMarkSeen(assumptions);
  useCardKeys();
  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Assumptions</h1>
        <p>What agents decided alone so as not to wait for you. Overturn one, and its agent is told.</p>
      </header>
      {isPending && <Skeletons count={3} label="Reading the assumptions" />}
      {isError && data === undefined && (
        <ReadError what="The assumptions" error={error} onRetry={() => void refetch()} />
      )}
      {data !== undefined && assumptions.length === 0 && (
        <EmptyState title="No agent has decided anything alone">
          <p>An agent that can go on without you writes down what it took for granted:</p>
          <pre tabIndex={0} aria-label="Command that agents use">
            <code>
              {'gemba-ask --kind assumption --role coach \\\n  --text "Which port?" --chose "8080, as in the README"'}
            </code>
          </pre>
        </EmptyState>
      )}
      <ol className="assumptions">
        {assumptions.map((assumption) => (
          <AssumptionCard key={assumption.id} assumption={assumption} />
        ))}
      </ol>
      {older > 0 && <p className="more">{older.toLocaleString()} older ones are in the API.</p>}
    </>
  );
}
