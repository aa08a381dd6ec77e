/**
 * Events → cache. An event names what changed; the page reads that one thing and puts it in its place. A burst becomes
 * one read of the list. Started by main.tsx; keeps no copy of anything.
 */
import { approvalHistoryQuery, approvalsOfQuery } from "../api/approval-queries";
import {
  ASKED,
  assumptionsQuery,
  CONTEXT,
  doctorQuery,
  MEMORIES,
  placeEscalations,
  queryClient,
  readEscalation,
  refresh,
  rulesQuery,
  sessionsQuery,
  unresolvedQuery,
} from "../api/queries";
import { consultQuery, consultsQuery, PERSPECTIVES } from "../api/consult-queries";
import { AUTO } from "../api/auto-queries";
import { FLOOR } from "../api/floor-queries";
import { HANDED } from "../api/handoff-queries";
import { BACKLOG } from "../api/refine-queries";
import { PERSONAS, PHASES, RECORD } from "../api/persona-queries";
import { SETTINGS } from "../api/setting-queries";
import { PLANNING } from "../api/planning-queries";
import { HELD, INSIGHTS, SPRINTS } from "../api/sprint-queries";
import { followTeams, TEAMS } from "../api/team-queries";
import { inputQuery, inputsQuery, transcriptQuery, worktreeQuery, type InputNews } from "../api/session-queries";
import { currentToken, onTokenChange } from "../api/token";
import { settlesAgenda, walkQuery, WALKS, walksQuery } from "../api/walk-queries";
import type { ServerEvent } from "../api/types";
import { announce } from "../ui/announce";
import { plainText } from "../ui/plain-text";
import { coalesce } from "./coalesce";
import { closeLine, currentConnection, onConnectionChange, openLine } from "./line";
import type { Message } from "./sse-parser";
import type { WorkNews } from "./work-news";
import { followWork } from "./work-sync";

const BURST_WINDOW = 60;
/** From here on one read of the list is cheaper than many of single escalations. */
const MANY = 6;
const SIDE_WINDOW = 1_000;
const TEAM_WINDOW = 120;
const FLOOR_WINDOW = 400;
/** What something on the floor depends on. */
const ON_THE_FLOOR =
  /^(escalation|session|user_message|run\.|memory|item|sprint|usage_reported|phase|consult|auto\.switched|team\.(?!message|learned))/;
/** Whoever decides has the answer at once; a second tab may follow in a moment. */
const WALK_WINDOW = 250;
const RUN_EVENTS = new Set([
  ...["input.wanted", "input.changed", "session_transition", "run.ended", "turn_ended"],
  ...["worktree.changed", "worktree.released", "transcript.removed"],
]);

const changedEscalations = coalesce<string>(BURST_WINDOW, async (ids) => {
  if (ids.size > MANY) await refresh(["escalations"]);
  else await readAndPlace([...ids]);
});

/** Each card reads again what it asks about; a plan may have been edited while somebody looks at it. */
const changedPlans = coalesce<string>(BURST_WINDOW, async (ids) => {
  await Promise.all([...ids].map((id) => refresh(approvalsOfQuery(id).queryKey)));
});

/** What was typed shows at once, and so does how it ended; what it shows in between is read by time. */
const changedRuns = coalesce<string>(BURST_WINDOW, async (ids) => {
  const keys = [...ids].flatMap((id) =>
    [transcriptQuery(id, true), worktreeQuery(id, true), inputsQuery(id)].map(({ queryKey }) => queryKey),
  );
  await Promise.all(keys.map(refresh));
});

/** Lines show as they come. */
const changedConsults = coalesce<string>(BURST_WINDOW, async (ids) => {
  await Promise.all([PERSPECTIVES, ...[...ids].map((id) => consultQuery(id).queryKey)].map(refresh));
});

/** By event and what it is of: a run of many tasks is read once for all that changed meanwhile. */
const changedTeams = coalesce<string>(TEAM_WINDOW, async (news) => {
  await followTeams([...news]);
});

/** Two tabs stay in step, and what was settled elsewhere shows so. An empty id stands for whichever is shown. */
const changedWalks = coalesce<string>(WALK_WINDOW, async (ids) => {
  const keys = ids.has("") ? [[...WALKS, "one"]] : [...ids].map((id) => walkQuery(id).queryKey);
  await Promise.all(keys.map(refresh));
});

const changedSides = coalesce<readonly unknown[]>(SIDE_WINDOW, async (keys) => {
  await Promise.all([...keys].map(refresh));
});

/** One read for all that happened meanwhile, and only while somebody looks at it. */
const changedFloor = coalesce<readonly unknown[]>(FLOOR_WINDOW, async (keys) => {
  await Promise.all([...keys].map(refresh));
});

/** Together, so that those that came together find their places among each other before they are shown. */
async function readAndPlace(ids: string[]): Promise<void> {
  try {
    const escalations = await Promise.all(ids.map((id) => readEscalation(id)));
    placeEscalations(escalations);
  } catch {
    // Whatever went wrong with the one is healed by reading the lists.
    await refresh(["escalations"]);
  }
}

