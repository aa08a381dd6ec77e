/** A figure of the days with its table: the same figures, drawn and told. */
import type { Insights } from "../api/types";
import { AsTable } from "../plots/AsTable";
import { Bars } from "../plots/Bars";
import { DayPlot } from "../plots/DayPlot";
import { Figure } from "../plots/Figure";
import type { Part } from "../plots/Fillings";
import { Legend } from "../plots/Legend";
import { Lines } from "../plots/Lines";
import { mostOf, sayDay, type DaysPlot } from "./day-plots";

interface Props {
  plot: DaysPlot;
  insights: Insights;
  wide?: boolean;
}

export function DayFigure({ plot, insights, wide = false }: Props) {
  const { id, title, kind, parts } = plot;
  if (plot.isEmpty(insights)) return <Figure id={id} title={title} words={plot.lesson} wide={wide} />;
  const { days } = insights;
  const finding = plot.finding(insights);
  const drawn = parts.map(({ name, valueOf }, index) => ({ part: index as Part, name, values: days.map(valueOf) }));
  return (
    <Figure id={id} title={title} words={finding} wide={wide}>
      <DayPlot
        label={`${title}. ${finding}`}
        count={days.length}
        dayAt={(index) => days[index]?.day ?? ""}
        sayDay={(index) => (days[index] === undefined ? "" : sayDay(plot, days[index]))}
        left={{ ...plot.scaleOf(mostOf(plot, days)), say: plot.sayMark }}
      >
        {(places) =>
          kind === "bars" ? (
            <Bars
              places={places}
              values={days.map((day) => parts.map(({ valueOf }) => valueOf(day)))}
              parts={drawn.map(({ part }) => part)}
            />
          ) : (
            <Lines places={places} lines={drawn} />
          )
        }
      </DayPlot>
      {parts.length > 1 && <Legend kind={kind} entries={drawn} />}
      <AsTable
        caption={`${title} (by day, UTC)`}
        columns={[
          { title: "Day", of: (day) => day.day },
          ...parts.map(({ name, valueOf }) => ({
            title: name,
            of: (day: (typeof days)[number]) => {
              const value = valueOf(day);
              return value === null ? "–" : plot.say(value);
            },
          })),
        ]}
        rows={days.toReversed()}
        keyOf={(day) => day.day}
      />
    </Figure>
  );
}
