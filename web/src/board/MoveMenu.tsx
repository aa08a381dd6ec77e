/** Where an item can go from here: every state, those that the table of moves does not allow marked as such. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { WorkState } from "../api/types";
import { movesQuery } from "../api/work-queries";
import { Kbd } from "../ui/Kbd";
import { firstLine } from "../ui/plain-text";
import { notPossible, STATE_NAMES, STATES } from "./wording";
import type { Movable } from "./useMoves";

interface Props {
  item: Movable;
  onMove: (to: WorkState) => void;
  onClose: () => void;
}

export function MoveMenu({ item, onMove, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const allowed = useQuery(movesQuery).data?.[item.state] ?? [];
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true });
    };
  }, []);

  function choose(to: WorkState): void {
    onClose();
    onMove(to);
  }

  return (
    <dialog
      ref={dialog}
      className="move-menu"
      aria-labelledby="move-title"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
      onKeyDown={(event) => {
        const to = STATE_NAMES[Number(event.key) - 1];
        if (to === undefined || !allowed.includes(to) || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        choose(to);
      }}
    >
      <h2 id="move-title" dir="auto">
        Move “{firstLine(item.title, 80)}” to
      </h2>
      <ul>
        {STATE_NAMES.map((state, place) => {
          const isAllowed = allowed.includes(state);
          return (
            <li key={state}>
              <button type="button" className="choice" disabled={!isAllowed} onClick={() => choose(state)}>
                {isAllowed && <Kbd>{String(place + 1)}</Kbd>}
                {STATES[state]}
                {!isAllowed && <span className="move-not">{notPossible(item.state, state)}</span>}
              </button>
            </li>
          );
        })}
      </ul>
      <button type="button" className="quiet" onClick={onClose}>
        Leave it in {STATES[item.state].toLowerCase()}
      </button>
    </dialog>
  );
}
