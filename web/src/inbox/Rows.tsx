/** What does not need an answer now, one line each: put off, settled, and answers that did not arrive. */
import { useRef, type ReactNode } from "react";
import type { Escalation } from "../api/types";
import { linkToOne } from "../app/routes";
import { Age } from "../ui/Age";
import { Icon, type IconName } from "../ui/Icon";
import { firstLine, plainText } from "../ui/plain-text";
import { sessionName } from "../ui/session-name";
import { formatMoment } from "../ui/time";
import { useHandOverFocus } from "../ui/useHandOverFocus";
import { ByRule } from "./ByRule";
import { deeds, type Deed } from "./deeds";
import { DeedState } from "./DeedState";
import { Held, isHeld } from "./Held";
import { stops } from "./summary";
import { Undelivered } from "./Undelivered";
import { useDeed } from "./useDeed";
import { answerOf, deliveryOf, mayBeAnsweredLate, outcomeOf } from "./wording";

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
          <a {...linkToOne("escalation", escalation.id)}>{firstLine(escalation.title ?? escalation.text)}</a>
        </p>
        {children}
      </div>
      {action}
    </li>
  );
}

export function SnoozedRow({ escalation }: { escalation: Escalation }) {
  const deed = useDeed(escalation);
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
        <Session escalation={escalation} /> · until {formatMoment(until, new Date())}
        {stops(escalation) && <strong className="row-stops"> · its agent is stopped meanwhile</strong>}
      </p>
      <DeedState deed={deed} onRepeat={act} />
    </Row>
  );
}

export function SettledRow({ escalation }: { escalation: Escalation }) {
  const deed = useDeed(escalation);
  const act = (next: Deed) => !deed.isPending && deed.mutate(next);
  const { resolution } = escalation;
  const answer = resolution && answerOf(resolution, escalation.kind);
  const delivery = deliveryOf(escalation);
  const wasAnswered = resolution?.outcome === "answered" || resolution?.outcome === "default";
  const undelivered = escalation.delivery === "undelivered";
  const late = mayBeAnsweredLate(escalation);
  return (
    <Row
      escalation={escalation}
      icon={undelivered ? "warn" : wasAnswered ? "check" : resolution?.outcome === "expired" ? "hourglass" : "close"}
      {...(undelivered && { tone: "warn" })}
      action={<RowAction escalation={escalation} late={late} onDeed={act} />}
    >
      {answer && (
        <p className="row-answer" dir="auto">
          {plainText(answer)}
        </p>
      )}
      {undelivered && <Undelivered escalation={escalation} onDeed={act} />}
      <p className="row-note">
        <Session escalation={escalation} /> · {resolution ? outcomeOf(resolution, escalation.kind) : escalation.state}{" "}
        <Age since={resolution?.at ?? escalation.changed_at} ago />
        {delivery !== null && !isHeld(escalation) && ` · ${delivery}`} <Held escalation={escalation} />{" "}
        <ByRule resolution={resolution} />
      </p>
      <DeedState deed={deed} onRepeat={act} />
    </Row>
  );
}

function Session({ escalation }: { escalation: Escalation }) {
  const { session_id } = escalation;
  return <a {...linkToOne("session", session_id)}>{sessionName(session_id)}</a>;
}

interface ActionProps {
  escalation: Escalation;
  late: boolean;
  onDeed: (deed: Deed) => void;
}

function RowAction({ escalation, late, onDeed }: ActionProps) {
  if (late)
    return (
      <a className="quiet" {...linkToOne("escalation", escalation.id)}>
        Answer late…
      </a>
    );
  const held = isHeld(escalation) && !escalation.late;
  if (escalation.resolution?.by !== "pane" && !held) return null;
  return (
    <button type="button" className="quiet" onClick={() => onDeed(deeds.reopen())}>
      <Icon name="undo" /> {held ? "Undo" : "Re-open"}
    </button>
  );
}
