/** What today took, beside the days before it, and how much of each limit is used. */
import type { ReactNode } from "react";
import { formatDollars } from "../consults/wording";
import type { Floor } from "../api/types";
import { linkTo, linkToOne } from "../app/routes";
import { fewTokens, percent } from "../sprints/wording";
import { firstLine } from "../ui/plain-text";
import { Ratio } from "./Ratio";
import { Spark } from "./Spark";
import { rateLabel } from "./wording";

export function Cost({ cost }: { cost: Floor["cost"] }) {
  const { today, days, sprint, advisors, rates } = cost;
  const taken = advisors.spent_dollars + advisors.reserved_dollars;
  return (
    <section className="floor-part" aria-labelledby="floor-cost">
      <h2 id="floor-cost" className="floor-title">
        Today
        <span className="section-hint">UTC</span>
      </h2>
      <div className="floor-panel">
        <div className="floor-spent">
          <p>
            <a className="floor-sum" data-none={today === null || undefined} {...linkTo("insights")}>
              {today === null ? "0 tokens" : sumOf(today)}
            </a>
            <span className="floor-soft">{today === null ? "no turn has told what it took" : usedOf(today)}</span>
          </p>
          <Spark days={days} />
        </div>
        <dl className="limits">
          {sprint !== null && (
            <Limit
              taken={sprint.tokens_used}
              most={sprint.token_budget}
              level={sprint.level}
              label={<a {...linkToOne("sprint", sprint.id)}>{firstLine(sprint.title, 60)}</a>}
              words={`${percent(sprint.tokens_used / sprint.token_budget)} of ${fewTokens(sprint.token_budget)} tokens`}
            />
          )}
          <Limit
            taken={taken}
            most={advisors.day_dollars}
            label={<a {...linkTo("personas")}>Advice</a>}
            words={`${formatDollars(taken)} of ${formatDollars(advisors.day_dollars)}`}
          />
          {rates.map((rate) => (
            <Limit
              key={rate.name}
              taken={rate.taken}
              most={rate.most}
              label={<a {...linkTo("insights")}>{rateLabel(rate.name)}</a>}
              words={`${fewTokens(rate.taken)} of ${fewTokens(rate.most)}`}
            />
          ))}
        </dl>
      </div>
    </section>
  );
}

interface LimitProps {
  taken: number;
  most: number;
  level?: string;
  label: ReactNode;
  words: string;
}

function Limit({ taken, most, level, label, words }: LimitProps) {
  return (
    <div className="limit">
      <dt dir="auto">{label}</dt>
      <dd>{words}</dd>
      <Ratio taken={taken} most={most} {...(level !== undefined && { level })} />
    </div>
  );
}

type Today = NonNullable<Floor["cost"]["today"]>;

/** In money where any turn told it; in tokens where none did. */
function sumOf({ cost_usd_micros: micros, tokens }: Today): string {
  return micros === null ? `${fewTokens(tokens)} tokens` : formatDollars(micros / 1_000_000);
}

function usedOf({ cost_usd_micros: micros, tokens, turns, unpriced }: Today): string {
  const inTurns = `in ${turns.toLocaleString("en")} ${turns === 1 ? "turn" : "turns"}`;
  if (micros === null) return inTurns;
  return `${fewTokens(tokens)} tokens ${inTurns}${unpriced > 0 ? `, ${unpriced} without a price` : ""}`;
}
