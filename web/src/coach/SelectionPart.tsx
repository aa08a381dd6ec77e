/** What each session should do next: every score with its reasons, what can run at once, and what cannot. */
import { useQuery } from "@tanstack/react-query";
import { CHOICES, selectionQuery } from "../api/planning-queries";
import type { Selection } from "../api/types";
import { ReadError, Skeletons } from "../ui/Notice";
import { BatchPart } from "./BatchPart";
import { gridRows } from "./grid";
import { SelectionGrid } from "./SelectionGrid";

export function SelectionPart() {
  const { data, isPending, isError, error, refetch } = useQuery(selectionQuery);
  return (
    <>
      <section className="section" aria-labelledby="selection-title">
        <h2 id="selection-title" className="section-title">
          What each session should do next
        </h2>
        {isPending && <Skeletons count={1} label="Reading what is ready" />}
        {isError && data === undefined && (
          <ReadError what="What is ready" error={error} onRetry={() => void refetch()} />
        )}
        {data && <Ready selection={data} />}
      </section>
      {data && data.batch.items.length > 0 && <BatchPart batch={data.batch} items={data.items} />}
    </>
  );
}

function Ready({ selection }: { selection: Selection }) {
  const rows = gridRows(selection);
  const { ready, more } = selection;
  if (rows.length === 0)
    return (
      <p className="section-hint">
        Nothing is ready: every item is finished, claimed or waits for another. <code>gemba ready --explain</code> says
        for what.
      </p>
    );
  return (
    <>
      <p className="section-hint">
        {ready === 1 ? "1 item is" : `${ready} items are`} open to anybody
        {more && ", of the first that are ready"}. The first {CHOICES} of each session are shown; choose a cell for its
        reasons.
      </p>
      <SelectionGrid sessions={selection.sessions} rows={rows} />
    </>
  );
}
