/** The floor in words: the sentence at its top, what waits, what a session does. Pure. */
import type { Floor, FloorWaiting, Session } from "../api/types";
import type { OneOfName, RouteName } from "../app/routes";

export interface Need {
  name: string;
  many: number;
  label: string;
  /** Where all of them are. */
  route: RouteName;
  /** Since when the oldest waits, and where that one is if it has a place of its own. */
  oldest: string | null;
  one: { what: OneOfName; id: string } | null;
  tone?: "hot" | "warn";
  /** It is counted among the others already. */
  isPart?: true;
}

const said = (many: number, one: string, several: string) => `${many.toLocaleString("en")} ${many === 1 ? one : several}`;

/** What wants the operator, the most urgent first; only what there is. `unseen`: assumptions that are new here. */
export function needsOf(needs: Floor["needs"], unseen = 0): Need[] {
  const all: Need[] = [
    { ...of("blocking", needs.blocking, "escalation"), label: "blocking", route: "inbox", tone: "hot" },
    { ...of("advisory", needs.advisory, "escalation"), label: "advisory", route: "inbox" },
    { ...of("approvals", needs.approvals, "escalation"), label: "to approve", route: "inbox", isPart: true },
    { ...of("proposed", needs.proposed, "escalation"), label: "to confirm", route: "inbox", isPart: true },
    { ...of("undelivered", needs.undelivered, "escalation"), label: "not delivered", route: "inbox", tone: "warn" },
    { ...of("plans", needs.plans, "team"), label: needs.plans.many === 1 ? "plan to start" : "plans to start", route: "teams" },
    { ...of("advice", needs.advice, "consult"), label: "with advice", route: "coach" },
    { ...of("memories", needs.memories, null), label: "to remember", route: "memory" },
    {
      name: "assumptions",
      many: unseen,
      label: unseen === 1 ? "new assumption" : "new assumptions",
      route: "assumptions",
      oldest: null,
      one: null,
    },
  ];
  return all.filter(({ many }) => many > 0);
}

function of(name: string, { many, oldest_at: oldest, oldest_id: id }: FloorWaiting, what: OneOfName | null) {
  return { name, many, oldest, one: what === null || id === null ? null : { what, id } };
}

/** Who is stopped, what runs and what is ready, as one would say it on coming in. */
export function summaryOf({ needs, running, teams, ready }: Floor): string {
  const { blocking, advisory } = needs;
  const asks = [
    blocking.many > 0 && `${said(blocking.many, "ask stops", "asks stop")} an agent`,
    advisory.many > 0 && `${said(advisory.many, "can", "can")} wait`,
  ].filter((part) => part !== false);
  const first = asks.length === 0 ? "Nobody waits for you" : asks.join(", ");
  const atWork = running.total === 0 ? "no agent is at work" : said(running.total, "agent is at work", "agents are at work");
  const runs = teams.total === 0 ? [] : [said(teams.total, "team run is open", "team runs are open")];
  const next = ready.total === 0 ? "nothing is ready" : `${ready.more ? "more than " : ""}${said(ready.total, "item is ready", "items are ready")}`;
  return `${first}; ${[atWork, ...runs, next].join(", ")}.`;
}

/** What a session does, as far as anybody has said: its task, its own words, the item that it is at. */
export function doesOf(session: Pick<Session, "run" | "note" | "bead_id">, titles: Readonly<Record<string, string>>): string {
  const title = session.run?.title ?? "";
  if (title !== "") return title;
  if (session.note !== null && session.note !== "") return session.note;
  return session.bead_id === null ? "" : (titles[session.bead_id] ?? session.bead_id);
}

/** How a session is in one word: what it says of itself, or what is known of it. */
export function stateOf({ lifecycle, reported_state: says, needs_you: needs }: Session): { word: string; tone: string } {
  if (lifecycle === "starting") return { word: "starting", tone: "warn" };
  const word = says === null ? "running" : says.replace("-", " ");
  if (needs || says === "stalled") return { word, tone: "hot" };
  return { word, tone: says === "ready" || says === "bead-done" ? "plain" : "good" };
}

/** How far along something is, from 0 to 1; what is past its end is at its end. */
export function shareOf(taken: number, most: number): number {
  return most <= 0 ? 0 : Math.min(1, Math.max(0, taken / most));
}

const RATES = { turns_per_hour: "Turns within the hour", tokens_per_hour: "Tokens within the hour" } as const;

export function rateLabel(name: keyof typeof RATES): string {
  return RATES[name];
}

/** What the little bars show, for those who do not see them. */
export function sparkWords(days: readonly { day: string; tokens: number }[]): string {
  const most = days.reduce((best, each) => (each.tokens > best.tokens ? each : best), { day: "", tokens: 0 });
  if (most.tokens === 0) return `No tokens in ${days.length} days`;
  return `Tokens in ${days.length} days, the most on ${most.day}: ${most.tokens.toLocaleString("en")}`;
}
