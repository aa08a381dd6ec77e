/**
 * How the floor does in the last days: the burn-down that runs, work begun and questions asked, how long these waited,
 * what it cost and for what, how advice fared. How many days, and what cost is counted in, stand in the address.
 */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { insightsQuery, runningSprintQuery, sprintQuery } from "../api/sprint-queries";
import { linkTo, linkToOne, useParameter } from "../app/routes";
import { Figure } from "../plots/Figure";
import { BurnDownChart } from "../sprints/BurnDownChart";
import { ReadError, Skeletons } from "../ui/Notice";
import { firstLine } from "../ui/plain-text";
import { CostFigures } from "./CostFigures";
import { WAITING_PLOTS, WORK_PLOTS, type Unit } from "./day-plots";
import { DayFigure } from "./DayFigure";
import { RecordFigure } from "./RecordFigure";
import { UsageTable } from "./UsageTable";

const SPANS = [7, 30, 90] as const;
const USUAL = 30;

export function InsightsScreen() {
  const [chosen, choose] = useParameter("days");
  const [asked, askFor] = useParameter("cost");
  const days = SPANS.find((span) => String(span) === chosen) ?? USUAL;
  const { data, isPending, isError, error, refetch } = useQuery(insightsQuery(days));
  const told: Unit = data?.total.cost_usd_micros === null ? "tokens" : "dollars";
  const unit: Unit = asked === "tokens" || asked === "dollars" ? asked : told;
  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Insights</h1>
        <p>Work begun, questions asked, how long they waited and what it cost, day by day (UTC).</p>
      </header>
      <div className="filters">
        <Choice
          label="The last"
          name="days"
          value={String(days)}
          choices={SPANS.map((span) => [String(span), `${span} days`])}
          onChoose={choose}
        />
      </div>
      {isPending && <Skeletons count={3} label="Reading the figures" />}
      {isError && data === undefined && <ReadError what="The figures" error={error} onRetry={() => void refetch()} />}
      {data && (
        <>
          <Running />
          <Section id="work" title="Work and questions">
            {WORK_PLOTS.map((plot) => (
              <DayFigure key={plot.id} plot={plot} insights={data} />
            ))}
          </Section>
          <Section id="waiting" title="Waiting" hint={<a {...linkTo("attention")}>by agent and kind</a>}>
            {WAITING_PLOTS.map((plot) => (
              <DayFigure key={plot.id} plot={plot} insights={data} />
            ))}
          </Section>
          <Section
            id="cost"
            title="Cost"
            choice={
              <Choice
                label="Count in"
                name="cost"
                value={unit}
                choices={[
                  ["dollars", "dollars"],
                  ["tokens", "tokens"],
                ]}
                onChoose={askFor}
              />
            }
          >
            <CostFigures insights={data} unit={unit} />
          </Section>
          <Section id="advice" title="Advice">
            <RecordFigure days={days} />
          </Section>
          <UsageTable />
        </>
      )}
    </>
  );
}

interface SectionProps {
  id: string;
  title: string;
  hint?: ReactNode;
  choice?: ReactNode;
  children: ReactNode;
}

function Section({ id, title, hint, choice, children }: SectionProps) {
  return (
    <section className="section" aria-labelledby={`section-${id}`}>
      <h2 id={`section-${id}`} className="section-title">
        {title}
        {hint !== undefined && <span className="section-hint">{hint}</span>}
      </h2>
      {choice !== undefined && <div className="filters">{choice}</div>}
      <div className="plots">{children}</div>
    </section>
  );
}

interface ChoiceProps {
  label: string;
  name: string;
  value: string;
  choices: readonly (readonly [value: string, label: string])[];
  onChoose: (value: string) => void;
}

/** One of a few, all in sight; arrow keys move between them. */
function Choice({ label, name, value, choices, onChoose }: ChoiceProps) {
  return (
    <fieldset className="segmented">
      <legend>{label}</legend>
      {choices.map(([each, words]) => (
        <label key={each}>
          <input type="radio" name={name} value={each} checked={each === value} onChange={() => onChoose(each)} />
          <span>{words}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Running() {
  const running = useQuery(runningSprintQuery);
  const sprint = useQuery({ ...sprintQuery(running.data?.id ?? ""), enabled: running.data != null }).data;
  if (running.data === null)
    return (
      <Section id="running" title="Burn-down">
        <Figure
          id="running"
          title="No sprint runs"
          words={
            <>
              What is left of the work and of the budget, day by day, stands here while one does.{" "}
              <a {...linkTo("sprints")}>Plan a sprint</a>
            </>
          }
        />
      </Section>
    );
  if (sprint === undefined) return null;
  return (
    <Section id="running" title="Burn-down" hint={<a {...linkToOne("sprint", sprint.id)}>{firstLine(sprint.title, 80)}</a>}>
      <BurnDownChart burnDown={sprint.burn_down} budget={sprint.token_budget} />
    </Section>
  );
}
