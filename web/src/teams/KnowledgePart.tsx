/** Who knows what: by publisher, each thing that was left for others, its channel, and whom it reached. */
import { useQuery } from "@tanstack/react-query";
import { teamKnowledgeQuery } from "../api/team-queries";
import type { TeamRun } from "../api/types";
import { linkToTask } from "../app/routes";
import { Icon, type IconName } from "../ui/Icon";
import { ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";
import { CHANNELS, publishersOf, type Channel, type Flow } from "./flows";

const ICONS: Record<Channel, IconName> = {
  artifact: "brief",
  state: "pulse",
  wisdom: "bookmark",
  accumulator: "layers",
  exploration: "search",
};

export function KnowledgePart({ run }: { run: TeamRun }) {
  const { data, isPending, isError, error, refetch } = useQuery(teamKnowledgeQuery(run.id));
  const publishers = data === undefined ? [] : publishersOf(data);
  return (
    <section className="section" aria-labelledby="team-knowledge">
      <h2 id="team-knowledge" className="section-title">
        Who knows what
      </h2>
      {isPending && <Skeletons count={2} label="Reading who knows what" />}
      {isError && data === undefined && <ReadError what="Who knows what" error={error} onRetry={() => void refetch()} />}
      {data && publishers.length === 0 && (
        <p className="card-hint">Nothing was published yet. What a task leaves for others shows here, with whom it reached.</p>
      )}
      <ol className="publishers">
        {publishers.map(({ task, flows }) => (
          <li key={task ?? ""} className="card">
            <h3>
              {task === null ? (
                "From people"
              ) : (
                <a className="task-link" {...linkToTask(run.id, task)}>
                  {plainText(task)}
                </a>
              )}
            </h3>
            <ul className="flows">
              {flows.map((flow, index) => (
                <FlowRow key={index} run={run.id} flow={flow} />
              ))}
            </ul>
          </li>
        ))}
      </ol>
      {data?.more === true && <p className="card-hint">There is more than is shown here.</p>}
    </section>
  );
}

function FlowRow({ run, flow }: { run: string; flow: Flow }) {
  return (
    <li className="flow">
      <span className="flow-what" dir="auto">
        <Icon name={ICONS[flow.channel]} size={15} />
        <span>
          {plainText(flow.name)}
          <span className="flow-note">
            {CHANNELS[flow.channel]}
            {flow.note !== "" && `: ${plainText(flow.note)}`}
          </span>
        </span>
      </span>
      <span className="flow-to">
        <span aria-hidden="true">→ </span>
        {flow.to.length === 0 ? (
          <span className="task-none">nobody yet</span>
        ) : (
          <>
            <span className="visually-hidden">reached </span>
            {flow.to.map((id, index) => (
              <span key={id}>
                {index > 0 && ", "}
                <a className="task-link" {...linkToTask(run, id)}>
                  {plainText(id)}
                </a>
              </span>
            ))}
          </>
        )}
      </span>
    </li>
  );
}
