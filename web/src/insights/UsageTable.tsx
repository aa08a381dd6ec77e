/** What turns took since they are counted, by whatever they belong to. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usageQuery, type UsageBy } from "../api/sprint-queries";
import { dayName } from "../plots/days";
import { tokens } from "../sprints/wording";
import { firstLine, plainText } from "../ui/plain-text";
import { costOf } from "./shares";

const BY: Record<UsageBy, string> = {
  epic: "Epics",
  task: "Tasks",
  session: "Sessions",
  sprint: "Sprints",
  persona: "Personas",
  day: "Days",
};

export function UsageTable() {
  const [by, setBy] = useState<UsageBy>("epic");
  const { rows = [], since = null } = useQuery(usageQuery(by)).data ?? {};
  return (
    <section className="section" aria-labelledby="section-usage">
      <h2 id="section-usage" className="section-title">
        Usage
        <span className="section-hint">
          {since === null ? "what turns took, the most first" : `what turns took since ${dayName(since)}, the most first`}
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
                  <td>{costOf(row)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
