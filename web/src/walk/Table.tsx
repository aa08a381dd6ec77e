/** What is on the table: what it is, what the PM says of it and proposes, what can be decided, what was said. */
import { useLayoutEffect, useRef } from "react";
import type { AgendaItem, Escalation, Walk } from "../api/types";
import { takeBack } from "../api/walk-deeds";
import { linkTo, linkToOne, linkToTask } from "../app/routes";
import { Plan, usePlan } from "../approvals/Plan";
import { Mark } from "../handoffs/Mark";
import { Age, useWords } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { sessionName } from "../ui/session-name";
import { Words } from "../ui/Words";
import { canTakeBack } from "./agenda";
import { Conversation } from "./Conversation";
import { Decisions } from "./Decisions";
import { NothingLeft } from "./NothingLeft";
import { useEscalations } from "./useEscalations";
import type { WalkDeeds } from "./useWalkDeed";
import { useWalkKey } from "./useWalkKey";
import { doneOf, sourceOf, withoutTopic } from "./wording";

interface Props {
  walk: Walk;
  item: AgendaItem | null;
  /** It is the one on the table, not one that is looked at beside it. */
  isActive: boolean;
  deeds: WalkDeeds;
  onBack: () => void;
}

export function Table({ walk, item, isActive, deeds, onBack }: Props) {
  const table = useRef<HTMLElement>(null);
  const id = item?.id ?? null;
  // Whoever decides stays where they are: the next one comes to them.
  useLayoutEffect(() => {
    const own = table.current;
    if (own === null) return;
    if (document.activeElement === document.body) own.focus({ preventScroll: true });
    if (own.getBoundingClientRect().top < 0) own.scrollIntoView({ block: "start" });
  }, [id]);
  return (
    <>
      <section
        ref={table}
        className="card walk-table"
        tabIndex={-1}
        aria-labelledby="walk-topic"
        data-urgent={(item !== null && item.priority === 0 && isActive) || undefined}
      >
        {item === null ? (
          <NothingLeft walk={walk} deeds={deeds} />
        ) : (
          <>
            <Head item={item} />
            <Framed item={item} isActive={isActive} />
            {isActive ? (
              <Decisions walk={walk} item={item} deeds={deeds} table={table} />
            ) : (
              <Looked walk={walk} item={item} deeds={deeds} onBack={onBack} />
            )}
          </>
        )}
      </section>
      {item !== null && <Conversation walk={walk} item={item} {...(isActive && { deeds })} />}
    </>
  );
}

function Head({ item }: { item: AgendaItem }) {
  const { kind, ref, worker } = item.source;
  const { label, icon } = sourceOf(item.source, useEscalations().get(ref));
  const [run = "", task = ""] = ref.split("/");
  return (
    <header>
      <p className="card-head">
        <span className="kind">
          <Icon name={icon} />
          {label}
        </span>
        {worker !== null && <span className="walk-worker">{sessionName(worker)}</span>}
        {kind === "escalation" && <a {...linkToOne("escalation", ref)}>As it was asked</a>}
        {kind === "session" && <a {...linkToOne("session", ref)}>The session</a>}
        {kind === "memory" && <a {...linkTo("memory")}>All suggestions</a>}
        {kind === "team_task" && <a {...linkToTask(run, task)}>The task</a>}
        {(kind === "filed" || kind === "closed" || kind === "item") && <a {...linkToOne("item", ref)}>The item</a>}
        <span className="age">
          <Age since={item.since} />
        </span>
      </p>
      <h2 id="walk-topic" className="walk-topic" dir="auto">
        <Words text={item.topic} />
      </h2>
    </header>
  );
}

/** What the PM says; of a command to approve, the command itself to the letter. */
function Framed({ item, isActive }: { item: AgendaItem; isActive: boolean }) {
  const escalation = useEscalations().get(item.source.ref);
  const { framing } = item;
  if (framing === null)
    return isActive ? (
      <p className="card-hint walk-framing-comes" role="status">
        The PM puts it into words…
      </p>
    ) : null;
  const isCommand = escalation?.kind === "approval";
  const sentence = withoutTopic(framing.sentence, item.topic);
  return (
    <div className="walk-framing">
      <p className="words walk-sentence" dir="auto">
        <Words text={sentence} />
      </p>
      {isCommand && escalation !== undefined ? (
        <Sealed escalation={escalation} />
      ) : (
        framing.summary !== "" && (
          <p className="words walk-about" dir="auto">
            <Words text={framing.summary} />
          </p>
        )
      )}
    </div>
  );
}

function Sealed({ escalation }: { escalation: Escalation }) {
  return <Plan plan={usePlan(escalation)} settled={false} />;
}

/** One that was decided, put off or settled elsewhere. */
function Looked({ walk, item, deeds, onBack }: Omit<Props, "isActive" | "item"> & { item: AgendaItem }) {
  const { decision, settled } = item;
  const hasTable = walk.active_item !== null;
  const isOpen = walk.status === "active" && decision !== null && item.status !== "dismissed";
  const mayGoBack = useWords((now) => String(canTakeBack(item, now))) === "true";

  function undo(): void {
    deeds.act({
      run: (confirmId) => takeBack(walk.id, item.id, confirmId),
      said: `Taken back: ${plainText(item.topic)}`,
      then: onBack,
    });
  }

  useWalkKey((key) => {
    if (key === "Escape") onBack();
    return key === "Escape";
  });
  return (
    <div className="walk-decided">
      {decision !== null && (
        <p className="card-head">
          <Mark look={doneOf(decision)} />
          <span>
            by {plainText(decision.by)} <Age since={decision.at} ago />
          </span>
          {decision.persona_id != null && <span>to {plainText(decision.persona_id)}</span>}
        </p>
      )}
      {decision?.action != null && (
        <p className="words" dir="auto">
          <Words text={decision.action.label} />
        </p>
      )}
      {decision !== null && decision.rationale !== "" && (
        <blockquote className="words consult-asked" dir="auto">
          <Words text={decision.rationale} />
        </blockquote>
      )}
      {(settled !== null || item.status === "dismissed") && (
        <p className="mark" data-tone="warn">
          <Icon name="stamp" />
          <span>Settled elsewhere{settled !== null && `: ${plainText(settled)}`}.</span>
        </p>
      )}
      <div className="bar">
        <button type="button" className="button" onClick={onBack}>
          {hasTable ? "Back to the table" : "Back"}
        </button>
        {isOpen && mayGoBack && (
          <button type="button" className="quiet" onClick={undo}>
            <Icon name="undo" /> Take it back
          </button>
        )}
        {isOpen && !mayGoBack && <span className="card-hint">It was done, and cannot be taken back.</span>}
      </div>
    </div>
  );
}
