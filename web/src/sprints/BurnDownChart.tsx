/** The burn-down as a picture, with its sentence for those who do not see it and all figures in a table behind it. */
import type { BurnDay, BurnDown } from "../api/types";
import { AsTable, type Column } from "../plots/AsTable";
import { DayPlot } from "../plots/DayPlot";
import { dayAfter, daysBetween } from "../plots/days";
import { Legend } from "../plots/Legend";
import { Lines } from "../plots/Lines";
import { roundTicks, sayShort } from "../plots/ticks";
import { burnSentence, fewTokens, tokens } from "./wording";

/** A sprint that is to end in years would leave no room for what is known of it. */
const AHEAD = 60;

const COLUMNS: [Column<BurnDay>, ...Column<BurnDay>[]] = [
  { title: "Day", of: ({ day }) => day },
  { title: "Items left", of: (day) => day.items_left },
  { title: "Items", of: ({ items }) => items },
  {
    title: "At an even pace",
    of: ({ even }) => (even === null ? "–" : even.toLocaleString("en", { maximumFractionDigits: 1 })),
  },
  { title: "Tokens used", of: (day) => tokens(day.tokens) },
  { title: "Tokens left", of: (day) => tokens(day.tokens_left) },
];

export function BurnDownChart({ burnDown, budget }: { burnDown: BurnDown; budget: number }) {
  const { days, last_day: lastDay } = burnDown;
  const [first] = days;
  if (first === undefined) return <p className="card-hint">The burn-down begins with the sprint.</p>;
  const ahead = lastDay === null ? 0 : Math.max(0, daysBetween(first.day, lastDay) + 1 - days.length);
  const count = days.length + Math.min(ahead, AHEAD);
  const most = Math.max(1, ...days.map(({ items }) => items));
  const left = days.map((day) => day.tokens_left);
  const sentence = burnSentence(burnDown, budget);
  // Past today the even pace goes on as it was.
  const even = evenPace(days, lastDay === null ? null : daysBetween(first.day, lastDay), count);
  return (
    <figure className="burn">
      <DayPlot
        label={`Burn-down. ${sentence}`}
        count={count}
        told={days.length}
        dayAt={(index) => dayAfter(first.day, index)}
        sayDay={(index) => sayDay(days[index])}
        left={{ ...roundTicks(most, { whole: true }), say: String }}
        right={{ ...roundTicks(Math.max(budget, ...left), { least: Math.min(...left), whole: true }), say: sayShort }}
        height={208}
      >
        {(places) => (
          <Lines
            places={places}
            lines={[
              ...(even === null ? [] : [{ part: 2 as const, values: even, marked: false }]),
              { part: 1, values: left, axis: "right" },
              { part: 0, values: days.map((day) => day.items_left) },
            ]}
          />
        )}
      </DayPlot>
      <Legend
        kind="lines"
        entries={[
          { part: 0, name: `items left, of ${most} (on the left)` },
          { part: 1, name: `tokens left, of ${fewTokens(budget)} (on the right)` },
          ...(even === null ? [] : [{ part: 2 as const, name: "items at an even pace", marked: false }]),
        ]}
      />
      <p className="burn-words">{sentence}</p>
      <AsTable caption="Burn-down by day" columns={COLUMNS} rows={days} keyOf={({ day }) => day} />
    </figure>
  );
}

function sayDay(day: BurnDay | undefined): string {
  if (day === undefined) return "";
  return `${day.items_left} of ${day.items} items, ${tokens(day.tokens_left)} tokens left`;
}

/** What would be left at an even pace: of each day that is told, and of those to come. */
function evenPace(days: readonly BurnDay[], end: number | null, count: number): (number | null)[] | null {
  if (end === null) return null;
  const work = days.at(-1)?.items ?? 0;
  return Array.from(
    { length: count },
    (_, index) => days[index]?.even ?? (end > 0 ? (work * Math.max(0, end - index)) / end : 0),
  );
}
