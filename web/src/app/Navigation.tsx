/** The way between screens, with what waits on each. */
import { Icon, type IconName } from "../ui/Icon";
import { linkTo, ROUTES, type RouteName } from "./routes";

export interface Badge {
  text: string;
  /** What the number counts, for those who do not see where it stands. */
  label: string;
  strong: boolean;
  tone?: "warn" | "fail";
}

const ICONS: Record<RouteName, IconName> = { inbox: "inbox", assumptions: "fork", health: "pulse" };

export function Navigation({ route, badges }: { route: RouteName | null; badges: Record<RouteName, Badge | null> }) {
  return (
    <nav className="nav" aria-label="Screens">
      {(Object.keys(ROUTES) as RouteName[]).map((name) => {
        const badge = badges[name];
        return (
          <a key={name} {...linkTo(name)} aria-current={route === name ? "page" : undefined}>
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
