/**
 * The way between screens, in groups, with what waits on each. Where there is no room for all of them, what waits stands
 * under the thumb and the rest behind one button.
 */
import { useRef } from "react";
import { Icon, type IconName } from "../ui/Icon";
import { useNarrow } from "../ui/useNarrow";
import { GROUPS, linkTo, ROUTES, type GroupName, type Place, type RouteName } from "./routes";

export interface Badge {
  text: string;
  /** What the number counts, for those who do not see where it stands. */
  label: string;
  strong: boolean;
  tone?: "warn" | "fail";
}

export const ICONS: Record<RouteName, IconName> = {
  floor: "floor",
  inbox: "inbox",
  walks: "steps",
  sessions: "terminal",
  coach: "coach",
  personas: "people",
  teams: "graph",
  sprints: "burn",
  insights: "trend",
  answered: "check",
  approvals: "key",
  assumptions: "fork",
  memory: "bookmark",
  board: "columns",
  refine: "funnel",
  handoffs: "handover",
  dispatches: "brief",
  context: "layers",
  rules: "stamp",
  policies: "clock",
  attention: "bars",
  settings: "sliders",
  health: "pulse",
};

/** The screen with all of them, for what has an address of its own. */
const AMONG: Partial<Record<NonNullable<Place["name"]>, RouteName>> = {
  session: "sessions",
  handoff: "handoffs",
  dispatch: "dispatches",
  consult: "coach",
  personaInsights: "personas",
  item: "board",
  sprint: "sprints",
  team: "teams",
  walk: "walks",
};

const NAMES = Object.keys(ROUTES) as RouteName[];
const namesIn = (group: GroupName) => NAMES.filter((name) => ROUTES[name].group === group);
/** Those under the thumb, where there is no room for more. */
const NEAREST = 4;

interface Props {
  current: Place["name"];
  badges: Partial<Record<RouteName, Badge | null>>;
}

interface LinksProps extends Props {
  names: RouteName[];
}

export function Navigation({ current, badges }: Props) {
  const behind = useRef<HTMLDivElement>(null);
  const among = current === null ? undefined : AMONG[current];
  const isNarrow = useNarrow();
  const waiting = namesIn("waiting");
  const near = isNarrow ? waiting.slice(0, NEAREST) : waiting;
  const further = isNarrow ? waiting.slice(NEAREST) : [];
  const isBehind = NAMES.some((name) => !near.includes(name) && (name === current || name === among));
  return (
    <nav className="nav" aria-label="Screens">
      <Group group="waiting" names={near} current={current} badges={badges} />
      <button type="button" className="nav-more" popoverTarget="screens-behind" data-current={isBehind || undefined}>
        <Icon name="more" />
        More
        <BadgeMark
          badge={NAMES.filter((name) => !near.includes(name))
            .map((name) => badges[name])
            .find((badge) => badge?.tone !== undefined)}
        />
      </button>
      <div
        ref={behind}
        id="screens-behind"
        className="nav-behind"
        popover="auto"
        onClick={() => behind.current?.hidePopover()}
      >
        {further.length > 0 && (
          <div className="nav-group">
            <Links names={further} current={current} badges={badges} />
          </div>
        )}
        <Group group="plan" names={namesIn("plan")} current={current} badges={badges} />
        <Group group="record" names={namesIn("record")} current={current} badges={badges} />
        <Group group="setup" names={namesIn("setup")} current={current} badges={badges} />
      </div>
    </nav>
  );
}

function Group({ group, ...links }: LinksProps & { group: GroupName }) {
  return (
    <div className="nav-group" role="group" aria-labelledby={`nav-${group}`}>
      <p id={`nav-${group}`} className="nav-group-title">
        {GROUPS[group]}
      </p>
      <Links {...links} />
    </div>
  );
}

function Links({ names, current, badges }: LinksProps) {
  const among = current === null ? undefined : AMONG[current];
  return names.map((name) => (
    <a key={name} {...linkTo(name)} aria-current={current === name ? "page" : among === name ? "true" : undefined}>
      <Icon name={ICONS[name]} />
      <span className="nav-title">{ROUTES[name].title}</span>
      <BadgeMark badge={badges[name]} />
    </a>
  ));
}

function BadgeMark({ badge }: { badge: Badge | null | undefined }) {
  if (!badge || badge.text === "0") return null;
  return (
    <span className="badge" data-strong={badge.strong || undefined} data-tone={badge.tone}>
      {badge.text}
      <span className="visually-hidden"> {badge.label}</span>
    </span>
  );
}
