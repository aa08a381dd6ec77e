/** What was asked of each persona, how it went, and what it took. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { personaFiguresQuery } from "../api/persona-queries";
import type { PersonaFigures } from "../api/types";
import { linkTo } from "../app/routes";
import { useEscapeBack } from "../app/useEscapeBack";
import { count, formatDollars } from "../consults/wording";
import { Age } from "../ui/Age";
import { EmptyState, ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";

const SPANS: [days: number | null, label: string][] = [
  [null, "All days"],
  [1, "1 day"],
  [7, "7 days"],
  [30, "30 days"],
];

export function PersonaInsightsScreen() {
  const [days, setDays] = useState<number | null>(null);
  const { data, isPending, isError, error, refetch } = useQuery(personaFiguresQuery(days));
  useEscapeBack("personas");
  return (
    <>
      <header className="screen-head">
        <p className="way-back">
          <a {...linkTo("personas")}>Personas</a>
        </p>
        <h1 tabIndex={-1}>Personas in figures</h1>
        <p>What was asked of each, how it went, and what it took.</p>
      </header>
      <div className="filters" role="group" aria-label="What is counted">
        <select
          className="line-input"
          aria-label="Days"
          value={days ?? ""}
          onChange={(event) => setDays(event.target.value === "" ? null : Number(event.target.value))}
        >
          {SPANS.map(([span, label]) => (
            <option key={label} value={span ?? ""}>
              {label}
            </option>
          ))}
        </select>
      </div>
      {isPending && <Skeletons count={2} label="Reading the figures" />}
      {isError && data === undefined && <ReadError what="The figures" error={error} onRetry={() => void refetch()} />}
      {data && <Figures rows={data.personas} />}
    </>
  );
}

function Figures({ rows }: { rows: PersonaFigures[] }) {
  if (rows.length === 0)
    return (
      <EmptyState title="There is no persona">
        <p>
          Those that are shipped stand here, unless their files are at fault. <a {...linkTo("personas")}>Personas</a>
        </p>
      </EmptyState>
    );
  const unpriced = rows.some((row) => row.unpriced > 0);
  return (
    <>
      <div className="panel figures-panel" tabIndex={0} role="region" aria-label="Figures by persona">
        <table className="figures">
          <thead>
            <tr>
              {["Persona", "Consults", "Last activity", "Applied", "Tokens", "Dollars"].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.persona_id}>
                <th scope="row">{row.name === null ? <>{plainText(row.persona_id)} (gone)</> : plainText(row.name)}</th>
                <td>
                  {count(row.consults)} <Badges row={row} />
                </td>
                <td>{row.last_activity_at === null ? "–" : <Age since={row.last_activity_at} ago />}</td>
                <td>{count(row.applied)}</td>
                <td title={`${count(row.tokens_in)} in, ${count(row.tokens_out)} out`}>
                  {count(row.tokens_in + row.tokens_out)}
                </td>
                <td>
                  {formatDollars(row.dollars)}
                  {row.unpriced > 0 && <sup>*</sup>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {unpriced && (
        <p className="section-hint">* A client that tells no cost is charged all that its call might have cost.</p>
      )}
    </>
  );
}

function Badges({ row }: { row: PersonaFigures }) {
  return (
    <>
      {row.running > 0 && (
        <span className="figure-badge" data-tone="warn">
          {row.running} running
        </span>
      )}
      {row.failed > 0 && (
        <span className="figure-badge" data-tone="bad">
          {row.failed} failed
        </span>
      )}
    </>
  );
}
