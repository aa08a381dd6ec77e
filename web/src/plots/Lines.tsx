/** Lines over days, each with its own dashes and marks; where a day has no value, a line has a gap. */
import { stretches } from "./area";
import type { Places } from "./DayPlot";
import type { Part } from "./Fillings";

export interface Line {
  part: Part;
  values: readonly (number | null)[];
  /** By which axis; the left one unless it is said. */
  axis?: "left" | "right";
  /** Whether each day has a mark. */
  marked?: boolean;
}

const FEW = 45;

export function Lines({ places, lines }: { places: Places; lines: readonly Line[] }) {
  return lines.map(({ part, values, axis = "left", marked = true }) => {
    const at = (index: number): [x: number, y: number] => [places.bands.middleOf(index), places[axis](values[index] ?? 0)];
    const runs = stretches(values);
    // Marks of many days would hide the line; those that stand alone are all that there is of it.
    const shown = marked && values.length <= FEW ? runs.flat() : runs.filter((run) => run.length === 1).flat();
    return (
      <g key={part} className="plot-line" data-part={part}>
        {runs.map((run) => (
          <polyline key={run[0]} points={run.map((index) => at(index).join()).join(" ")} />
        ))}
        {marked && shown.map((index) => <Mark key={index} part={part} at={at(index)} />)}
      </g>
    );
  });
}

/** Round, square, or with a point on top. */
export function Mark({ part, at: [x, y] }: { part: Part; at: [x: number, y: number] }) {
  if (part === 0) return <circle cx={x} cy={y} r="3.5" />;
  if (part === 1) return <rect x={x - 3.25} y={y - 3.25} width="6.5" height="6.5" />;
  return <path d={`M${x} ${y - 4} l4 7 h-8 z`} />;
}
