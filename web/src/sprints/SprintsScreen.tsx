/** The sprints: the one that runs with its budget and burn-down, those that are planned and those that are over. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { sprintQuery, sprintsQuery } from "../api/sprint-queries";
import type { Sprint } from "../api/types";
import { goToOne, linkTo, linkToOne, rememberCard } from "../app/routes";
import { Mark } from "../handoffs/Mark";
import { openOnEnter } from "../handoffs/open-on-enter";
import { Age } from "../ui/Age";
import { More } from "../ui/More";
import { EmptyState, ReadError, Skeletons } from "../ui/Notice";
import { firstLine, plainText } from "../ui/plain-text";
import { useCardKeys } from "../ui/useCardKeys";
import { useReturnToCard } from "../ui/useReturnToCard";
import { Budget } from "./Budget";
import { BurnDownChart } from "./BurnDownChart";
import { Holds } from "./Holds";
import { SprintForm } from "./SprintForm";
import { lookOf } from "./wording";

const ORDER: Sprint["state"][] = ["running", "planned", "closed"];

export function SprintsScreen() {
  const found = useInfiniteQuery(sprintsQuery);
  const [planning, setPlanning] = useState(false);
  const plan = useRef<HTMLButtonElement>(null);
  const sprints = found.data?.pages.flatMap((page) => page.sprints) ?? [];
  const sorted = sprints.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  const running = sprints.find(({ state }) => state === "running");
  useCardKeys();
  useReturnToCard(sprints.length > 0);

  function leave(): void {
    setPlanning(false);
    plan.current?.focus();
  }

  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Sprints</h1>
        <p>{running ? `${firstLine(running.title, 80)} runs.` : "Work items, and a budget of tokens for them."}</p>
      </header>
      <p className="start-bar bar">
        <button
          ref={plan}
          type="button"
          className="button"
          aria-expanded={planning}
          aria-controls="plan-sprint"
          onClick={() => setPlanning(!planning)}
        >
          Plan a sprint…
        </button>
        <a className="quiet" {...linkTo("coach")}>
          Recommend order
        </a>
      </p>
      <div id="plan-sprint">
        {planning && <SprintForm onLeave={leave} onDone={({ id }) => goToOne("sprint", id)} />}
      </div>
      <Holds />
      {found.isPending && <Skeletons count={3} label="Reading the sprints" />}
      {found.isError && found.data === undefined && (
        <ReadError what="The sprints" error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.data && sprints.length === 0 && <Nothing />}
      <ol className="cards">
        {sorted.map((sprint) => (
          <SprintCard key={sprint.id} sprint={sprint} />
        ))}
      </ol>
      <More query={found} />
    </>
  );
}

function SprintCard({ sprint }: { sprint: Sprint }) {
  const { id } = sprint;
  const open = linkToOne("sprint", id);
  return (
    <li className="slot">
      <article
        className="card session-card"
        tabIndex={-1}
        aria-labelledby={`sprint-card-${id}`}
        data-card-id={id}
        data-settled={sprint.state === "closed" ? "over" : undefined}
        onKeyDown={openOnEnter}
      >
        <header className="card-head">
          <Mark look={lookOf(sprint)} />
          <span>{plainText(id)}</span>
          <span>
            {sprint.finished_count} of {sprint.item_count} items finished
          </span>
          <span className="age">
            <span>
              changed <Age since={sprint.updated_at} ago />
            </span>
          </span>
        </header>
        <h2 id={`sprint-card-${id}`} className="session-title" dir="auto">
          <a
            data-opens
            {...open}
            onClick={(event) => {
              rememberCard(id);
              open.onClick(event);
            }}
          >
            {firstLine(sprint.title, 200)}
          </a>
        </h2>
        <Budget sprint={sprint} />
        {sprint.state === "running" && <Now id={id} />}
      </article>
    </li>
  );
}

/** How the one that runs burns down. */
function Now({ id }: { id: string }) {
  const { data } = useQuery(sprintQuery(id));
  return data ? <BurnDownChart burnDown={data.burn_down} budget={data.token_budget} /> : null;
}

function Nothing() {
  return (
    <EmptyState title="No sprint is planned yet">
      <p>
        A sprint is a set of work items and a budget of tokens. What agents use is counted against it while it runs; past
        its stop nothing new is begun.
      </p>
      <pre tabIndex={0} aria-label="Commands that plan a sprint">
        <code>{'gemba sprint create "Search that finds" --budget 2000000\ngemba sprint start 1'}</code>
      </pre>
    </EmptyState>
  );
}
