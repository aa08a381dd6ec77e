/**
 * The screens and their addresses. A link is a real link; a plain click on it changes the screen without a reload. Those
 * in ROUTES stand in the navigation; each session, escalation, handoff, dispatch, consult, work item, team run and walk has an
 * address of its own, and each task of a run one below it.
 */
import { useSyncExternalStore, type MouseEvent } from "react";
import { flushSync } from "react-dom";

interface Route {
  path: string;
  title: string;
  /** After `g`; no two have the same. */
  key: string;
  group: GroupName;
}

/** How the navigation is grouped: what waits for the operator, what is planned, what happened, how it is set up. */
export const GROUPS = { waiting: "Waiting", plan: "Plan", record: "Record", setup: "Setup" } as const;

export type GroupName = keyof typeof GROUPS;

export const ROUTES = {
  floor: { path: "/", title: "Floor", key: "g", group: "waiting" },
  inbox: { path: "/inbox", title: "Inbox", key: "i", group: "waiting" },
  walks: { path: "/walk", title: "Walk", key: "x", group: "waiting" },
  sessions: { path: "/sessions", title: "Sessions", key: "s", group: "waiting" },
  assumptions: { path: "/assumptions", title: "Assumptions", key: "a", group: "waiting" },
  memory: { path: "/memory", title: "Memory", key: "m", group: "waiting" },
  board: { path: "/board", title: "Board", key: "b", group: "plan" },
  teams: { path: "/teams", title: "Teams", key: "k", group: "plan" },
  coach: { path: "/coach", title: "Coach", key: "o", group: "plan" },
  refine: { path: "/refine", title: "Refine", key: "e", group: "plan" },
  personas: { path: "/personas", title: "Personas", key: "l", group: "plan" },
  sprints: { path: "/sprints", title: "Sprints", key: "n", group: "plan" },
  answered: { path: "/answered", title: "Answered", key: "d", group: "record" },
  approvals: { path: "/approvals", title: "Approvals", key: "v", group: "record" },
  handoffs: { path: "/handoffs", title: "Handoffs", key: "f", group: "record" },
  dispatches: { path: "/dispatches", title: "Dispatches", key: "w", group: "record" },
  attention: { path: "/attention", title: "Attention", key: "t", group: "record" },
  insights: { path: "/insights", title: "Insights", key: "u", group: "record" },
  context: { path: "/context", title: "Context", key: "c", group: "setup" },
  rules: { path: "/rules", title: "Rules", key: "r", group: "setup" },
  policies: { path: "/policies", title: "Policies", key: "p", group: "setup" },
  settings: { path: "/settings", title: "Settings", key: ",", group: "setup" },
  health: { path: "/health", title: "Health", key: "h", group: "setup" },
} as const satisfies Record<string, Route>;

/** Screens that stand under another one: links lead to them. */
const WITHIN = {
  personaInsights: { path: "/insights/personas", title: "Personas in figures" },
} as const;

const ONE_OF = {
  session: "/sessions/",
  escalation: "/escalations/",
  handoff: "/handoffs/",
  dispatch: "/dispatches/",
  consult: "/consults/",
  item: "/items/",
  sprint: "/sprints/",
  team: "/teams/",
  walk: "/walk/",
} as const;

export type RouteName = keyof typeof ROUTES;
export type WithinName = keyof typeof WITHIN;
export type OneOfName = keyof typeof ONE_OF;

/** Where one is: a screen, one thing that has an address of its own, or nowhere. */
export type Place =
  | { name: RouteName | WithinName; title: string }
  | { name: OneOfName; title: string; id: string; part?: string }
  | { name: null; title: null };

const listeners = new Set<() => void>();

function tell(): void {
  for (const listener of listeners) listener();
}

