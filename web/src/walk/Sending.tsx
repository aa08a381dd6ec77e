/** What is on its way and does not arrive, and what did not take: said once, above everything, until it is put away. */
import { useRef } from "react";
import { goToItem } from "../api/walk-deeds";
import type { Walk } from "../api/types";
import { withdraw } from "../outbox/outbox";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { useHandOverFocus } from "../ui/useHandOverFocus";
import { isUndecided } from "./agenda";
import { putAway, type Letter, type NotTaken } from "./outbox";
import type { WalkDeeds } from "./useWalkDeed";

interface Props {
  sent: readonly Letter[];
  isStuck: boolean;
  notTaken: readonly NotTaken[];
  walk: Walk;
  deeds: WalkDeeds;
}

export function Sending({ sent, isStuck, notTaken, walk, deeds }: Props) {
  if (notTaken.length === 0 && !isStuck) return null;
  return (
    <div className="walk-sending">
      {isStuck && sent.length > 0 && (
        <p className="mark" data-tone="warn">
          <Icon name="hourglass" />
          <span>
            <strong>Not connected.</strong>{" "}
            {sent.length === 1 ? "1 decision waits" : `${sent.length} decisions wait`} to be sent. Each is kept, sent again
            until it arrives, and counts once.
          </span>
          <button type="button" className="link-button" onClick={() => withdraw(sent.at(-1)?.confirmId ?? "")}>
            {sent.length === 1 ? "Do not send it" : "Do not send the last"}
          </button>
        </p>
      )}
      {notTaken.map((one) => (
        <NotTakenMark key={one.item} one={one} walk={walk} deeds={deeds} />
      ))}
    </div>
  );
}

function NotTakenMark({ one, walk, deeds }: { one: NotTaken; walk: Walk; deeds: WalkDeeds }) {
  const mark = useRef<HTMLDivElement>(null);
  useHandOverFocus(mark);
  const item = walk.agenda.find(({ id }) => id === one.item);
  const canGo = !one.isSettled && item !== undefined && isUndecided(item) && walk.active_item !== item.id;
  function go(): void {
    putAway(one.item);
    deeds.act({ run: (confirmId) => goToItem(walk.id, one.item, confirmId) });
  }
  return (
    <div ref={mark} className="mark" data-tone={one.isSettled ? "warn" : "bad"} role="alert">
      <Icon name={one.isSettled ? "stamp" : "warn"} />
      <span dir="auto">
        <strong>{one.what}:</strong> {plainText(one.topic)}. {one.why}
      </span>
      {canGo && (
        <button type="button" className="link-button" onClick={go}>
          To it
        </button>
      )}
      <button type="button" className="tool" aria-label="Put away" onClick={() => putAway(one.item)}>
        <Icon name="close" />
      </button>
    </div>
  );
}
