/** What can be done to a run where it stands, each with its key. What cannot be taken back asks first. */
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { archiveRun, commandRun, DIMENSIONS, improveRun, sayToRun, type Dimension } from "../api/team-deeds";
import type { TeamRun } from "../api/types";
import { ReasonBar } from "../inbox/ReasonBar";
import { Failure } from "../sessions/AskOnce";
import { Icon, type IconName } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { isCommand } from "../ui/keys";
import { AskBar } from "./AskBar";
import { RUN_KEYS, runDeeds, type RunDeed } from "./commands";
import { useRunDeed } from "./useRunDeed";

const NAMES: Record<RunDeed, [name: string, icon: IconName]> = {
  start: ["Start", "play"],
  pause: ["Pause", "pause"],
  resume: ["Resume", "play"],
  feedback: ["Feedback…", "speech"],
  improve: ["Improve…", "trend"],
  archive: ["Archive…", "bookmark"],
  cancel: ["Cancel…", "close"],
};

type Mode = "none" | "feedback" | "improve" | "archive" | "cancel";

const AT_ONCE = { start: "The run begins", pause: "Paused: what runs comes to its end", resume: "The run goes on" } as const;

export function RunControls({ run }: { run: TeamRun }) {
  const [mode, setMode] = useState<Mode>("none");
  const bar = useRef<HTMLDivElement>(null);
  const { act, isBusy, error, putAway } = useRunDeed(run.id);
  const deeds = runDeeds(run);

  /** The buttons come back with the next drawing; the one it was opened from may be gone. */
  function leave(): void {
    const from = mode;
    setMode("none");
    requestAnimationFrame(() => {
      const buttons = bar.current;
      const back = buttons?.querySelector<HTMLElement>(`[data-deed="${from}"]`) ?? buttons?.querySelector<HTMLElement>("button");
      (back ?? document.querySelector<HTMLElement>("main h1"))?.focus({ preventScroll: true });
    });
  }

  function choose(deed: RunDeed): void {
    if (isBusy) return;
    putAway();
    if (deed === "start" || deed === "pause" || deed === "resume")
      act({ run: (confirmId) => commandRun(run.id, deed, confirmId), said: AT_ONCE[deed], then: leave });
    else setMode(deed);
  }

  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.repeat || event.shiftKey || !isCommand(event)) return;
    if (mode !== "none" || document.querySelector("dialog[open]")) return;
    const deed = deeds.find((each) => RUN_KEYS[each] === event.key);
    if (deed === undefined) return;
    event.preventDefault();
    choose(deed);
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKey(event);
    document.addEventListener("keydown", listener);
    return () => document.removeEventListener("keydown", listener);
  }, []);

  return (
    <div className="run-controls">
      {mode === "none" && deeds.length > 0 && (
        <div ref={bar} className="bar" role="group" aria-label="Commands of the run">
          {deeds.map((deed) => {
            const [name, icon] = NAMES[deed];
            return (
              <button
                key={deed}
                type="button"
                className="button"
                data-deed={deed}
                data-main={deed === "start" || undefined}
                aria-keyshortcuts={RUN_KEYS[deed]}
                aria-disabled={isBusy}
                onClick={() => choose(deed)}
              >
                <Icon name={icon} /> {name} <Kbd>{RUN_KEYS[deed]}</Kbd>
              </button>
            );
          })}
        </div>
      )}
      {mode === "feedback" && (
        <ReasonBar
          label="What the team should know"
          action="Say it"
          required
          onReason={(text) => act({ run: (confirmId) => sayToRun(run.id, text, confirmId), said: "Said to the run", then: leave })}
          onCancel={leave}
        />
      )}
      {mode === "improve" && <Improve run={run} isBusy={isBusy} act={act} onLeave={leave} />}
      {mode === "archive" && (
        <AskBar
          label="Archive the run"
          words={
            <>
              Its folder <code>{run.folder}</code> gets a manifest with the digest of every file. The database keeps everything.
            </>
          }
          ways={[
            { name: "Archive it", act: () => archive(false) },
            { name: "Archive it and remove the files", act: () => archive(true) },
          ]}
          no="Not now"
          isBusy={isBusy}
          onLeave={leave}
        />
      )}
      {mode === "cancel" && (
        <AskBar
          label="Cancel the run"
          words="Every session of it is stopped and what has not ended is cancelled. What was done stays. A cancelled run does not go on."
          ways={[
            {
              name: "Cancel the run",
              act: () => act({ run: (confirmId) => commandRun(run.id, "cancel", confirmId), said: "The run is cancelled", then: leave }),
            },
          ]}
          no="Let it run"
          isBusy={isBusy}
          onLeave={leave}
        />
      )}
      <Failure of="Not done" error={error} />
    </div>
  );

  function archive(remove: boolean): void {
    const done = async (confirmId: string) => (await archiveRun(run.id, remove, confirmId), null);
    act({ run: done, said: "The run is archived", then: leave });
  }
}

interface ImproveProps {
  run: TeamRun;
  isBusy: boolean;
  act: ReturnType<typeof useRunDeed>["act"];
  onLeave: () => void;
}

function Improve({ run, isBusy, act, onLeave }: ImproveProps) {
  const way = (dimension: Dimension | null) => ({
    name: dimension === null ? "Whatever is lowest" : `Its ${dimension}`,
    act: () =>
      act({
        run: (confirmId) => improveRun(run.id, dimension, confirmId),
        said: "The task with the lowest score is revised",
        then: onLeave,
      }),
  });
  return (
    <AskBar
      label="Improve the run"
      words="The task with the lowest score is done anew, and what was built on it behind it. Old versions stay."
      ways={[way(null), ...DIMENSIONS.map(way)]}
      no="Leave it"
      isBusy={isBusy}
      onLeave={onLeave}
    />
  );
}
