/** What does not need an answer now, one line each: put off, settled, and answers that did not arrive. */
import type { ReactNode } from "react";
import type { Escalation } from "../api/types";
import { Age } from "../ui/Age";
import { Icon, type IconName } from "../ui/Icon";
import { firstLine, plainText } from "../ui/plain-text";
import { formatMoment } from "../ui/time";
import { deeds } from "./deeds";
import { DeedState } from "./DeedState";
import { useDeed } from "./useDeed";
import { answerOf, deliveryOf, outcomeOf } from "./wording";

function Row({
  escalation,
  icon,
  tone,
  children,
  action,
}: {
  escalation: Escalation;
  icon: IconName;
  tone?: string;
  children: ReactNode;
  action?: ReactNode;
}) {
  return (
    <li className="row" data-escalation-id={escalation.id} data-state={escalation.state} data-tone={tone}>
      <Icon name={icon} />
      <div className="row-words">
        <p className="row-title" dir="auto">
          {firstLine(escalation.title ?? escalation.text)}
        </p>
        {children}
      </div>
      {action}
    </li>
  );
}

export function SnoozedRow({ escalation }: { escalation: Escalation }) {
  const deed = useDeed(escalation.id);
  const until = new Date(escalation.snoozed_until ?? escalation.changed_at);
  const wake = (
    <button
      type="button"
      className="quiet"
      disabled={deed.isPending}
      onClick={() => deed.mutate({ ...deeds.ack(), words: "Back in the inbox" })}
    >
      Wake now
    </button>
  );
  return (
    <Row escalation={escalation} icon="clock" action={wake}>
      <p className="row-note">
        {escalation.session_id} · until {formatMoment(until, new Date())}
      </p>
      <DeedState deed={deed} />
    </Row>
  );
}

export function SettledRow({ escalation }: { escalation: Escalation }) {
  const deed = useDeed(escalation.id);
  const { resolution } = escalation;
  const answer = resolution && answerOf(resolution);
  const delivery = deliveryOf(escalation);
  const wasAnswered = resolution?.outcome === "answered" || resolution?.outcome === "default";
  const undelivered = escalation.delivery === "undelivered";
  const reopen = resolution?.by === "pane" && (
    <button type="button" className="quiet" disabled={deed.isPending} onClick={() => deed.mutate(deeds.reopen())}>
      <Icon name="undo" /> Re-open
    </button>
  );
  return (
    <Row
      escalation={escalation}
      icon={undelivered ? "warn" : wasAnswered ? "check" : "close"}
      {...(undelivered && { tone: "warn" })}
      action={reopen}
    >
      {answer && (
        <p className="row-answer" dir="auto">
          {plainText(answer)}
        </p>
      )}
      {undelivered && escalation.delivery_note !== null && (
        <p className="row-warning">{plainText(escalation.delivery_note)}</p>
      )}
      <p className="row-note">
        {escalation.session_id} · {resolution ? outcomeOf(resolution) : escalation.state}{" "}
        <Age since={resolution?.at ?? escalation.changed_at} ago />
        {delivery !== null && ` · ${delivery}`}
      </p>
      <DeedState deed={deed} />
    </Row>
  );
}