function apply(message: Message): void {
  if (message.event === "gap") {
    void queryClient.invalidateQueries();
    return;
  }
  if (ON_THE_FLOOR.test(message.event)) changedFloor(FLOOR);
  const { ref, session_id, payload } = JSON.parse(message.data) as ServerEvent;
  if (message.event === "escalation.reminded") announce(`Reminder: ${plainText(session_id ?? "an agent")} still waits`);
  if (/^(auto|item|run|dispatch)\.|^session/.test(message.event)) changedSides(AUTO);
  if (settlesAgenda(message.event)) changedWalks("");
  if (message.event.startsWith("escalation")) {
    changedSides(walksQuery.queryKey);
    if (ref !== null) changedEscalations(ref);
    changedSides(sessionsQuery.queryKey);
    changedSides(ASKED);
    changedSides(INSIGHTS);
    // An ask that a rule answered counts as one more use of it.
    if (message.event === "escalation.resolved") changedSides(rulesQuery.queryKey);
  } else if (message.event.startsWith("handoff") || message.event.startsWith("dispatch")) {
    changedSides(HANDED);
    changedSides(INSIGHTS);
  } else if (message.event.startsWith("approval")) {
    changedPlans((payload as { escalation_id: string }).escalation_id);
    changedSides(approvalHistoryQuery.queryKey);
  } else if (message.event.startsWith("item")) {
    changedSides(PLANNING);
    changedSides(BACKLOG);
    followWork(ref, payload as WorkNews);
    // What is finished is what burns down, and what rankings are compared with.
    changedSides(SPRINTS);
    changedSides(RECORD);
  } else if (message.event.startsWith("consult")) {
    if (ref !== null) changedConsults(ref);
    changedSides(consultsQuery.queryKey);
    changedSides(PERSONAS);
    changedSides(RECORD);
  } else if (message.event.startsWith("phase") || message.event.startsWith("purview")) {
    changedSides(PHASES);
  } else if (message.event.startsWith("sprint")) {
    changedSides(SPRINTS);
    changedSides(HELD);
  } else if (message.event.startsWith("team.")) {
    if (ref !== null) changedTeams(`${message.event} ${ref}`);
    if (message.event !== "team.message") changedSides([...TEAMS, "list"]);
  } else if (message.event.startsWith("walk.")) {
    if (ref !== null) changedWalks(ref);
    changedSides(walksQuery.queryKey);
  } else if (message.event.startsWith("audit")) {
    changedSides(doctorQuery.queryKey);
  } else if (message.event.startsWith("rule")) {
    changedSides(rulesQuery.queryKey);
  } else if (message.event.startsWith("context")) {
    changedSides(CONTEXT);
  } else if (message.event.startsWith("settings")) {
    changedSides(SETTINGS);
  } else if (message.event.startsWith("memory")) {
    changedSides(MEMORIES);
  } else if (message.event.startsWith("assumption")) {
    changedSides(assumptionsQuery.queryKey);
    changedSides(ASKED);
  } else if (message.event === "frame_dropped" || message.event === "unknown_hook") {
    changedSides(doctorQuery.queryKey);
  } else {
    if (message.event === "usage_reported") for (const key of [SPRINTS, HELD, INSIGHTS, TEAMS]) changedSides(key);
    if (message.event === "input.changed" && ref !== null)
      queryClient.setQueryData(inputQuery(ref).queryKey, payload as InputNews);
    if (session_id !== null && RUN_EVENTS.has(message.event)) changedRuns(session_id);
    changedSides(sessionsQuery.queryKey);
    // Who lives, and on what, decides what each should do next.
    if (message.event === "session_transition" || message.event === "session_state_reported") changedSides(PLANNING);
  }
}

/** Everything read so far is at least this old; the line takes up from here. */
function oldestRead(): number | null {
  const reads = queryClient
    .getQueryCache()
    .findAll()
    .map((query) => (query.state.data as { as_of?: number } | undefined)?.as_of)
    .filter((asOf) => asOf !== undefined);
  return reads.length > 0 ? Math.min(...reads) : null;
}

function startAnew(): void {
  closeLine({ phase: currentToken() === null ? "signed-out" : "connecting" });
  queryClient.clear();
}

/** Follows the token, the first list and the line's ups and downs from here on. */
export function keepInSync(): void {
  onTokenChange(startAnew);
  if (currentToken() === null) closeLine({ phase: "signed-out" });
  queryClient.getQueryCache().subscribe((change) => {
    if (change.type !== "updated" || change.query.queryKey.join() !== unresolvedQuery.queryKey.join()) return;
    const wasRead = change.action.type === "success" || change.action.type === "error";
    if (wasRead && currentToken() !== null) openLine(oldestRead(), apply);
  });
  onConnectionChange(() => {
    // What could not be read during an outage is read now; what could be is resumed by the line itself.
    if (currentConnection().phase !== "live") return;
    void queryClient.refetchQueries({ predicate: (query) => query.state.status === "error" });
  });
}
