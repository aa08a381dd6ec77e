/** The tasks of a run: the picture where there is room for it, and the table. */
import type { TeamRun } from "../api/types";
import { useNarrow } from "../ui/useNarrow";
import { Graph, MOST_DRAWN } from "./Graph";
import { TaskTable } from "./TaskTable";

export function TasksPart({ run, chosen }: { run: TeamRun; chosen: string | null }) {
  const isNarrow = useNarrow();
  const isDrawn = !isNarrow && run.all_tasks.length <= MOST_DRAWN;
  return (
    <section className="section" aria-labelledby="team-tasks">
      <h2 id="team-tasks" className="section-title">
        Tasks <span className="section-hint">{run.all_tasks.length}</span>
      </h2>
      {isDrawn ? (
        <>
          <Graph run={run} chosen={chosen} />
          <details className="as-table">
            <summary>As a table</summary>
            <TaskTable run={run} chosen={chosen} />
          </details>
        </>
      ) : (
        <>
          {!isNarrow && <p className="card-hint">Of more than {MOST_DRAWN} tasks no picture is drawn.</p>}
          <TaskTable run={run} chosen={chosen} />
        </>
      )}
    </section>
  );
}
