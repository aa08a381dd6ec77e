/** The inbox: who waits for the operator, most urgent first, kept still while it is read. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { isActive } from "../api/escalation-list";
import { settledQuery, unresolvedQuery } from "../api/queries";
import type { Escalation, EscalationList } from "../api/types";
import { linkTo } from "../app/routes";
import { cardById, focusCard } from "../ui/card-focus";
import { ReadError, Skeletons } from "../ui/Notice";
import { useCardKeys } from "../ui/useCardKeys";
import { onTakenBack } from "../undo/undo";
import { WalkOffer } from "../walk/WalkOffer";
import { arm } from "./armed";
import { BulkBar } from "./BulkBar";
import { EmptyInbox } from "./EmptyInbox";
import { Fold } from "./Fold";
import { groupsOf, type Group } from "./grouping";
import { NewPill } from "./NewPill";
import { SettledRow, SnoozedRow } from "./Rows";
import { Section } from "./Section";
import { select, selectNothing, useSelection } from "./selection";
import { stops, summaryOf } from "./summary";
import { useArrangement } from "./useArrangement";
import { mayBeAnsweredLate } from "./wording";

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
  const { groups, setApart } = useGroups(active);
  const wanted = useMemo(() => (inbox.data ? groups.map(({ head }) => head.id) : null), [groups, inbox.data]);
  const { shown, held, below, goToNew, release, putBelow } = useArrangement(wanted);
  const arrivals = [...held, ...below.filter((id) => byId.get(id)?.state === "open")];
  const othersOf = useMemo(() => new Map(groups.map(({ head, others }) => [head.id, others])), [groups]);
  const chosen = useChosen(active);
  useReturn(active, goToNew);

  // By the newest word on the groups: a card goes when its animation is over, which is later than it was settled.
  const latest = useRef({ byId, groups });
  useEffect(() => void (latest.current = { byId, groups }), [byId, groups]);
  const onRelease = useCallback(
    (id: string) => {
      const { byId, groups } = latest.current;
      const gone = byId.get(id);
      const heir = groups.find(
        ({ head }) => gone && head.id !== id && head.group_id === gone.group_id && head.urgency === gone.urgency,
      );
      release(id, heir?.head.id);
    },
    [release],
  );
  const onApart = useCallback(
    (id: string) => {
      const { groups } = latest.current;
      const group = groups.find(({ head, others }) => head.id === id || others.some((one) => one.id === id));
      if (group === undefined) return;
      // The card that it leaves keeps its place; when it is that card's own, the next one has the place below.
      const moved = group.head.id === id ? (group.others[0]?.id ?? id) : id;
      flushSync(() => {
        setApart(id);
        putBelow(moved, group.head.id);
      });
      const card = cardById(id);
      if (card) focusCard(card);
    },
    [setApart, putBelow],
  );
  const goToArrivals = () => goToNew(arrivals);
  useCardKeys({ goToArrivals, select: selectCard, arm: armCard });

  const known = (ids: readonly string[]) => ids.map((id) => byId.get(id)).filter((one) => one !== undefined);
  const cards = known(shown);
  const snoozed = unresolved.filter((one) => one.state === "snoozed");
  const stopped = snoozed.filter(stops).length;
  const onCards = new Set(shown);
  const rows = settled.filter((one) => !onCards.has(one.id));
  const undelivered = rows.filter((one) => one.delivery === "undelivered");
  const expired = rows.filter((one) => one.delivery !== "undelivered" && mayBeAnsweredLate(one));
  const delivered = rows.filter((one) => one.delivery !== "undelivered" && !mayBeAnsweredLate(one));
  const unread = (inbox.data?.total ?? 0) - unresolved.length;

  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Inbox</h1>
        {(cards.length > 0 || stopped > 0) && <p>{summaryOf(active, undelivered.length, snoozed)}</p>}
        <WalkOffer />
      </header>
      <NewPill arrivals={known(arrivals)} onGo={goToArrivals} />
      {inbox.isPending && <Skeletons count={4} label="Reading the inbox" />}
      {inbox.isError && inbox.data === undefined && (
        <ReadError what="The inbox" error={inbox.error} onRetry={() => void inbox.refetch()} />
      )}
      {inbox.isSuccess && cards.length === 0 && held.length === 0 && stopped === 0 && <EmptyInbox />}
      {(["Blocking", "Advisory"] as const).map((title) => (
        <Section
          key={title}
          title={title}
          cards={cards.filter((one) => one.urgency === title.toLowerCase())}
          othersOf={(id) => othersOf.get(id)}
          onRelease={onRelease}
          onApart={onApart}
        />
      ))}
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
      <Fold title="Snoozed" count={snoozed.length} note={stopped > 0 ? stopsWords(stopped) : ""}>
        {snoozed.map((one) => (
          <SnoozedRow key={one.id} escalation={one} />
        ))}
      </Fold>
      <Fold title="Time ran out" count={expired.length}>
        {expired.map((one) => (
          <SettledRow key={one.id} escalation={one} />
        ))}
      </Fold>
      <Fold title="Recently resolved" count={delivered.length}>
        {delivered.map((one) => (
          <SettledRow key={one.id} escalation={one} />
        ))}
      </Fold>
      {settled.length > 0 && (
        <p className="more">
          <a {...linkTo("answered")}>Search all that was answered</a>
        </p>
      )}
      {chosen.length > 0 && <BulkBar chosen={chosen} onRelease={release} />}
    </>
  );
}

/** A card with all that it stands for, unless it is settled or is not answered along with others. */
function selectCard(card: HTMLElement): void {
  const { settled, ids } = card.dataset;
  if (settled === undefined && card.querySelector("[aria-pressed]")) select(ids?.split(" ") ?? []);
}

const stopsWords = (many: number) => (many === 1 ? "1 stops its agent" : `${many} stop their agents`);

function armCard(card: HTMLElement, digit: number): void {
  const id = card.dataset["escalationId"];
  if (id !== undefined) arm(id, digit);
}

/** The waiting ones as cards: like questions together, but for those that the operator wants to answer by themselves. */
function useGroups(active: Escalation[]): { groups: Group[]; setApart: (id: string) => void } {
  const [apart, setApart] = useState<ReadonlySet<string>>(new Set());
  const before = useRef<Group[]>([]);
  const groups = useMemo(() => groupsOf(active, apart, before.current), [active, apart]);
  useEffect(() => void (before.current = groups), [groups]);
  const add = useCallback((id: string) => setApart((old) => new Set([...old, id])), []);
  return { groups, setApart: add };
}

/** What was taken back stands in the inbox again at once: whoever undid it wants to see it. */
function useReturn(active: Escalation[], goToNew: (ids: readonly string[]) => void): void {
  const [returning, setReturning] = useState<string[]>([]);
  useEffect(() => onTakenBack(setReturning), []);
  useEffect(() => {
    const waiting = new Set(active.map((one) => one.id));
    if (returning.length === 0 || !returning.every((id) => waiting.has(id))) return;
    // After this rendering, which has just brought them into the list.
    const timer = setTimeout(() => {
      goToNew(returning);
      setReturning([]);
    });
    return () => clearTimeout(timer);
  }, [returning, active, goToNew]);
}

/** Those that are selected and still wait. Whoever leaves the screen leaves the selection behind. */
function useChosen(active: Escalation[]): Escalation[] {
  const selection = useSelection();
  useEffect(() => selectNothing, []);
  return active.filter((one) => selection.has(one.id));
}
