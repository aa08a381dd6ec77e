/** The code moved since the agent asked: the answer may rest on what is no longer there. */
import type { Escalation } from "../api/types";
import { Icon } from "../ui/Icon";
import { shortHash } from "./wording";

export function StaleMark({ escalation }: { escalation: Escalation }) {
  const { stale, branch } = escalation;
  if (stale === null) return null;
  return (
    <p className="mark" data-tone="warn">
      <Icon name="branch" />
      <span>
        The code moved since it asked: <code>{shortHash(stale.commit)}</code> → <code>{shortHash(stale.head)}</code>
        {branch !== null && (
          <>
            {" "}
            on <code>{branch}</code>
          </>
        )}
      </span>
    </p>
  );
}
