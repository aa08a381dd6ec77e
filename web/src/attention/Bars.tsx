/** How much was asked each day, and how much of it nobody answered in person. The table below has the same in figures. */
import { formatDay } from "../ui/time";
import type { Day } from "./days";

const WIDTH = 700;
const HEIGHT = 120;
const GAP = 0.3;

export function Bars({ days }: { days: Day[] }) {
  const most = Math.max(1, ...days.map(({ asked }) => asked));
  const step = WIDTH / Math.max(1, days.length);
  const width = Math.min(48, step * (1 - GAP));
  const total = days.reduce((sum, { asked }) => sum + asked, 0);
  const [first] = days;
  const last = days.at(-1);
  const named = (day: string) => formatDay(new Date(`${day}T12:00:00`), new Date());
  return (
    <figure className="bars">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Asked a day: ${total} in ${days.length} days, at most ${most} on one`}
      >
        <line className="bars-ground" x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {days.map((day, index) => {
          const height = (day.asked / most) * (HEIGHT - 4);
          const byDefault = (day.by_default / most) * (HEIGHT - 4);
          const x = index * step + (step - width) / 2;
          return (
            <g key={day.day}>
              <title>{`${named(day.day)}: ${day.asked} asked, ${day.by_default} by default`}</title>
              <rect className="bar-asked" x={x} width={width} y={HEIGHT - height} height={height} rx="2" />
              <rect className="bar-default" x={x} width={width} y={HEIGHT - byDefault} height={byDefault} />
            </g>
          );
        })}
      </svg>
      <figcaption>
        <span>{first && named(first.day)}</span>
        <span className="bars-legend">
          <span className="bars-key" data-of="asked" /> asked, at most {most} a day{" "}
          <span className="bars-key" data-of="default" /> of these answered by default
        </span>
        <span>{last && named(last.day)}</span>
      </figcaption>
    </figure>
  );
}
