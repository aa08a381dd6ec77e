/** Bars that lie under each other, one for each thing that is compared, with its name and its figure. */
import { useId } from "react";
import { firstLine, plainText } from "../ui/plain-text";
import { Fillings, fillingOf, type Part } from "./Fillings";
import { useWidth } from "./useWidth";

export interface Ranked {
  key: string;
  name: string;
  /** Nothing is drawn where it is not known. */
  value: number | null;
  said: string;
  part: Part;
}

const ROW = 42;
const BAR_TOP = 22;
const BAR = 10;
const LETTER = 7.2;
const GAP = 14;

/** `most` is what a bar is as long as its place for. */
export function Ranking({ label, rows, most }: { label: string; rows: readonly Ranked[]; most: number }) {
  const id = useId();
  const [place, width] = useWidth();
  const height = rows.length * ROW;
  return (
    <div ref={place} className="plot">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
        <Fillings id={id} />
        {rows.map((row, index) => {
          const room = Math.max(0, width - row.said.length * LETTER - GAP);
          const top = index * ROW;
          const length = most > 0 ? (Math.max(0, row.value ?? 0) / most) * width : 0;
          return (
            <g key={row.key}>
              <title>{`${plainText(row.name)}: ${row.said}`}</title>
              {/* What is wider than it seems ends where its place does. */}
              <svg x="0" y={top} width={room} height={BAR_TOP} className="plot-name">
                <text x="0" y="15">
                  {firstLine(row.name, Math.max(4, Math.floor(room / LETTER)))}
                </text>
              </svg>
              <text className="plot-value" x={width} y={top + 15} textAnchor="end">
                {row.said}
              </text>
              <rect className="plot-track" x="0" width={width} y={top + BAR_TOP} height={BAR} />
              {length > 0 && (
                <rect {...fillingOf(id, row.part)} x="0" width={Math.max(2, length)} y={top + BAR_TOP} height={BAR} />
              )}
            </g>
          );
        })}
      </svg>
    </div>
  );
}
