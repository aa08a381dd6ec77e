/** The burn-down as a picture, with its sentence for those who do not see it and all figures in a table behind it. */
import type { BurnDay, BurnDown } from "../api/types";
import { formatDay } from "../ui/time";
import { burnSentence, fewTokens, tokens } from "./wording";

const WIDTH = 700;
const HEIGHT = 180;
const TOP = 8;
const BOTTOM = 4;

const dated = (day: string) => new Date(`${day}T12:00:00`);
const named = (day: string) => formatDay(dated(day), new Date());
const daysBetween = (from: string, to: string) => Math.round((dated(to).getTime() - dated(from).getTime()) / 86_400_000);

export function BurnDownChart({ burnDown, budget }: { burnDown: BurnDown; budget: number }) {
  const { days, last_day: lastDay } = burnDown;
  const [first] = days;
  const last = days.at(-1);
  if (first === undefined || last === undefined) return <p className="card-hint">The burn-down begins with the sprint.</p>;
  const spans = Math.max(1, days.length - 1, lastDay === null ? 0 : daysBetween(first.day, lastDay));
  const most = Math.max(1, ...days.map(({ items }) => items));
  const least = Math.min(0, ...days.map(({ tokens_left: left }) => left));
  const x = (index: number) => (index / spans) * WIDTH;
  const height = HEIGHT - TOP - BOTTOM;
  const itemsAt = (many: number) => TOP + (1 - many / most) * height;
  const tokensAt = (many: number) => TOP + (1 - (many - least) / (budget - least)) * height;
  const line = (y: (day: BurnDay) => number) => days.map((day, index) => `${x(index)},${y(day)}`).join(" ");
  const sentence = burnSentence(burnDown, budget);
  return (
    <figure className="burn">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`Burn-down. ${sentence}`}>
        <line className="burn-ground" x1="0" x2={WIDTH} y1={tokensAt(0)} y2={tokensAt(0)} />
        {lastDay !== null && (
          <line className="burn-even" x1="0" y1={itemsAt(first.items)} x2={x(daysBetween(first.day, lastDay))} y2={itemsAt(0)} />
        )}
        <polyline className="burn-tokens" points={line((day) => tokensAt(day.tokens_left))} />
        <polyline className="burn-items" points={line((day) => itemsAt(day.items_left))} />
        {days.map((day, index) => (
          <g key={day.day}>
            <title>{`${named(day.day)}: ${day.items_left} of ${day.items} items, ${tokens(day.tokens_left)} tokens left`}</title>
            <rect className="burn-dot" data-of="tokens" x={x(index) - 2.5} y={tokensAt(day.tokens_left) - 2.5} width="5" height="5" />
            <rect className="burn-dot" data-of="items" x={x(index) - 2.5} y={itemsAt(day.items_left) - 2.5} width="5" height="5" />
          </g>
        ))}
      </svg>
      <figcaption>
        <span>{named(first.day)}</span>
        <span className="bars-legend">
          <span className="burn-key" data-of="items" /> items left, of {most} <span className="burn-key" data-of="tokens" />{" "}
          tokens left, of {fewTokens(budget)}
          {lastDay !== null && (
            <>
              {" "}
              <span className="burn-key" data-of="even" /> items at an even pace
            </>
          )}
        </span>
        <span>{named(lastDay ?? last.day)}</span>
      </figcaption>
      <p className="burn-words">{sentence}</p>
      <BurnTable days={days} />
    </figure>
  );
}

function BurnTable({ days }: { days: BurnDay[] }) {
  return (
    <details className="as-table">
      <summary>As a table</summary>
      <div className="panel table-panel figures-panel" tabIndex={0} role="region" aria-label="Burn-down by day">
        <table className="figures">
          <thead>
            <tr>
              {["Day", "Items left", "Items", "At an even pace", "Tokens used", "Tokens left"].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.map((day) => (
              <tr key={day.day}>
                <th scope="row">{day.day}</th>
                <td>{day.items_left}</td>
                <td>{day.items}</td>
                <td>{day.even === null ? "–" : day.even.toLocaleString(undefined, { maximumFractionDigits: 1 })}</td>
                <td>{tokens(day.tokens)}</td>
                <td>{tokens(day.tokens_left)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
