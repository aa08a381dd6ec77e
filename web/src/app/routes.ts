/** The three screens and their addresses. A link is a real link; a plain click on it changes the screen without a reload. */
import { useSyncExternalStore, type MouseEvent } from "react";

export const ROUTES = {
  inbox: { path: "/", title: "Inbox", key: "i" },
  assumptions: { path: "/assumptions", title: "Assumptions", key: "a" },
  health: { path: "/health", title: "Health", key: "h" },
} as const;

export type RouteName = keyof typeof ROUTES;

const listeners = new Set<() => void>();

function tell(): void {
  for (const listener of listeners) listener();
}

addEventListener("popstate", tell);

function currentRoute(): RouteName | null {
  const path = location.pathname.replace(/(.)\/$/, "$1");
  const found = Object.entries(ROUTES).find(([, route]) => route.path === path);
  return (found?.[0] as RouteName | undefined) ?? null;
}

/** The screen that the address names, or null for an address that names none. */
export function useRoute(): RouteName | null {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, currentRoute);
}

export function goTo(route: RouteName): void {
  const { path } = ROUTES[route];
  if (location.pathname !== path) history.pushState(null, "", path);
  tell();
  scrollTo(0, 0);
}

export function linkTo(route: RouteName) {
  return {
    href: ROUTES[route].path,
    onClick: (event: MouseEvent) => {
      if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      goTo(route);
    },
  };
}
