/** What can be done to a task where it stands, each by its number. Skipping asks first, revising asks for words. */
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { commandTask, type TaskCommand } from "../api/team-deeds";
import type { TeamRun, TeamTask } from "../api/types";
import { ReasonBar } from "../inbox/ReasonBar";
import { Failure } from "../sessions/AskOnce";
import { Kbd } from "../ui/Kbd";
import { isCommand } from "../ui/keys";
import { AskBar } from "./AskBar";
import { ChoiceWords } from "./ChoiceWords";
import { taskCommands } from "./commands";
import { useRunDeed } from "./useRunDeed";
import { dependentsOf, isBroughtIn } from "./wording";

const NAMES: Record<TaskCommand, [name: string, said: string]> = {
  accept: ["Accept", "Accepted as it is"],
  retry: ["Retry", "It is done once more"],
  revise: ["Revise…", "A new version is made"],
  skip: ["Skip…", "It is left out"],
};

export function TaskCommands({ run, task }: { run: TeamRun; task: TeamTask }) {
  const [mode, setMode] = useState<"none" | "revise" | "skip">("none");
  const place = useRef<HTMLDivElement>(null);
  const { act, isBusy, error, putAway } = useRunDeed(run.id);
  const commands = isBroughtIn(task) ? [] : taskCommands(run.state, task);
  const decides = task.state === "partial_completion" || task.waiting_for === "decision";

  function leave(): void {
    setMode("none");
    requestAnimationFrame(() => {
      const back = place.current?.querySelector<HTMLElement>("button") ?? document.querySelector<HTMLElement>("#task-title");
      back?.focus({ preventScroll: true });
    });
  }

  function carryOut(command: TaskCommand, text: string): void {
    const said = `${task.id}: ${NAMES[command][1]}`;
    act({ run: (confirmId) => commandTask(run.id, task.id, command, text, confirmId), said, then: leave });
  }

  function choose(command: TaskCommand): void {
    if (isBusy) return;
    putAway();
    if (command === "revise" || command === "skip") setMode(command);
    else carryOut(command, "");
  }

  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.repeat || mode !== "none" || !isCommand(event)) return;
    if (document.querySelector("dialog[open]")) return;
    const command = commands[Number(event.key) - 1];
    if (command === undefined) return;
    event.preventDefault();
    choose(command);
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKey(event);
    document.addEventListener("keydown", listener);
    return () => document.removeEventListener("keydown", listener);
  }, []);

  if (commands.length === 0 && error === null) return null;
  const behind = dependentsOf(task.id, run.all_tasks);
  return (
    <div ref={place} className="task-commands" data-decides={decides || undefined}>
      {decides && mode === "none" && <p className="task-asks">What is to become of it?</p>}
      {mode === "none" && (
        <ol className="choices" aria-label="Commands of the task">
          {commands.map((command, index) => (
            <li key={command}>
              <button
                type="button"
                className="choice"
                aria-keyshortcuts={String(index + 1)}
                aria-disabled={isBusy}
                onClick={() => choose(command)}
              >
                <Kbd>{String(index + 1)}</Kbd>
                <span>{NAMES[command][0]}</span>
              </button>
            </li>
          ))}
        </ol>
      )}
      {decides && mode === "none" && <ChoiceWords actions={commands} />}
      {mode === "revise" && (
        <>
          <ReasonBar
            label="What is to be done otherwise"
            action="Revise it"
            required
            onReason={(text) => carryOut("revise", text)}
            onCancel={leave}
          />
          {behind.length > 0 && <p className="card-hint">{behindInWords(behind)} done anew behind it. Old versions stay.</p>}
        </>
      )}
      {mode === "skip" && (
        <AskBar
          label={`Skip ${task.id}`}
          words={
            behind.length === 0
              ? "It is left out, and what it has begun is stopped."
              : `It is left out, what it has begun is stopped, and ${behindInWords(behind)} left out with it.`
          }
          ways={[{ name: "Skip it", act: () => carryOut("skip", "") }]}
          no="Keep it"
          isBusy={isBusy}
          onLeave={leave}
        />
      )}
      <Failure of="Not done" error={error} />
    </div>
  );
}

const FEW = 4;

function behindInWords(ids: string[]): string {
  const named = ids.slice(0, FEW).join(", ");
  return ids.length > FEW ? `${named} and ${ids.length - FEW} more are` : `${named} ${ids.length === 1 ? "is" : "are"}`;
}