addEventListener("popstate", tell);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function placeAt(pathname: string): Place {
  const path = pathname.replace(/(.)\/$/, "$1");
  for (const [name, route] of Object.entries(ROUTES))
    if (route.path === path) return { name: name as RouteName, title: route.title };
  for (const [name, route] of Object.entries(WITHIN))
    if (route.path === path) return { name: name as WithinName, title: route.title };
  for (const [name, prefix] of Object.entries(ONE_OF)) {
    const rest = path.startsWith(prefix) ? path.slice(prefix.length) : "";
    const cut = name === "team" ? rest.indexOf("/") : -1;
    const id = decoded(cut < 0 ? rest : rest.slice(0, cut));
    const part = cut < 0 ? "" : decoded(rest.slice(cut + 1));
    if (id !== "") return { name: name as OneOfName, title: part || id, id, ...(part !== "" && { part }) };
  }
  return { name: null, title: null };
}

/** What stands in the address, or nothing when it was typed wrongly. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** The place that the address names. */
export function usePlace(): Place {
  return placeAt(useSyncExternalStore(subscribe, () => location.pathname));
}

/** One parameter of the address, and a way to change it that leaves no trace in the history. */
export function useParameter(name: string): [value: string, set: (value: string) => void] {
  const value = useSyncExternalStore(subscribe, () => new URLSearchParams(location.search).get(name) ?? "");
  const set = (next: string) => {
    const parameters = new URLSearchParams(location.search);
    if (next === "") parameters.delete(name);
    else parameters.set(name, next);
    const search = parameters.toString();
    history.replaceState(history.state, "", location.pathname + (search && `?${search}`));
    tell();
  };
  return [value, set];
}

/** What an entry of the browser's history says of itself; nothing where the address was opened by itself. */
interface Visit {
  /** It was come to from within the page: there is something of ours to go back to. */
  within: true;
  /** The card that was opened from here. */
  card?: string;
  /** A task that was opened beside its run, which is one step back. */
  task?: true;
}

const currentVisit = () => history.state as Partial<Visit> | null;

function visit(path: string): void {
  if (location.pathname + location.search !== path) history.pushState({ within: true } satisfies Visit, "", path);
  tell();
  scrollTo(0, 0);
}

function focusHeading(): void {
  if (document.activeElement === document.body) document.querySelector<HTMLElement>("main h1")?.focus();
}

/** Before the screen of its own of a card is opened: whoever comes back finds it. */
export function rememberCard(id: string): void {
  history.replaceState({ ...currentVisit(), card: id }, "");
}

/** The card that was opened from here when one was here last. */
export function rememberedCard(): string | null {
  return currentVisit()?.card ?? null;
}

/** To where one came from; to `route` when the address was opened by itself. The focus goes along. */
export function goBack(route: RouteName): void {
  if (currentVisit()?.within) {
    addEventListener("popstate", () => requestAnimationFrame(focusHeading), { once: true });
    history.back();
  } else {
    flushSync(() => goTo(route));
    focusHeading();
  }
}

export function goTo(route: RouteName): void {
  visit(ROUTES[route].path);
}

/** To a screen that is asked by its address to begin something: see `useAskedFor`. */
export function goToBegin(route: RouteName, what: string): void {
  flushSync(() => visit(`${ROUTES[route].path}?begin=${encodeURIComponent(what.toWellFormed())}`));
}

/** By its key or by name, to a screen; the focus goes along: screen readers say where one is. */
export function goToScreen(route: RouteName | WithinName): void {
  flushSync(() => visit(route in ROUTES ? ROUTES[route as RouteName].path : WITHIN[route as WithinName].path));
  document.querySelector<HTMLElement>("main h1")?.focus();
}

/** To the screen of one thing by its name, wherever the focus was. */
export function openOne(what: OneOfName, id: string): void {
  flushSync(() => visit(pathOfOne(what, id)));
  document.querySelector<HTMLElement>("main h1")?.focus();
}

/** To the personas, with this one brought into view. */
export function goToPersona(id: string): void {
  flushSync(() => visit(`${ROUTES.personas.path}?persona=${encodeURIComponent(id.toWellFormed())}`));
}

export const isRoute = (name: string): name is RouteName => Object.hasOwn(ROUTES, name);
export const isWithin = (name: string): name is WithinName => Object.hasOwn(WITHIN, name);
export const isOneOf = (name: string): name is OneOfName => Object.hasOwn(ONE_OF, name);

