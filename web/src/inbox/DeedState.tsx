/** What became of a request that failed, said on the card it was for. What was typed is still there. */
import { explain, Refused } from "../api/problem";
import { Withdrawn } from "../outbox/outbox";
import { Icon } from "../ui/Icon";
import type { Deed } from "./deeds";
import type { useDeed } from "./useDeed";

export function DeedState({ deed, onRepeat }: { deed: ReturnType<typeof useDeed>; onRepeat: (deed: Deed) => void }) {
  if (!deed.isError || deed.error instanceof Withdrawn) return null;
  const { error, variables } = deed;
  const cameSecond = error instanceof Refused && error.code === "already_resolved";
  const canRepeat = !(error instanceof Refused) || error.status >= 500;
  return (
    <p className="mark" data-tone={cameSecond ? "warn" : "bad"} role="alert">
      <Icon name="warn" />
      <span>{cameSecond ? "Yours came second: the first answer stands." : `Not done. ${explain(error)}`}</span>
      {canRepeat && (
        <button type="button" className="link-button" onClick={() => onRepeat(variables)}>
          Try again
        </button>
      )}
    </p>
  );
}
