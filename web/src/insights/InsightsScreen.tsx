/** How the days go: usage, dispatches, escalations, times to answer, blocked agents; and the burn-down that runs. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { insightsQuery, runningSprintQuery, sprintQuery, usageQuery, type UsageBy } from "../api/sprint-queries";
import type { InsightDay } from "../api/types";
import { linkToOne } from "../app/routes";
import { BurnDownChart } from "../sprints/BurnDownChart";
import { tokens } from "../sprints/wording";
import { ReadError, Skeletons } from "../ui/Notice";
import { firstLine, plainText } from "../ui/plain-text";
import { formatDay } from "../ui/time";
import { SERIES, sentenceOf, type Series } from "./series";

const SPANS = [7, 14, 30, 90] as const;
const BY: Record<UsageBy, string> = {
  epic: "Epics",
  task: "Tasks",
  session: "Sessions",
  sprint: "Sprints",
  persona: "Personas",
  day: "Days",
};
const WIDTH = 700;
const HEIGHT = 96;

export function InsightsScreen() {
  const [span, setSpan] = useState<number>(14);
  const { data, isPending, isError, error, refetch } = useQuery(insightsQuery(span));
  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Insights</h1>
        <p>What was used, begun and asked, day by day (UTC).</p>
      </header>
      <div className="filters" role="group" aria-label="What is shown">
        <select
          className="line-input"
          aria-label="Days"
          value={span}
          onChange={(event) => setSpan(Number(event.target.value))}
        >
          {SPANS.map((days) => (
            <option key={days} value={days}>
              {days} days
            </option>
          ))}
        </select>
      </div>
      {isPending && <Skeletons count={3} label="Reading the figures" />}
      {isError && data === undefined && <ReadError what="The figures" error={error} onRetry={() => void refetch()} />}
      {data && (
        <>
          <Running />
          <div className="insights">
            {SERIES.map((series) => (
              <Plot key={series.id} series={series} days={data.days} />
            ))}
          </div>
          <Figures days={data.days} />
          <UsageBySomething />
        </>
      )}
    </>
  );
}

function Running() {
  const running = useQuery(runningSprintQuery).data;
  const sprint = useQuery({ ...sprintQuery(running?.id ?? ""), enabled: running != null }).data;
  if (running == null || sprint === undefined) return null;
  return (
    <section className="section" aria-labelledby="section-running">
      <h2 id="section-running" className="section-title">
        Burn-down
        <span className="section-hint">
          <a {...linkToOne("sprint", sprint.id)}>{firstLine(sprint.title, 80)}</a>
        </span>
      </h2>
      <BurnDownChart burnDown={sprint.burn_down} budget={sprint.token_budget} />
    </section>
  );
}

const named = (day: string) => formatDay(new Date(`${day}T12:00:00`), new Date());

function Plot({ series, days }: { series: Series; days: InsightDay[] }) {
  const values = days.map(series.valueOf);
  const most = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE);
  const step = WIDTH / Math.max(1, days.length);
  const width = Math.min(48, step * 0.7);
  const sentence = sentenceOf(series, days);
  const [first] = days;
  const last = days.at(-1);
  return (
    <figure className="series" aria-labelledby={`series-${series.id}`}>
      <h2 id={`series-${series.id}`}>{series.title}</h2>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`${series.title}. ${sentence}`}>
        <line className="bars-ground" x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {days.map((day, index) => {
          const value = values[index] ?? 0;
          const height = (value / most) * (HEIGHT - 4);
          return (
            <g key={day.day}>
              <title>{`${named(day.day)}: ${values[index] === null ? "nothing answered" : series.say(value)}`}</title>
              <rect
                className="series-bar"
                x={index * step + (step - width) / 2}
                width={width}
                y={HEIGHT - height}
                height={height}
                rx="2"
              />
            </g>
          );
        })}
      </svg>
      <figcaption>
        <span>{first && named(first.day)}</span>
        <span>{last && named(last.day)}</span>
      </figcaption>
      <p className="series-words">{sentence}</p>
    </figure>
  );
}

function Figures({ days }: { days: InsightDay[] }) {
  return (
    <section className="section" aria-labelledby="section-figures">
      <h2 id="section-figures" className="section-title">
        Figures
      </h2>
      <div className="panel table-panel figures-panel" tabIndex={0} role="region" aria-label="Figures by day">
        <table className="figures">
          <thead>
            <tr>
              <th scope="col">Day</th>
              {SERIES.map(({ id, title }) => (
                <th key={id} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.toReversed().map((day) => (
              <tr key={day.day}>
                <th scope="row">{day.day}</th>
                {SERIES.map((series) => {
                  const value = series.valueOf(day);
                  return <td key={series.id}>{value === null ? "–" : series.say(value)}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function UsageBySomething() {
  const [by, setBy] = useState<UsageBy>("epic");
  const { rows = [], since = null } = useQuery(usageQuery(by)).data ?? {};
  return (
    <section className="section" aria-labelledby="section-usage">
      <h2 id="section-usage" className="section-title">
        Usage
        <span className="section-hint">
          {since === null ? "what turns took, the most first" : `what turns took since ${named(since)}, the most first`}
        </span>
      </h2>
      <div className="filters">
        <select
          className="line-input"
          aria-label="Usage by"
          value={by}
          onChange={(event) => setBy(event.target.value as UsageBy)}
        >
          {Object.entries(BY).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </div>
      {rows.length === 0 ? (
        <p className="card-hint">No turn has told what it took yet.</p>
      ) : (
        <div className="panel table-panel figures-panel" tabIndex={0} role="region" aria-label={`Usage by ${by}`}>
          <table className="figures">
            <thead>
              <tr>
                {[BY[by], "Turns", "Tokens", "In", "Out", "Cost"].map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.key}>
                  <th scope="row">{row.title === null ? plainText(row.key) : `${firstLine(row.title, 60)} (${plainText(row.key)})`}</th>
                  <td>{tokens(row.turns)}</td>
                  <td>{tokens(row.tokens)}</td>
                  <td>{tokens(row.tokens_in)}</td>
                  <td>{tokens(row.tokens_out)}</td>
                  <td>{costOf(row.cost_usd_micros, row.unpriced)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** As far as clients tell it: more than this where some turns told none. */
function costOf(micros: number | null, unpriced: number): string {
  return micros === null ? "–" : `${unpriced > 0 ? ">" : ""}$${(micros / 1_000_000).toFixed(2)}`;
}
