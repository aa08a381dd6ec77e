/**
 * A plot over days: axes with round marks, a name for some of the days, and what each day is when it is pointed at. What
 * stands in it (Bars, Lines) gets the places from here.
 */
import type { ReactNode } from "react";
import { bandsOf, heightOn, type Area, type Bands } from "./area";
import { dayName } from "./days";
import { spread, type Scale } from "./ticks";
import { useWidth } from "./useWidth";

/** A scale, and how its marks are said. */
export interface Axis extends Scale {
  say: (value: number) => string;
}

export interface Places {
  area: Area;
  bands: Bands;
  /** How high a value stands by the axis on the left, and by the one on the right. */
  left: (value: number) => number;
  right: (value: number) => number;
}

interface Props {
  /** What it is, and in a sentence what it shows. */
  label: string;
  /** How many days there are, and which. */
  count: number;
  dayAt: (index: number) => string;
  /** What a day is in words; none of those that are yet to come. */
  sayDay: (index: number) => string;
  told?: number;
  left: Axis;
  right?: Axis;
  height?: number;
  children: (places: Places) => ReactNode;
}

const LETTER = 7;
const GAP = 8;
const NAME_WIDTH = 64;
const TOP = 10;
const BELOW = 24;

const roomFor = ({ ticks, say }: Axis) => Math.max(...ticks.map((tick) => say(tick).length)) * LETTER + GAP;

export function DayPlot({ label, count, dayAt, sayDay, told = count, left, right, height = 168, children }: Props) {
  const [place, width] = useWidth();
  const area: Area = {
    left: roomFor(left),
    right: width - (right === undefined ? 2 : roomFor(right)),
    top: TOP,
    bottom: height - BELOW,
  };
  const bands = bandsOf(count, area);
  const places: Places = { area, bands, left: heightOn(left, area), right: heightOn(right ?? left, area) };
  const named = spread(count, Math.floor((area.right - area.left) / NAME_WIDTH));
  return (
    <div ref={place} className="plot">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
        {left.ticks.map((tick) => (
          <g key={tick}>
            <line
              className={tick === 0 ? "plot-ground" : "plot-grid"}
              x1={area.left}
              x2={area.right}
              y1={places.left(tick)}
              y2={places.left(tick)}
            />
            <text x={area.left - GAP} y={places.left(tick)} dy="0.35em" textAnchor="end">
              {left.say(tick)}
            </text>
          </g>
        ))}
        {right?.ticks.map((tick) => (
          <text key={tick} x={area.right + GAP} y={places.right(tick)} dy="0.35em">
            {right.say(tick)}
          </text>
        ))}
        {named.map((index) => (
          <DayName key={index} name={dayName(dayAt(index))} at={bands.middleOf(index)} area={area} y={height - 6} />
        ))}
        {children(places)}
        {Array.from({ length: told }, (_, index) => (
          <rect
            key={index}
            className="plot-day"
            x={bands.startOf(index)}
            width={bands.width}
            y={area.top}
            height={area.bottom - area.top}
          >
            <title>{`${dayName(dayAt(index))}: ${sayDay(index)}`}</title>
          </rect>
        ))}
      </svg>
    </div>
  );
}

/** Under its day, unless it would stand out at a side. */
function DayName({ name, at, area, y }: { name: string; at: number; area: Area; y: number }) {
  const half = (name.length * LETTER) / 2;
  if (at + half > area.right)
    return (
      <text x={area.right} y={y} textAnchor="end">
        {name}
      </text>
    );
  return (
    <text x={Math.max(at, half)} y={y} textAnchor="middle">
      {name}
    </text>
  );
}
