/**
 * Light or dark: as the system says, until the operator switches. Only a choice that differs from the system's is kept,
 * so switching back means following it again. public/theme.js applies the choice before the first paint.
 */
import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark";

const KEY = "gemba.theme";
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function systemTheme(): Theme {
  return systemIsDark.matches ? "dark" : "light";
}

function currentTheme(): Theme {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === "light" || chosen === "dark" ? chosen : systemTheme();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  systemIsDark.addEventListener("change", listener);
  return () => {
    listeners.delete(listener);
    systemIsDark.removeEventListener("change", listener);
  };
}

function choose(theme: Theme): void {
  if (theme === systemTheme()) {
    delete document.documentElement.dataset["theme"];
    localStorage.removeItem(KEY);
  } else {
    document.documentElement.dataset["theme"] = theme;
    localStorage.setItem(KEY, theme);
  }
  for (const listener of listeners) listener();
}

export function useTheme(): { other: Theme; switchTheme: () => void } {
  const other = useSyncExternalStore(subscribe, currentTheme) === "dark" ? "light" : "dark";
  return { other, switchTheme: () => choose(other) };
}
