/** The end of the agenda: what was put off, what came meanwhile, and the way to the end of the walk. */
import type { Walk } from "../api/types";
import { goToItem } from "../api/walk-deeds";
import { Kbd } from "../ui/Kbd";
import { toGo } from "./agenda";
import { KEYS } from "./keys";
import type { WalkDeeds } from "./useWalkDeed";
import { useWalkKey } from "./useWalkKey";

export function NothingLeft({ walk, deeds }: { walk: Walk; deeds: WalkDeeds }) {
  const left = toGo(walk.totals);
  const { deferred } = walk.totals;
  const next = () => deeds.act({ run: (confirmId) => goToItem(walk.id, null, confirmId) });
  useWalkKey((key) => {
    if (key !== KEYS.next || left === 0 || walk.status !== "active") return false;
    next();
    return true;
  });
  return (
    <div className="walk-nothing">
      <h2 id="walk-topic" className="walk-topic">
        {left > 0 ? "Nothing is on the table" : walk.agenda.length === 0 ? "The agenda is empty" : "Everything is decided"}
      </h2>
      <p className="card-hint">
        {left > 0
          ? `${left} ${left === 1 ? "waits" : "wait"} on the agenda.`
          : deferred > 0
            ? `${deferred} ${deferred === 1 ? "was" : "were"} put off: open one on the agenda to take it up again.`
            : "Pull in what came meanwhile, add a topic, or end the walk: a summary is written."}
      </p>
      {left > 0 && walk.status === "active" && (
        <div className="bar">
          <button type="button" className="button" data-main aria-keyshortcuts={KEYS.next} onClick={next}>
            Next <Kbd>{KEYS.next}</Kbd>
          </button>
        </div>
      )}
    </div>
  );
}
