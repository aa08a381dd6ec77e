/** A bar for each day, of one part or of several on each other. Parts differ by their filling, not by colour alone. */
import { useId } from "react";
import { stacked } from "./area";
import type { Places } from "./DayPlot";
import { Fillings, fillingOf, type Part } from "./Fillings";

const WIDEST = 36;
const SHARE = 0.72;

interface Props {
  places: Places;
  /** By day, the parts from below. */
  values: readonly (readonly (number | null)[])[];
  /** How each part is filled. */
  parts: readonly Part[];
}

export function Bars({ places: { bands, left: height }, values, parts }: Props) {
  const id = useId();
  const width = Math.max(1, Math.min(WIDEST, bands.width * SHARE));
  return (
    <g className="plot-bars">
      <Fillings id={id} />
      {values.map((day, index) =>
        stacked(day).map(([from, to], part) =>
          to > from ? (
            <rect
              key={`${index}-${part}`}
              {...fillingOf(id, parts[part] ?? 0)}
              x={bands.middleOf(index) - width / 2}
              width={width}
              y={height(to)}
              height={height(from) - height(to)}
            />
          ) : null,
        ),
      )}
    </g>
  );
}
