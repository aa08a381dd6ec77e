/** How much was asked each day, and how much of it nobody answered in person. The table below has the same in figures. */
import { Bars as DayBars } from "../plots/Bars";
import { DayPlot } from "../plots/DayPlot";
import { Legend } from "../plots/Legend";
import { roundTicks } from "../plots/ticks";
import type { Day } from "./days";

export function Bars({ days }: { days: Day[] }) {
  const most = Math.max(1, ...days.map(({ asked }) => asked));
  const total = days.reduce((sum, { asked }) => sum + asked, 0);
  const sayDay = (index: number) => {
    const { asked, by_default: byDefault } = days[index] ?? { asked: 0, by_default: 0 };
    return `${asked} asked, ${byDefault} by default`;
  };
  return (
    <figure className="bars">
      <DayPlot
        label={`Asked a day: ${total} in ${days.length} days, at most ${most} on one`}
        count={days.length}
        dayAt={(index) => days[index]?.day ?? ""}
        sayDay={sayDay}
        left={{ ...roundTicks(most, { whole: true }), say: String }}
      >
        {(places) => (
          <DayBars
            places={places}
            values={days.map(({ asked, by_default: byDefault }) => [byDefault, asked - byDefault])}
            parts={[1, 0]}
          />
        )}
      </DayPlot>
      <Legend
        kind="bars"
        entries={[
          { part: 0, name: "asked" },
          { part: 1, name: "of these answered by default" },
        ]}
      />
    </figure>
  );
}
