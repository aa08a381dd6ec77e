/** What one is looking at, in the demo alone: four things to do, each of which ticks itself off. Can be put away. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { approvalHistoryQuery } from "../api/approval-queries";
import { consultsQuery } from "../api/consult-queries";
import { settledQuery } from "../api/queries";
import { teamsQuery } from "../api/team-queries";
import { linkTo, linkToOne, usePlace } from "../app/routes";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { useHandOverFocus } from "../ui/useHandOverFocus";
import { useNarrow } from "../ui/useNarrow";
import { keep, readKept } from "./kept";
import { doneSteps, type StepName } from "./steps";

const STEPS: Record<StepName, { title: string; hint: string }> = {
  answer: { title: "Answer a question", hint: "In the inbox: press a number." },
  approve: { title: "Approve a command", hint: "There too: it shows exactly what would run." },
  rank: { title: "Rank the work", hint: "On Coach: Recommend order, with reasons." },
  team: { title: "Watch the team finish", hint: "It soon asks you: decide, and it goes on." },
};
const NAMES = Object.keys(STEPS) as StepName[];

export function Guide({ of }: { of: string }) {
  const [kept, setKept] = useState(() => readKept(of));
  const facts = useFacts(!kept.isClosed);
  const found = facts.steps.filter((name) => !kept.done.includes(name));
  useEffect(() => {
    if (found.length === 0) return;
    const next = { ...kept, done: [...kept.done, ...found] };
    keep(next);
    setKept(next);
    announce(`Done: ${found.map((name) => STEPS[name].title).join(", ")}`);
  });
  if (kept.isClosed) return null;

  function close(): void {
    const next = { ...kept, isClosed: true };
    keep(next);
    setKept(next);
  }

  return <Open done={kept.done} run={facts.run} onClose={close} />;
}

function useFacts(isWanted: boolean): { steps: StepName[]; run: string | null | undefined } {
  const settled = useQuery({ ...settledQuery, enabled: isWanted }).data;
  const approvals = useInfiniteQuery({ ...approvalHistoryQuery, enabled: isWanted }).data;
  const consults = useInfiniteQuery({ ...consultsQuery, enabled: isWanted }).data;
  const runs = useInfiniteQuery({ ...teamsQuery, enabled: isWanted }).data?.pages.flatMap((page) => page.runs);
  const steps = doneSteps({
    settled: settled?.escalations ?? [],
    approvals: approvals?.pages.flatMap((page) => page.approvals) ?? [],
    consults: consults?.pages.flatMap((page) => page.consults) ?? [],
    runs,
  });
  return { steps, run: runs && (runs.at(-1)?.id ?? null) };
}

function Open({ done, run, onClose }: { done: StepName[]; run: string | null | undefined; onClose: () => void }) {
  const box = useRef<HTMLElement>(null);
  const isNarrow = useNarrow();
  const { name } = usePlace();
  const [chosen, setChosen] = useState<boolean | null>(null);
  // A walk wants the room, unless somebody says otherwise.
  const isUnfolded = chosen ?? (!isNarrow && name !== "walks" && name !== "walk");
  useHandOverFocus(box);
  // Where there is no git, there is no team.
  const steps = NAMES.filter((name) => name !== "team" || run !== null);
  const isOver = steps.every((name) => done.includes(name));
  return (
    <aside ref={box} className="guide" aria-labelledby="guide-title">
      <header>
        <h2 id="guide-title">
          <button
            type="button"
            className="guide-fold"
            aria-expanded={isUnfolded}
            aria-controls="guide-body"
            onClick={() => setChosen(!isUnfolded)}
          >
            <Icon name="chevron" />
            What you are looking at
          </button>
        </h2>
        <span className="guide-count">
          {steps.filter((name) => done.includes(name)).length} of {steps.length} done
        </span>
        <button type="button" className="tool" aria-label="Put the guide away" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div id="guide-body" hidden={!isUnfolded}>
        <p>
          {isOver
            ? "That is the whole loop: they ask, you decide, they go on. In a repository of your own it begins with gemba init."
            : "A demo: agents work on a small shop, and you are the one whom they ask. Try this, in any order:"}
        </p>
        <ol>
          {steps.map((name) => (
            <Step key={name} name={name} isDone={done.includes(name)} run={run ?? null} />
          ))}
        </ol>
      </div>
    </aside>
  );
}

function Step({ name, isDone, run }: { name: StepName; isDone: boolean; run: string | null }) {
  const place =
    name === "rank" ? linkTo("coach") : name !== "team" ? linkTo("inbox") : run ? linkToOne("team", run) : linkTo("teams");
  return (
    <li data-done={isDone || undefined}>
      <span className="guide-mark">{isDone && <Icon name="check" size={12} />}</span>
      <div>
        <a {...place}>{STEPS[name].title}</a>
        {isDone && <span className="visually-hidden"> (done)</span>}
        <p>{STEPS[name].hint}</p>
      </div>
    </li>
  );
}
