/** One sprint by its address: its budget, its burn-down, what is in it, and what can be done. */
import { useQuery } from "@tanstack/react-query";
import { sprintQuery } from "../api/sprint-queries";
import type { SprintDetail } from "../api/types";
import { linkTo } from "../app/routes";
import { useEscapeBack } from "../app/useEscapeBack";
import { Mark } from "../handoffs/Mark";
import { ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";
import { formatWhole } from "../ui/time";
import { Words } from "../ui/Words";
import { Budget } from "./Budget";
import { BurnDownChart } from "./BurnDownChart";
import { Controls } from "./Controls";
import { Holds } from "./Holds";
import { Items } from "./Items";
import { lookOf } from "./wording";

export function SprintScreen({ id }: { id: string }) {
  const { data: sprint, isPending, isError, error, refetch } = useQuery(sprintQuery(id));
  useEscapeBack("sprints");
  return (
    <>
      <header className="screen-head">
        <p className="way-back">
          <a {...linkTo("sprints")}>Sprints</a>
        </p>
        <h1 tabIndex={-1} dir="auto" className="session-title">
          {sprint ? plainText(sprint.title) : "Sprint"}
        </h1>
        {sprint && <Times sprint={sprint} />}
      </header>
      {isPending && <Skeletons count={2} label="Reading the sprint" />}
      {isError && sprint === undefined && <ReadError what="The sprint" home="sprints" error={error} onRetry={() => void refetch()} />}
      {sprint && <Whole sprint={sprint} />}
    </>
  );
}

function Times({ sprint }: { sprint: SprintDetail }) {
  const told = [
    plainText(sprint.id),
    sprint.started_at !== null && `began ${formatWhole(new Date(sprint.started_at))}`,
    sprint.ends_at !== null && `is to end ${formatWhole(new Date(sprint.ends_at))}`,
    sprint.closed_at !== null && `closed ${formatWhole(new Date(sprint.closed_at))}`,
  ].filter((part) => typeof part === "string");
  return (
    <p className="sprint-head">
      <Mark look={lookOf(sprint)} /> <span>{told.join(", ")}</span>
    </p>
  );
}

/** All of a sprint; also at the head of the list, for the one that runs. */
export function Whole({ sprint }: { sprint: SprintDetail }) {
  return (
    <>
      {sprint.state === "running" && <Holds />}
      {sprint.goal !== "" && (
        <p className="sprint-goal" dir="auto">
          <Words text={sprint.goal} />
        </p>
      )}
      {sprint.close_reason !== null && (
        <p className="card-hint" dir="auto">
          Closed because: {plainText(sprint.close_reason)}
        </p>
      )}
      <Budget sprint={sprint} />
      <Controls sprint={sprint} />
      <section className="section" aria-labelledby="section-burn-down">
        <h2 id="section-burn-down" className="section-title">
          Burn-down
        </h2>
        <BurnDownChart burnDown={sprint.burn_down} budget={sprint.token_budget} />
      </section>
      <Items sprint={sprint} />
    </>
  );
}
