/** Every change of an item, newest first, with who made it and what it followed from; the last one can be taken back. */
import { useInfiniteQuery } from "@tanstack/react-query";
import type { ItemChange, WorkItem } from "../api/types";
import { undoChange } from "../api/work-deeds";
import { itemHistoryQuery } from "../api/work-queries";
import { linkToOne } from "../app/routes";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { More } from "../ui/More";
import { plainText } from "../ui/plain-text";
import { causeOf, lastUndoable, linesOf } from "./changes";
import { NotDone } from "./NotDone";
import { useItemDeed } from "./useItemDeed";

export function History({ item }: { item: WorkItem }) {
  const found = useInfiniteQuery(itemHistoryQuery(item.id));
  const { act, isBusy, error } = useItemDeed(item.id);
  const changes = found.data?.pages.flatMap((page) => page.changes) ?? [];
  const undoable = lastUndoable(changes);
  return (
    <section className="section" aria-labelledby="item-history">
      <h2 id="item-history" className="section-title" tabIndex={-1}>
        History
      </h2>
      <NotDone error={error} />
      <ol className="timeline">
        {changes.map((change) => (
          <Entry
            key={change.number}
            change={change}
            onUndo={
              change === undoable && !isBusy
                ? () =>
                    act({
                      run: (confirmId) => undoChange(item.id, change.number, confirmId),
                      said: () => "The last change is taken back",
                      then: () => document.querySelector<HTMLElement>("#item-history")?.focus(),
                    })
                : null
            }
          />
        ))}
      </ol>
      <More query={found} />
    </section>
  );
}

function Entry({ change, onUndo }: { change: ItemChange; onUndo: (() => void) | null }) {
  return (
    <li data-undone={change.undone || undefined}>
      <span className="timeline-when">
        <Age since={change.at} ago />
      </span>
      <span>
        {linesOf(change).map((line, index) => (
          <span key={index} className="change-line" dir="auto">
            {plainText(line)}
          </span>
        ))}
        <span className="change-by">
          {plainText(causeOf(change))}
          {change.of !== null && (
            <>
              {" "}
              at <a {...linkToOne("item", change.of)}>{change.of}</a>
            </>
          )}
          {change.undone && ", undone since"}
        </span>
        {onUndo && (
          <button type="button" className="link-button" onClick={onUndo}>
            <Icon name="undo" size={14} /> Undo this
          </button>
        )}
      </span>
    </li>
  );
}
