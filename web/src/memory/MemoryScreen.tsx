/** What agents want remembered, first what waits for a word of the operator's; then what later turns are given. */
import { useQuery } from "@tanstack/react-query";
import { acceptedMemoriesQuery, rejectedMemoriesQuery, waitingMemoriesQuery } from "../api/queries";
import type { MemoryList } from "../api/types";
import { Fold } from "../inbox/Fold";
import { EmptyState, ReadError, Skeletons } from "../ui/Notice";
import { useCardKeys } from "../ui/useCardKeys";
import { MemoryCard } from "./MemoryCard";
import { RejectedRow } from "./RejectedRow";

export function MemoryScreen() {
  const waiting = useQuery(waitingMemoriesQuery);
  const accepted = useQuery(acceptedMemoriesQuery);
  const rejected = useQuery(rejectedMemoriesQuery);
  useCardKeys();
  const failed = [waiting, accepted].find((query) => query.isError && query.data === undefined);
  const nothing = waiting.data?.total === 0 && accepted.data?.total === 0;
  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Memory</h1>
        <p>What agents want remembered. What you accept is given to later turns; what you reject is not offered again.</p>
      </header>
      {(waiting.isPending || accepted.isPending) && <Skeletons count={2} label="Reading the memories" />}
      {failed && <ReadError what="The memories" error={failed.error} onRetry={() => void failed.refetch()} />}
      {nothing && (
        <EmptyState title="Nothing waits, and nothing is remembered">
          <p>An agent suggests what is worth remembering at the end of its turn, in its handoff:</p>
          <pre tabIndex={0} aria-label="What agents write">
            <code>{'"memorialize_suggestions": [\n  {"description": "ports", "body": "8000 is the proxy\'s"}\n]'}</code>
          </pre>
        </EmptyState>
      )}
      {waiting.data && waiting.data.total > 0 && <Cards title="Waiting for you" name="waiting" list={waiting.data} />}
      {waiting.data?.total === 0 && !nothing && <p className="memory-none">Nothing waits for you.</p>}
      {accepted.data && accepted.data.total > 0 && (
        <Cards title="Remembered" name="remembered" hint="given to later turns" list={accepted.data} />
      )}
      {rejected.data && (
        <Fold title="Rejected" count={rejected.data.total}>
          {rejected.data.memories.map((memory) => (
            <RejectedRow key={memory.id} memory={memory} />
          ))}
        </Fold>
      )}
    </>
  );
}

interface CardsProps {
  title: string;
  name: string;
  hint?: string;
  list: MemoryList;
}

function Cards({ title, name, hint, list }: CardsProps) {
  const more = list.total - list.memories.length;
  return (
    <section className="section" aria-labelledby={`section-${name}`}>
      <h2 id={`section-${name}`} className="section-title">
        {title}
        <span className="count">{list.total.toLocaleString()}</span>
        {hint !== undefined && <span className="section-hint">{hint}</span>}
      </h2>
      <ol className="cards">
        {list.memories.map((memory) => (
          <MemoryCard key={memory.id} memory={memory} />
        ))}
      </ol>
      {more > 0 && <p className="more">{more.toLocaleString()} older ones: gemba memory list</p>}
    </section>
  );
}
