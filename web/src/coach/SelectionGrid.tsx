/** Sessions by items. A cell says place and score; the one that is chosen says why, line by line, below. */
import { useRef, useState, type KeyboardEvent } from "react";
import type { SessionRanking } from "../api/types";
import { linkToOne } from "../app/routes";
import { ItemId } from "../ui/ItemId";
import { plainText } from "../ui/plain-text";
import { sessionName } from "../ui/session-name";
import { cellAfter, points, type Cell, type CellPlace, type GridRow } from "./grid";

interface Props {
  sessions: SessionRanking[];
  rows: GridRow[];
}

const NEW = "A new session";

export function SelectionGrid({ sessions, rows }: Props) {
  const [wanted, setWanted] = useState<CellPlace>({ row: 0, column: 0 });
  const grid = useRef<HTMLTableElement>(null);
  // What is ready may have become less since the cell was chosen.
  const chosen = { row: Math.min(wanted.row, rows.length - 1), column: Math.min(wanted.column, sessions.length - 1) };

  function onKeyDown(event: KeyboardEvent): void {
    const next = cellAfter(chosen, event.key, rows.length, sessions.length);
    if (next === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    setWanted(next);
    const cell = grid.current?.querySelector<HTMLElement>(`[data-row="${next.row}"][data-column="${next.column}"]`);
    cell?.focus({ preventScroll: true });
    cell?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  const row = rows[chosen.row];
  const cell = row?.cells[chosen.column];
  const session = sessions[chosen.column];
  return (
    <>
      <div className="panel figures-panel selection-panel">
        <table
          ref={grid}
          className="figures selection"
          role="grid"
          aria-label="Sessions by what is ready"
          onKeyDown={onKeyDown}
        >
          <thead>
            <tr>
              <th scope="col">Item</th>
              {sessions.map(({ session_id: id }) => (
                <th key={id ?? ""} scope="col" title={id === null ? NEW : plainText(id)}>
                  {id === null ? NEW : <a {...linkToOne("session", id)}>{sessionName(id)}</a>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ item, cells }, down) => (
              <tr key={item.id}>
                <th scope="row">
                  <span className="selection-item" dir="auto" title={plainText(item.title)}>
                    {plainText(item.title)}
                  </span>
                  <ItemId id={item.id} />
                </th>
                {cells.map((one, right) => {
                  const isChosen = down === chosen.row && right === chosen.column;
                  return (
                    <td key={sessions[right]?.session_id ?? ""} role="gridcell" aria-selected={isChosen}>
                      <button
                        type="button"
                        className="cell"
                        data-row={down}
                        data-column={right}
                        data-kind={one.kind}
                        data-first={(one.kind === "choice" && one.choice.rank === 1) || undefined}
                        tabIndex={isChosen ? 0 : -1}
                        aria-label={cellWords(one)}
                        onClick={() => setWanted({ row: down, column: right })}
                      >
                        {cellMark(one)}
                      </button>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {row && cell && session && <Why row={row} cell={cell} session={session.session_id} />}
    </>
  );
}

function cellWords(cell: Cell): string {
  if (cell.kind === "choice") return `place ${cell.choice.rank}, ${cell.choice.score} points`;
  return cell.kind === "out" ? "ruled out" : "behind what is shown";
}

function cellMark(cell: Cell) {
  if (cell.kind === "choice")
    return (
      <>
        <span className="cell-rank">{cell.choice.rank}</span> {cell.choice.score}
      </>
    );
  return cell.kind === "out" ? "✕" : "…";
}

function Why({ row, cell, session }: { row: GridRow; cell: Cell; session: string | null }) {
  return (
    <section className="panel why" aria-live="polite" aria-label="Why">
      <h3 dir="auto">
        {plainText(row.item.title)} <span className="card-hint">for {session === null ? "a new session" : plainText(session)}</span>
      </h3>
      {cell.kind === "behind" && <p>It may be done by this session, and stands behind those that are shown.</p>}
      {cell.kind === "out" && (
        <ul className="reasons">
          {cell.out.gates.map((gate, place) => (
            <li key={place} data-tone="bad">
              <span className="reason-points">✕</span> {plainText(gate.text)}
            </li>
          ))}
        </ul>
      )}
      {cell.kind === "choice" && (
        <>
          <ul className="reasons">
            {cell.choice.reasons.map((reason, place) => (
              <li key={place} data-tone={reason.soft ? "warn" : undefined}>
                <span className="reason-points">{points(reason.points)}</span> {plainText(reason.text)}
              </li>
            ))}
          </ul>
          <p className="reason-sum">
            <span className="reason-points">{cell.choice.score}</span> in all: place {cell.choice.rank}
          </p>
        </>
      )}
    </section>
  );
}
