/** One consult, live: how it stands, its lines as they come, what can be applied of them, what it was told. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { consultQuery } from "../api/consult-queries";
import { personasQuery } from "../api/persona-queries";
import type { Consult } from "../api/types";
import { Age } from "../ui/Age";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";
import { Words } from "../ui/Words";
import { Mark } from "../handoffs/Mark";
import { Deeds } from "./Deeds";
import { Lines } from "./Lines";
import { Prompt } from "./Prompt";
import { useApplying } from "./useApplying";
import { useRowKeys } from "./useRowKeys";
import { answeredBy, isApplicable, skillOf, STATUSES, stoodIn, usageOf } from "./wording";

interface Props {
  id: string;
  /** Its keys work wherever the focus is on the screen. */
  everywhere?: boolean;
  /** Of its heading: below that of what it stands in. */
  level?: 2 | 3;
}

export function ConsultView({ id, everywhere = false, level = 2 }: Props) {
  const { data: consult, isPending, isError, error, refetch } = useQuery(consultQuery(id));
  const place = useRef<HTMLDivElement>(null);
  const onKeyDown = useRowKeys(place, everywhere);
  return (
    <div ref={place} className="consult" data-consult={id} onKeyDown={onKeyDown}>
      {isPending && <Skeletons count={2} label="Reading the consult" />}
      {isError && consult === undefined && (
        <ReadError what="The consult" home="coach" error={error} onRetry={() => void refetch()} />
      )}
      {consult && <Whole consult={consult} level={level} />}
    </div>
  );
}

function Whole({ consult, level }: { consult: Consult; level: 2 | 3 }) {
  const applying = useApplying(consult.id);
  useAnnounceEnd(consult);
  return (
    <>
      <Head consult={consult} level={level} />
      <Trouble consult={consult} />
      <Deeds consult={consult} applying={applying} />
      <Lines consult={consult} applying={applying} isOpen={isApplicable(consult.status)} />
      <OrderErrors consult={consult} />
      <Prompt composed={consult.composed} id={consult.id} />
    </>
  );
}

/** To those who do not see it end. */
function useAnnounceEnd({ status, line_count: many }: Consult): void {
  const before = useRef(status);
  useEffect(() => {
    if (before.current === "running" && status !== "running")
      announce(`The consult is ${STATUSES[status].label.toLowerCase()}, with ${many} lines`);
    before.current = status;
  }, [status, many]);
}

function Head({ consult, level }: { consult: Consult; level: 2 | 3 }) {
  const personas = useQuery(personasQuery).data?.personas;
  const persona = personas?.find(({ id }) => id === consult.persona_id)?.name ?? consult.persona_id;
  const Heading = level === 2 ? "h2" : "h3";
  const usage = usageOf(consult);
  return (
    <header className="consult-head">
      <Heading className="consult-title" tabIndex={-1}>
        {skillOf(consult.skill_id)} <span className="consult-by">by {plainText(persona)}</span>
      </Heading>
      <p className="card-head">
        <Mark look={STATUSES[consult.status]} />
        <span>answered by {answeredBy(consult)}</span>
        <span className="age">
          <Age since={consult.started_at} ago />
        </span>
      </p>
      {usage.length > 0 && <p className="card-hint">{usage.join(" · ")}</p>}
      <Guidance consult={consult} />
    </header>
  );
}

/** What the operator asked, where they wrote something. */
function Guidance({ consult }: { consult: Consult }) {
  const { guidance, raw_input: input } = consult.raw_request as { guidance?: unknown; raw_input?: { question?: unknown } };
  const words = typeof input?.question === "string" ? input.question : guidance;
  if (typeof words !== "string" || words === "") return null;
  return (
    <blockquote className="words consult-asked" dir="auto">
      <Words text={words} />
    </blockquote>
  );
}

function Trouble({ consult }: { consult: Consult }) {
  const why = stoodIn(consult);
  if (why !== null)
    return (
      <p className="mark" data-tone="warn">
        <Icon name="warn" />
        <span>The built-in advisor answered instead: {why}.</span>
      </p>
    );
  if (consult.error === null) return null;
  return (
    <p className="mark" data-tone={consult.status === "failed" || consult.status === "timed_out" ? "bad" : "warn"}>
      <Icon name="warn" />
      <span className="words">{plainText(consult.error)}</span>
    </p>
  );
}

/** What is wrong with the whole. */
function OrderErrors({ consult }: { consult: Consult }) {
  if (consult.order_errors.length === 0) return null;
  return (
    <section className="consult-part" aria-label="What is wrong with the whole">
      <ul>
        {consult.order_errors.map(({ rule, reason }, place) => (
          <li key={place} className="mark" data-tone="bad">
            <Icon name="refused" />
            <span>
              <code>{plainText(rule)}</code> {plainText(reason)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
