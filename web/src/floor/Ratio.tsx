/** What was taken of what may be: a line that fills up. The words beside it say the same. */
import { shareOf } from "./wording";

interface Props {
  taken: number;
  most: number;
  level?: string;
}

export function Ratio({ taken, most, level }: Props) {
  const share = shareOf(taken, most);
  return (
    <svg className="ratio" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect className="ratio-ground" width="100" height="4" />
      <rect className="ratio-taken" data-level={level ?? levelOf(share)} width={share * 100} height="4" />
    </svg>
  );
}

function levelOf(share: number): string {
  return share >= 1 ? "stop" : share >= 0.8 ? "warn" : "none";
}
