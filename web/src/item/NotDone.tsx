/** Why something was not done to an item, and the card in the inbox that would let it go, where there is one. */
import { explain, Refused } from "../api/problem";
import { linkToOne } from "../app/routes";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";

export function NotDone({ error }: { error: unknown }) {
  if (error === null) return null;
  const escalation = error instanceof Refused ? error.escalations[0] : undefined;
  return (
    <p className="mark" data-tone="bad" role="alert">
      <Icon name="warn" />
      <span>
        Not done. {plainText(explain(error))}
        {escalation !== undefined && (
          <>
            {" "}
            <a {...linkToOne("escalation", escalation)}>Answer it</a>
          </>
        )}
      </span>
    </p>
  );
}
