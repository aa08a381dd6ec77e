/** The code moved since the agent asked: the answer may rest on what is no longer there. How much moved is asked when the card is opened. */
import { useQuery } from "@tanstack/react-query";
import { escalationQuery } from "../api/queries";
import type { Escalation, Stale } from "../api/types";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { shortHash } from "./wording";

function figuresOf(stale: Stale): string {
  if (stale.files === null || stale.files === undefined) return "";
  const files = stale.files === 1 ? "1 file" : `${stale.files} files`;
  return `${files}, +${stale.insertions ?? 0} −${stale.deletions ?? 0}`;
}

export function StaleMark({ escalation, opened }: { escalation: Escalation; opened: boolean }) {
  const { stale } = escalation;
  const whole = useQuery({ ...escalationQuery(escalation.id), enabled: opened && stale !== null && !stale.gone });
  if (stale === null) return null;
  const known = whole.data?.stale ?? stale;
  const figures = figuresOf(known);
  const branch = known.head_branch ?? known.branch;
  return (
    <p className="mark stale" data-tone="warn">
      <Icon name="branch" />
      {known.gone ? (
        <span>
          The worktree that it asked from is gone
          {known.branch !== null && (
            <>
              {" "}
              (it was on <code>{plainText(known.branch)}</code>)
            </>
          )}
          .
        </span>
      ) : (
        <span>
          The code moved since{figures !== "" && `: ${figures}`}
          {branch !== null && (
            <>
              {figures === "" ? ", on " : " on "}
              <code>{plainText(branch)}</code>
            </>
          )}
          <span className="stale-commits">
            <code>{shortHash(known.commit)}</code>
            {known.head !== null && (
              <>
                {" → "}
                <code>{shortHash(known.head)}</code>
              </>
            )}
          </span>
          {known.branch !== null && known.head_branch !== null && known.branch !== known.head_branch && (
            <>
              {" "}
              (it asked on <code>{plainText(known.branch)}</code>)
            </>
          )}
        </span>
      )}
    </p>
  );
}
