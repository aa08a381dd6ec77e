/** The inbox: who waits for the operator, most urgent first, kept still while it is read. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { isActive } from "../api/escalation-list";
import { settledQuery, unresolvedQuery } from "../api/queries";
import type { Escalation, EscalationList } from "../api/types";
import { ReadError, Skeletons } from "../ui/Notice";
import { useCardKeys } from "../ui/useCardKeys";
import { EmptyInbox } from "./EmptyInbox";
import { Fold } from "./Fold";
import { NewPill } from "./NewPill";
import { SettledRow, SnoozedRow } from "./Rows";
import { Section } from "./Section";
import { summaryOf } from "./summary";
import { useArrangement } from "./useArrangement";

const NONE: Escalation[] = [];

/** A commit has no event: whether the code moved since an ask is looked up again now and then while somebody looks. */
const whileCodeMayMove = ({ state }: { state: { data?: EscalationList | undefined } }) =>
  state.data?.escalations.some(({ commit }) => commit !== null) ? 60_000 : false;

export function InboxScreen() {
  const inbox = useQuery({ ...unresolvedQuery, refetchInterval: whileCodeMayMove });
  const recent = useQuery(settledQuery);
  const unresolved = inbox.data?.escalations ?? NONE;
  const settled = recent.data?.escalations ?? NONE;

  const byId = useMemo(() => new Map([...settled, ...unresolved].map((one) => [one.id, one])), [settled, unresolved]);
  const active = useMemo(() => unresolved.filter(isActive), [unresolved]);
  const wanted = useMemo(() => (inbox.data ? active.map((one) => one.id) : null), [active, inbox.data]);
  const { shown, held, below, goToNew, release } = useArrangement(wanted);
  const arrivals = [...held, ...below.filter((id) => byId.get(id)?.state === "open")];
  const goToArrivals = () => goToNew(arrivals);
  useCardKeys(goToArrivals);

  const known = (ids: readonly string[]) => ids.map((id) => byId.get(id)).filter((one) => one !== undefined);
  const cards = known(shown);
  const snoozed = unresolved.filter((one) => one.state === "snoozed");
  const onCards = new Set(shown);
  const rows = settled.filter((one) => !onCards.has(one.id));
  const undelivered = rows.filter((one) => one.delivery === "undelivered");
  const delivered = rows.filter((one) => one.delivery !== "undelivered");
  const unread = (inbox.data?.total ?? 0) - unresolved.length;

  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Inbox</h1>
        {cards.length > 0 && <p>{summaryOf(active, undelivered.length)}</p>}
      </header>
      <NewPill arrivals={known(arrivals)} onGo={goToArrivals} />
      {inbox.isPending && <Skeletons count={4} label="Reading the inbox" />}
      {inbox.isError && inbox.data === undefined && (
        <ReadError what="The inbox" error={inbox.error} onRetry={() => void inbox.refetch()} />
      )}
      {inbox.isSuccess && cards.length === 0 && held.length === 0 && <EmptyInbox />}
      <Section title="Blocking" escalations={cards.filter((one) => one.urgency === "blocking")} onRelease={release} />
      <Section title="Advisory" escalations={cards.filter((one) => one.urgency === "advisory")} onRelease={release} />
      {unread > 0 && <p className="more">{unread.toLocaleString()} more move up as you answer these.</p>}
      {undelivered.length > 0 && (
        <section className="section" aria-labelledby="section-undelivered">
          <h2 id="section-undelivered" className="section-title">
            Not delivered
            <span className="section-hint">answered, but the agent has not got it</span>
          </h2>
          <ul className="rows">
            {undelivered.map((one) => (
              <SettledRow key={one.id} escalation={one} />
            ))}
          </ul>
        </section>
      )}
      <Fold title="Snoozed" count={snoozed.length}>
        {snoozed.map((one) => (
          <SnoozedRow key={one.id} escalation={one} />
        ))}
      </Fold>
      <Fold title="Recently resolved" count={delivered.length}>
        {delivered.map((one) => (
          <SettledRow key={one.id} escalation={one} />
        ))}
      </Fold>
    </>
  );
}
