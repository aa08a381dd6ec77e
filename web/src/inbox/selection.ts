/** Which cards are chosen for one answer to all of them. Kept by the page alone; what is settled meanwhile falls out by itself. */
import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let selected: ReadonlySet<string> = new Set();

function set(next: ReadonlySet<string>): void {
  selected = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useSelection(): ReadonlySet<string> {
  return useSyncExternalStore(subscribe, () => selected);
}

export function useIsSelected(id: string): boolean {
  return useSyncExternalStore(subscribe, () => selected.has(id));
}

export function isSelected(id: string): boolean {
  return selected.has(id);
}

export function select(ids: readonly string[]): void {
  if (!ids.every((id) => selected.has(id))) set(new Set([...selected, ...ids]));
}

export function unselect(ids: readonly string[]): void {
  const gone = new Set(ids);
  set(new Set([...selected].filter((id) => !gone.has(id))));
}

/** A card with all that it stands for: chosen, or no longer. */
export function toggle(ids: readonly string[]): boolean {
  const on = !ids.every((id) => selected.has(id));
  if (on) select(ids);
  else unselect(ids);
  return on;
}

export function selectNothing(): void {
  if (selected.size > 0) set(new Set());
}
