/** What asking costs: how much agents asked, how long they waited, what that cost, day by day. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { attentionQuery } from "../api/queries";
import type { Attention, AttentionRow } from "../api/types";
import { kindOf } from "../inbox/wording";
import { EmptyState, ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";
import { formatSeconds } from "../ui/time";
import { Bars } from "./Bars";
import { daysOf, valuesOf, type Filter } from "./days";

const SPANS = [7, 14, 30, 90] as const;

export function AttentionScreen() {
  const [days, setDays] = useState<number>(7);
  const [filter, setFilter] = useState<Filter>({ agent_type: "", kind: "" });
  const named = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));
  const { data, isPending, isError, error, refetch } = useQuery(attentionQuery({ days, ...named }));
  // What can be chosen does not shrink with what is chosen.
  const whole = useQuery(attentionQuery({ days })).data ?? data;
  return (
    <div className="attention">
      <header className="screen-head">
        <h1 tabIndex={-1}>Attention</h1>
        <p>What agents asked of you, how long they waited, and what that cost.</p>
      </header>
      {isPending && <Skeletons count={2} label="Reading the figures" />}
      {isError && data === undefined && <ReadError what="The figures" error={error} onRetry={() => void refetch()} />}
      {data && whole && (
        <>
          <Filters report={whole} days={days} onDays={setDays} filter={filter} onFilter={setFilter} />
          {data.rows.length === 0 ? (
            <EmptyState title="Nothing was asked in these days">
              <p>As soon as an agent asks, its waiting is counted here.</p>
            </EmptyState>
          ) : (
            <Report report={data} />
          )}
        </>
      )}
    </div>
  );
}

interface FilterProps {
  report: Attention;
  days: number;
  onDays: (days: number) => void;
  filter: Filter;
  onFilter: (filter: Filter) => void;
}

function Filters({ report, days, onDays, filter, onFilter }: FilterProps) {
  return (
    <div className="filters" role="group" aria-label="What is counted">
      <select
        className="line-input"
        aria-label="Days"
        value={days}
        onChange={(event) => onDays(Number(event.target.value))}
      >
        {SPANS.map((span) => (
          <option key={span} value={span}>
            {span} days
          </option>
        ))}
      </select>
      {(["agent_type", "kind"] as const).map((name) => (
        <select
          key={name}
          className="line-input"
          aria-label={name === "kind" ? "Kind" : "Agent type"}
          value={filter[name]}
          onChange={(event) => onFilter({ ...filter, [name]: event.target.value })}
        >
          <option value="">{name === "kind" ? "All kinds" : "All agents"}</option>
          {valuesOf(report, name).map((value) => (
            <option key={value} value={value}>
              {name === "kind" ? kindOf({ kind: value }).label : plainText(value)}
            </option>
          ))}
        </select>
      ))}
    </div>
  );
}

const seconds = (value: number | null) => (value === null ? "–" : formatSeconds(value));
const minutes = (value: number) => formatSeconds(Math.round(value * 60));
const percent = (value: number | null) => (value === null ? "–" : `${Math.round(value * 100)} %`);
const money = (value: number | null, currency: string) =>
  value === null ? "–" : `${value.toLocaleString(undefined, { maximumFractionDigits: 2 })} ${currency}`;

function Report({ report }: { report: Attention }) {
  const { total, rows, currency } = report;
  const figures: [name: string, value: string][] = [
    ["asked", String(total.asked)],
    ["per agent-hour", total.questions_per_agent_hour?.toLocaleString(undefined, { maximumFractionDigits: 1 }) ?? "–"],
    ["usual time to see", seconds(total.to_see_p50)],
    ["usual time to answer", seconds(total.to_answer_p50)],
    ["agents blocked", minutes(total.blocked_minutes)],
    ["cost", money(total.cost, currency)],
    ["answered by default", percent(total.share_by_default)],
  ];
  return (
    <>
      <dl className="panel counters" aria-label="In all">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Bars days={daysOf(report, rows)} />
      <Table rows={rows} currency={currency} />
    </>
  );
}

const WORDS = ["Agent", "Kind"];
const COLUMNS = [
  ...["Day", ...WORDS, "Asked", "Answered", "By default", "Expired"],
  ...["To see", "To answer", "Blocked", "Cost"],
];

function Table({ rows, currency }: { rows: AttentionRow[]; currency: string }) {
  return (
    <section className="section" aria-labelledby="section-figures">
      <h2 id="section-figures" className="section-title">
        Figures
      </h2>
      <div className="panel table-panel figures-panel" tabIndex={0} role="region" aria-label="Figures by day">
        <table className="figures">
          <thead>
            <tr>
              {COLUMNS.map((name) => (
                <th key={name} scope="col" data-words={WORDS.includes(name) || undefined}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={`${row.day} ${row.agent_type} ${row.kind}`}>
                <th scope="row">{row.day}</th>
                <td data-words>{plainText(row.agent_type) || "–"}</td>
                <td data-words>{kindOf(row).label}</td>
                <td>{row.asked}</td>
                <td>{row.answered}</td>
                <td>{row.by_default}</td>
                <td>{row.expired}</td>
                <td title={`nine of ten within ${seconds(row.to_see_p90)}`}>{seconds(row.to_see_p50)}</td>
                <td title={`nine of ten within ${seconds(row.to_answer_p90)}`}>{seconds(row.to_answer_p50)}</td>
                <td>{minutes(row.blocked_minutes)}</td>
                <td>{money(row.cost, currency)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
