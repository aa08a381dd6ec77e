/** What its policy does with a card while nobody answers: how often it reminded, and when its time runs out. */
import type { Escalation } from "../api/types";
import { linkTo } from "../app/routes";
import { useWords } from "../ui/Age";
import { formatSpan, formatWhole } from "../ui/time";

export function PolicyLine({ escalation }: { escalation: Escalation }) {
  const { policy, reminders, expires_at } = escalation;
  // A policy that has done nothing and will not end it has nothing to say here.
  if (policy === null || (reminders === 0 && expires_at === null)) return null;
  return (
    <p className="card-hint policy-line">
      Policy <a {...linkTo("policies")}>{policy}</a>
      {reminders > 0 && (
        <>
          {" · "}
          <span className="reminded">reminded {reminders}×</span>
        </>
      )}
      {expires_at !== null && <Expiry at={expires_at} />}
    </p>
  );
}

function Expiry({ at }: { at: string }) {
  const end = Date.parse(at);
  const words = useWords((now) => (end > now + 10_000 ? `expires in ${formatSpan(end - now)}` : "expires now"));
  return (
    <>
      {" · "}
      <time dateTime={at} title={formatWhole(new Date(end))}>
        {words}
      </time>
    </>
  );
}
