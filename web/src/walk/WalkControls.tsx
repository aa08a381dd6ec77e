/** Pause, go on, end: with their keys. Ending asks first. */
import { useRef, useState } from "react";
import type { Walk } from "../api/types";
import { endWalk, pauseWalk, resumeWalk } from "../api/walk-deeds";
import { AskBar } from "../teams/AskBar";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { KEYS } from "./keys";
import type { WalkDeeds } from "./useWalkDeed";
import { useWalkKey } from "./useWalkKey";

export function WalkControls({ walk, deeds }: { walk: Walk; deeds: WalkDeeds }) {
  const [isEnding, setIsEnding] = useState(false);
  const bar = useRef<HTMLDivElement>(null);
  const isPaused = walk.status === "paused";
  const { isBusy, act } = deeds;

  function leave(): void {
    setIsEnding(false);
    requestAnimationFrame(() => bar.current?.querySelector<HTMLElement>("[data-end]")?.focus({ preventScroll: true }));
  }

  function pause(): void {
    if (isBusy) return;
    deeds.putAway();
    if (isPaused) act({ run: (confirmId) => resumeWalk(walk.id, confirmId), said: "The walk goes on" });
    else act({ run: (confirmId) => pauseWalk(walk.id, confirmId), said: "Paused. Nothing is lost" });
  }

  const end = (abandon: boolean) =>
    act({
      run: (confirmId) => endWalk(walk.id, abandon, confirmId),
      said: abandon ? "The walk is abandoned" : "The walk is over",
      then: () => document.querySelector<HTMLElement>("main h1")?.focus(),
    });

  useWalkKey((key) => {
    if (isEnding || (key !== KEYS.pause && key !== KEYS.end)) return false;
    if (key === KEYS.pause) pause();
    else setIsEnding(true);
    return true;
  });

  if (isEnding)
    return (
      <div className="walk-ending" data-walk-waits>
        <AskBar
          label="End the walk"
          words={
            walk.left === 0
              ? "Everything was gone through. A summary is written."
              : `${walk.left} ${walk.left === 1 ? "is" : "are"} left: they wait on, here and in the inbox. A summary is written.`
          }
          ways={[
            { name: "End the walk", act: () => end(false) },
            { name: "Abandon it", act: () => end(true) },
          ]}
          no="Go on"
          isBusy={isBusy}
          onLeave={leave}
        />
      </div>
    );
  return (
    <div ref={bar} className="bar walk-controls" role="group" aria-label="The walk">
      <button
        type="button"
        className={isPaused ? "button" : "quiet"}
        data-main={isPaused || undefined}
        aria-keyshortcuts={KEYS.pause}
        aria-disabled={isBusy}
        onClick={pause}
      >
        <Icon name={isPaused ? "play" : "pause"} /> {isPaused ? "Go on" : "Pause"} <Kbd>{KEYS.pause}</Kbd>
      </button>
      <button type="button" className="quiet" data-end aria-keyshortcuts={KEYS.end} onClick={() => setIsEnding(true)}>
        <Icon name="stamp" /> End… <Kbd>{KEYS.end}</Kbd>
      </button>
    </div>
  );
}
