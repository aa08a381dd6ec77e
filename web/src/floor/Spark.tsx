/** The last days as small bars, today's at the end. What they say stands in words beside it, for everybody. */
import { sparkWords } from "./wording";

const WIDTH = 6;
const STEP = 9;
const HEIGHT = 32;

export function Spark({ days }: { days: readonly { day: string; tokens: number }[] }) {
  const most = Math.max(1, ...days.map(({ tokens }) => tokens));
  const width = days.length * STEP - (STEP - WIDTH);
  return (
    <svg className="spark" width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={sparkWords(days)}>
      {days.map(({ day, tokens }, index) => {
        // A day on which little was used is not one on which nothing was.
        const height = tokens === 0 ? 1 : Math.max(3, (tokens / most) * HEIGHT);
        return (
          <rect
            key={day}
            className="spark-day"
            data-today={index === days.length - 1 || undefined}
            x={index * STEP}
            y={HEIGHT - height}
            width={WIDTH}
            height={height}
            rx={Math.min(1.5, height / 2)}
          />
        );
      })}
    </svg>
  );
}
