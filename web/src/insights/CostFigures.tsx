/** What turns cost: by day, by epic and by persona, in dollars or in tokens. */
import type { Insights } from "../api/types";
import { linkTo, linkWithin } from "../app/routes";
import { AsTable } from "../plots/AsTable";
import { Figure } from "../plots/Figure";
import { Ranking } from "../plots/Ranking";
import { tokens } from "../sprints/wording";
import { firstLine } from "../ui/plain-text";
import { COST_PLOT, type Unit } from "./day-plots";
import { DayFigure } from "./DayFigure";
import { costOf, epicsFinding, personasFinding, sharesOf, type Share } from "./shares";

export function CostFigures({ insights, unit }: { insights: Insights; unit: Unit }) {
  const { epics, personas } = insights;
  return (
    <>
      <DayFigure plot={COST_PLOT[unit]} insights={insights} wide />
      {epics.rows.length === 0 ? (
        <Figure
          id="epics"
          title="Cost by epic"
          words={
            <>
              What turns take for an item counts for its epic. Make an epic on the <a {...linkTo("board")}>board</a> and put
              items into it.
            </>
          }
        />
      ) : (
        <ShareFigure
          id="epics"
          title="Cost by epic"
          of="Epic"
          finding={epicsFinding(insights, unit)}
          shares={sharesOf(epics, unit, "No epic")}
        />
      )}
      {personas.rows.length === 0 ? (
        <Figure
          id="personas"
          title="Cost by persona"
          words={
            <>
              What advice takes that an agent gives stands here. Ask one of the <a {...linkTo("personas")}>personas</a>; the
              built-in advisor takes nothing.
            </>
          }
        />
      ) : (
        <ShareFigure
          id="personas"
          title="Cost by persona"
          of="Persona"
          finding={personasFinding(insights, unit)}
          shares={sharesOf(personas, unit)}
          more={<a {...linkWithin("personaInsights")}>What was asked of each</a>}
        />
      )}
    </>
  );
}

interface ShareProps {
  id: string;
  title: string;
  of: string;
  finding: string;
  shares: Share[];
  more?: React.ReactNode;
}

function ShareFigure({ id, title, of, finding, shares, more }: ShareProps) {
  const most = shares.reduce((largest, { value }) => Math.max(largest, value ?? 0), 0);
  return (
    <Figure id={id} title={title} words={finding}>
      <Ranking label={`${title}. ${finding}`} rows={shares} most={most} />
      {more !== undefined && <p className="plot-words">{more}</p>}
      <AsTable
        caption={title}
        columns={[
          { title: of, of: ({ name }) => firstLine(name, 60) },
          { title: "Dollars", of: ({ row }) => costOf(row) },
          { title: "Tokens", of: ({ row }) => tokens(row.tokens) },
          { title: "Turns", of: ({ row }) => tokens(row.turns) },
        ]}
        rows={shares}
        keyOf={({ key }) => key}
      />
    </Figure>
  );
}
