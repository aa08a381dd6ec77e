/** What its policy does with a card while nobody answers: how often it reminded, and when its time runs out. */
import { useQuery } from "@tanstack/react-query";
import { policiesQuery } from "../api/queries";
import type { Escalation } from "../api/types";
import { linkTo } from "../app/routes";
import { useWords } from "../ui/Age";
import { endWords } from "../policies/sentence";
import { plainText } from "../ui/plain-text";
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
      {expires_at !== null && <Expiry at={expires_at} name={policy} />}
    </p>
  );
}

function Expiry({ at, name }: { at: string; name: string }) {
  const policy = useQuery(policiesQuery).data?.policies.find((one) => one.name === name);
  const end = Date.parse(at);
  const what = plainText(endWords(policy));
  const words = useWords((now) => (end > now + 10_000 ? `${what} in ${formatSpan(end - now)}` : `${what} now`));
  return (
    <>
      {" · "}
      <time dateTime={at} title={formatWhole(new Date(end))}>
        {words}
      </time>
    </>
  );
}
