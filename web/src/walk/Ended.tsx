/** What came of a walk that is over: its summary, as it was written. */
import type { Walk } from "../api/types";
import { Markdown } from "../ui/Markdown";
import { Conversation } from "./Conversation";

export function Ended({ walk }: { walk: Walk }) {
  return (
    <>
      <section className="card walk-summary" aria-labelledby="walk-summary">
        <h2 id="walk-summary" className="visually-hidden">
          Summary
        </h2>
        {walk.summary === null ? <p className="card-hint">No summary was written.</p> : <Markdown text={walk.summary} level={3} />}
      </section>
      <Conversation walk={walk} item={null} />
    </>
  );
}