/** To the screen of something that was just made; the focus goes along. */
export function goToOne(what: OneOfName, id: string): void {
  flushSync(() => visit(pathOfOne(what, id)));
  focusHeading();
}

function pathOfOne(what: OneOfName, id: string): string {
  return ONE_OF[what] + encodeURIComponent(id.toWellFormed());
}

function isPlain(event: MouseEvent): boolean {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}

function link(path: string) {
  return {
    href: path,
    onClick: (event: MouseEvent) => {
      if (!isPlain(event)) return;
      event.preventDefault();
      flushSync(() => visit(path));
      // A link inside a screen went with it: the focus goes where one has arrived.
      focusHeading();
    },
  };
}

export function linkTo(route: RouteName) {
  return link(ROUTES[route].path);
}

export function linkWithin(screen: WithinName) {
  return link(WITHIN[screen].path);
}

export function linkToOne(what: OneOfName, id: string) {
  return link(pathOfOne(what, id));
}

/** A task of a team run, opened beside the run: who clicks stays where they are on the screen. */
export function linkToTask(run: string, task: string) {
  const path = pathOfTask(run, task);
  return {
    href: path,
    onClick: (event: MouseEvent) => {
      if (!isPlain(event)) return;
      event.preventDefault();
      openTask(run, task);
    },
  };
}

export function openTask(run: string, task: string): void {
  const path = pathOfTask(run, task);
  // From one task to the next is one step: going back leads to the run.
  const isInRun = location.pathname.startsWith(`${pathOfOne("team", run)}/`);
  if (isInRun) history.replaceState(history.state, "", path + location.search);
  else history.pushState({ within: true, task: true } satisfies Visit, "", path + location.search);
  tell();
}

/** From a task to its run: back to it where one came from there. What part of the run is shown stays. */
export function closeTask(run: string): void {
  const path = pathOfOne("team", run) + location.search;
  const show = () => {
    history.replaceState(history.state, "", path);
    tell();
  };
  if (currentVisit()?.task) {
    addEventListener("popstate", show, { once: true });
    history.back();
  } else show();
}

function pathOfTask(run: string, task: string): string {
  return `${pathOfOne("team", run)}/${encodeURIComponent(task.toWellFormed())}`;
}

/** Where a team is started for an epic. */
export function linkToNewTeam(epic: string) {
  return link(`${ROUTES.teams.path}?epic=${encodeURIComponent(epic.toWellFormed())}`);
}

/** A session, with what it asked brought into view. */
export function linkToAsked(session: string) {
  return link(`${pathOfOne("session", session)}?show=asked`);
}

/** The handoffs in one state, of one session; an empty text leaves them all in. */
export function linkToHandoffs(filter: { state: string; session: string }) {
  const chosen = Object.entries(filter).filter(([, value]) => value !== "");
  const search = new URLSearchParams(chosen.map(([name, value]) => [name, value.toWellFormed()])).toString();
  return link(ROUTES.handoffs.path + (search && `?${search}`));
}

/** The text of a file of settings, at a line of it. */
export function linkToSettings(file: string, line: number | null) {
  return link(`${ROUTES.settings.path}?file=${encodeURIComponent(file)}${line === null ? "" : `&line=${line}`}`);
}

/** What is known of the project, with this section brought into view. */
export function linkToSection(name: string) {
  return link(`${ROUTES.context.path}?section=${encodeURIComponent(name.toWellFormed())}`);
}

/** The rules, with this one brought into view. */
export function linkToRule(id: string) {
  return link(`${ROUTES.rules.path}?rule=${encodeURIComponent(id.toWellFormed())}`);
}

/** The address of the coach with this consult opened beside it. */
export function linkToConsultOnCoach(id: string): string {
  return `${ROUTES.coach.path}?consult=${encodeURIComponent(id.toWellFormed())}`;
}

/** The board with a filter, as it stands in its address. */
export function linkToBoard(filter: Record<string, string>) {
  const search = new URLSearchParams(Object.entries(filter).map(([name, value]) => [name, value.toWellFormed()]));
  return link(`${ROUTES.board.path}?${search.toString()}`);
}
