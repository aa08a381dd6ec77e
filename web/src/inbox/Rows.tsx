/** What does not need an answer now, one line each: put off, settled, and answers that did not arrive. */
import { useRef, type ReactNode } from "react";
import type { Escalation } from "../api/types";
import { Age } from "../ui/Age";
import { Icon, type IconName } from "../ui/Icon";
import { firstLine, plainText } from "../ui/plain-text";
import { formatMoment } from "../ui/time";
import { useHandOverFocus } from "../ui/useHandOverFocus";
import { deeds, type Deed } from "./deeds";
import { DeedState } from "./DeedState";
import { useDeed } from "./useDeed";
import { answerOf, deliveryOf, outcomeOf } from "./wording";

/** To a neighbour's button or to the fold that it stands in; to nothing when the whole list goes. */
function nextInList(row: HTMLElement): HTMLElement | null | undefined {
  const others = [...(row.parentElement?.children ?? [])].filter((one) => one !== row);
  if (others.length === 0) return null;
  const buttons = others.map((one) => one.querySelector<HTMLElement>("button")).filter((one) => one !== null);
  return buttons[0] ?? row.closest("details")?.querySelector("summary");
}

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
  const row = useRef<HTMLLIElement>(null);
  useHandOverFocus(row, nextInList);
  return (
    <li ref={row} className="row" data-escalation-id={escalation.id} data-state={escalation.state} data-tone={tone}>
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
  const act = (next: Deed) => !deed.isPending && deed.mutate(next);
  const until = new Date(escalation.snoozed_until ?? escalation.changed_at);
  const wake = (
    <button type="button" className="quiet" onClick={() => act({ ...deeds.ack(), words: "Back in the inbox" })}>
      Wake now
    </button>
  );
  return (
    <Row escalation={escalation} icon="clock" action={wake}>
      <p className="row-note">
        {escalation.session_id} · until {formatMoment(until, new Date())}
      </p>
      <DeedState deed={deed} onRepeat={act} />
    </Row>
  );
}

export function SettledRow({ escalation }: { escalation: Escalation }) {
  const deed = useDeed(escalation.id);
  const act = (next: Deed) => !deed.isPending && deed.mutate(next);
  const { resolution } = escalation;
  const answer = resolution && answerOf(resolution);
  const delivery = deliveryOf(escalation);
  const wasAnswered = resolution?.outcome === "answered" || resolution?.outcome === "default";
  const undelivered = escalation.delivery === "undelivered";
  const reopen = resolution?.by === "pane" && (
    <button type="button" className="quiet" onClick={() => act(deeds.reopen())}>
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
      <DeedState deed={deed} onRepeat={act} />
    </Row>
  );
}
