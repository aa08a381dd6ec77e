/** The way between screens, with what waits on each. */
import { Icon, type IconName } from "../ui/Icon";
import { linkTo, ROUTES, type Place, type RouteName } from "./routes";

export interface Badge {
  text: string;
  /** What the number counts, for those who do not see where it stands. */
  label: string;
  strong: boolean;
  tone?: "warn" | "fail";
}

const ICONS: Record<RouteName, IconName> = {
  inbox: "inbox",
  answered: "check",
  assumptions: "fork",
  rules: "stamp",
  policies: "clock",
  attention: "bars",
  health: "pulse",
};

interface Props {
  current: Place["name"];
  badges: Partial<Record<RouteName, Badge | null>>;
}

export function Navigation({ current, badges }: Props) {
  return (
    <nav className="nav" aria-label="Screens">
      {(Object.keys(ROUTES) as RouteName[]).map((name) => {
        const badge = badges[name] ?? null;
        return (
          <a key={name} {...linkTo(name)} aria-current={current === name ? "page" : undefined}>
            <Icon name={ICONS[name]} />
            <span className="nav-title">{ROUTES[name].title}</span>
            {badge !== null && badge.text !== "0" && (
              <span className="badge" data-strong={badge.strong || undefined} data-tone={badge.tone}>
                {badge.text}
                <span className="visually-hidden"> {badge.label}</span>
              </span>
            )}
          </a>
        );
      })}
    </nav>
  );
}
