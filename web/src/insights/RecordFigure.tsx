/** The built-in advisor against models: how often what they ranked first was finished first. */
import { useQuery } from "@tanstack/react-query";
import { personasQuery, trackRecordQuery } from "../api/persona-queries";
import { linkTo } from "../app/routes";
import { percent } from "../consults/wording";
import { AsTable } from "../plots/AsTable";
import { Figure } from "../plots/Figure";
import { Legend } from "../plots/Legend";
import { Ranking } from "../plots/Ranking";
import { tokens } from "../sprints/wording";
import { faredOf, modelName, recordFinding } from "./shares";

const TITLE = "Advisor against model";
const decimals = (value: number | null, digits: number) =>
  value === null ? "–" : value.toLocaleString("en", { maximumFractionDigits: digits });

export function RecordFigure({ days }: { days: number }) {
  const record = useQuery(trackRecordQuery(days)).data;
  const personas = useQuery(personasQuery).data?.personas ?? [];
  if (record === undefined) return null;
  if (record.records.length === 0)
    return (
      <Figure
        id="record"
        title={TITLE}
        words={
          <>
            Each ranking of epics is compared with what was finished first, by who gave it. Ask for an order on the{" "}
            <a {...linkTo("coach")}>coach</a>, of the built-in advisor or of a model.
          </>
        }
      />
    );
  const names = new Map(personas.map(({ id, name }) => [id, name]));
  const rows = faredOf(record, (id) => names.get(id) ?? id);
  const finding = recordFinding(record);
  return (
    <Figure id="record" title={TITLE} words={finding}>
      <Ranking label={`${TITLE}. ${finding}`} rows={rows} most={1} />
      <Legend
        kind="bars"
        entries={[
          { part: 0, name: "built-in advisor" },
          { part: 1, name: "model" },
        ]}
      />
      <AsTable
        caption={`${TITLE}: rankings of epics against what happened`}
        columns={[
          { title: "Persona", of: ({ persona }) => persona },
          { title: "Answered by", of: ({ record: one }) => modelName(one) },
          { title: "Agreement", of: ({ record: one }) => (one.agreement === null ? "–" : percent(one.agreement)) },
          { title: "Tau", of: ({ record: one }) => decimals(one.tau, 2) },
          { title: "Pairs", of: ({ record: one }) => tokens(one.pairs) },
          { title: "Rankings", of: ({ record: one }) => tokens(one.rankings) },
          { title: "Applied", of: ({ record: one }) => tokens(one.applied) },
          { title: "Blocked hours", of: ({ record: one }) => decimals(one.blocked_hours, 1) },
          { title: "Conflicts", of: ({ record: one }) => `${tokens(one.conflicts)} of ${tokens(one.parallel_pairs)}` },
        ]}
        rows={rows}
        keyOf={({ key }) => key}
      />
    </Figure>
  );
}
