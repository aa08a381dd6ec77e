/**
 * What one is looking at, in the demo alone: four things to do, each of which ticks itself off. Open on the screens where one
 * begins; elsewhere, and when all is done, a button in the frame, which takes no room from the screen. Can be put away.
 */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState, type RefObject } from "react";
import { createPortal } from "react-dom";
import { approvalHistoryQuery } from "../api/approval-queries";
import { consultsQuery } from "../api/consult-queries";
import { settledQuery, unresolvedQuery } from "../api/queries";
import { teamsQuery } from "../api/team-queries";
import { linkTo, linkToOne, usePlace } from "../app/routes";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { useHandOverFocus } from "../ui/useHandOverFocus";
import { useNarrow } from "../ui/useNarrow";
import { keep, readKept } from "./kept";
import { doneSteps, type StepName } from "./steps";

const STEPS: Record<StepName, { title: string; hint: string }> = {
  answer: { title: "Answer a question", hint: "In the inbox: a number chooses the first card, the same again answers it." },
  approve: { title: "Approve a command", hint: "Its card shows exactly what would run." },
  rank: { title: "Rank the work", hint: "On Coach: Recommend order, with reasons." },
  team: { title: "Watch the team finish", hint: "It soon asks you: decide, and it goes on." },
};
const NAMES = Object.keys(STEPS) as StepName[];
const BEGINNINGS: (string | null)[] = ["floor", "inbox"];

interface Props {
  /** When the demo's server was started. */
  of: string;
  /** Where the button stands while the guide is folded. */
  slot: HTMLElement | null;
}

export function Guide({ of, slot }: Props) {
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

  return <Places done={kept.done} facts={facts} slot={slot} onClose={close} />;
}

interface Found {
  steps: StepName[];
  run: string | null | undefined;
  approval: string | undefined;
}

function useFacts(isWanted: boolean): Found {
  const waiting = useQuery({ ...unresolvedQuery, enabled: isWanted }).data;
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
  const approval = waiting?.escalations.find(({ kind }) => kind === "approval")?.id;
  return { steps, run: runs && (runs.at(-1)?.id ?? null), approval };
}

interface PlacesProps {
  done: StepName[];
  facts: Found;
  slot: HTMLElement | null;
  onClose: () => void;
}

function Places({ done, facts, slot, onClose }: PlacesProps) {
  const isNarrow = useNarrow();
  const { name } = usePlace();
  // Where there is no git, there is no team.
  const steps = NAMES.filter((step) => step !== "team" || facts.run !== null);
  const isOver = steps.every((step) => done.includes(step));
  // What somebody chose holds for the screen on which they chose it.
  const [chosen, setChosen] = useState<{ on: string | null; isOpen: boolean } | null>(null);
  const isOpen = chosen?.on === name ? chosen.isOpen : !isNarrow && !isOver && BEGINNINGS.includes(name);
  const fold = useRef<HTMLButtonElement>(null);
  const toggled = useRef(false);
  const count = `${steps.filter((step) => done.includes(step)).length} of ${steps.length} done`;
  useEffect(() => {
    if (toggled.current) fold.current?.focus();
    toggled.current = false;
  }, [isOpen]);

  function toggle(): void {
    toggled.current = true;
    setChosen({ on: name, isOpen: !isOpen });
  }

  if (!isOpen)
    return slot === null
      ? null
      : createPortal(
          <button ref={fold} type="button" className="guide-button" aria-expanded={false} onClick={toggle}>
            <Icon name={isOver ? "check" : "question"} />
            <span className="guide-name">What you are looking at</span> <span className="guide-count">{count}</span>
          </button>,
          slot,
        );
  return (
    <Open steps={steps} done={done} facts={facts} count={count} fold={fold} onFold={toggle} onClose={onClose} />
  );
}

interface OpenProps {
  steps: StepName[];
  done: StepName[];
  facts: Found;
  count: string;
  fold: RefObject<HTMLButtonElement | null>;
  onFold: () => void;
  onClose: () => void;
}

function Open({ steps, done, facts, count, fold, onFold, onClose }: OpenProps) {
  const box = useRef<HTMLElement>(null);
  useHandOverFocus(box);
  return (
    <aside ref={box} className="guide" aria-labelledby="guide-title">
      <header>
        <h2 id="guide-title">
          <button
            ref={fold}
            type="button"
            className="guide-fold"
            aria-expanded
            aria-controls="guide-body"
            onClick={onFold}
          >
            <Icon name="chevron" />
            What you are looking at
          </button>
        </h2>
        <span className="guide-count">{count}</span>
        <button type="button" className="tool" aria-label="Put the guide away" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div id="guide-body">
        <p>
          {steps.every((name) => done.includes(name))
            ? "That is the whole loop: they ask, you decide, they go on. In a repository of your own it begins with gemba init."
            : "A demo: agents work on a small shop, and you are the one whom they ask. Try this, in any order:"}
        </p>
        <ol>
          {steps.map((name) => (
            <Step key={name} name={name} isDone={done.includes(name)} facts={facts} />
          ))}
        </ol>
      </div>
    </aside>
  );
}

function Step({ name, isDone, facts }: { name: StepName; isDone: boolean; facts: Found }) {
  return (
    <li data-done={isDone || undefined}>
      <span className="guide-mark">{isDone && <Icon name="check" size={12} />}</span>
      <div>
        <a {...placeOf(name, facts)}>{STEPS[name].title}</a>
        {isDone && <span className="visually-hidden"> (done)</span>}
        <p>{STEPS[name].hint}</p>
      </div>
    </li>
  );
}

/** To the thing itself, where it is known. */
function placeOf(name: StepName, { run, approval }: Found): ReturnType<typeof linkTo> {
  switch (name) {
    case "rank":
      return linkTo("coach");
    case "team":
      return run ? linkToOne("team", run) : linkTo("teams");
    case "approve":
      return approval === undefined ? linkTo("inbox") : linkToOne("escalation", approval);
    case "answer":
      return linkTo("inbox");
  }
}
