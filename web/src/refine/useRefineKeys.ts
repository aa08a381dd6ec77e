/** Keys of the table: from row to row, and what is done to the row that has the focus. Focus is what is current. */
import { useEffect, useEffectEvent, useLayoutEffect } from "react";
import { isCommand } from "../ui/keys";
import type { FieldName } from "./EditFields";

interface Keys {
  select: (id: string) => void;
  /** All that are shown, or none when they are all selected. */
  selectAll: () => void;
  selectNone: () => void;
  edit: (id: string, field: FieldName) => void;
}

const FIELDS: Record<string, FieldName> = { Enter: "priority", s: "state", l: "labels", p: "parent" };

const rows = () => [...document.querySelectorAll<HTMLElement>(".refine-row")];
const currentRow = () => document.activeElement?.closest<HTMLElement>("tbody[data-item]")?.querySelector<HTMLElement>(".refine-row") ?? null;
export const idOfRow = (row: HTMLElement) => row.closest<HTMLElement>("tbody[data-item]")!.dataset["item"]!;

export function focusRow(row: HTMLElement | undefined): boolean {
  row?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: "nearest" });
  return row !== undefined;
}

function move(step: 1 | -1): boolean {
  const all = rows();
  const current = currentRow();
  const index = current === null ? -1 : all.indexOf(current);
  return focusRow(index < 0 ? all[0] : all[index + step]);
}

export function useRefineKeys(keys: Keys): void {
  const onKey = useEffectEvent((event: KeyboardEvent): boolean => {
    const row = currentRow();
    const onRow = row !== null && document.activeElement === row;
    switch (event.key) {
      case "j":
        return move(1);
      case "k":
        return move(-1);
      case "ArrowDown":
        return onRow && move(1);
      case "ArrowUp":
        return onRow && move(-1);
      case "x":
        if (row !== null) keys.select(idOfRow(row));
        return row !== null;
      case "A":
        keys.selectAll();
        return true;
      case "Escape":
        if (onRow) keys.selectNone();
        return onRow;
      case "a": {
        const button = row?.closest("tbody")?.querySelector<HTMLElement>("[data-apply]");
        button?.click();
        return button !== null && button !== undefined;
      }
      case "r": {
        const field = document.querySelector<HTMLElement>("[data-ask]");
        field?.focus();
        return field !== null;
      }
    }
    const field = FIELDS[event.key];
    if (field === undefined || !onRow) return false;
    keys.edit(idOfRow(row), field);
    return true;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || !isCommand(event) || document.querySelector("dialog[open]")) return;
      if (onKey(event)) event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}

/** A row that finds another place among the others is moved in the document, and would lose the focus by that. */
export function useKeptFocus(shown: readonly { id: string }[]): void {
  const order = shown.map(({ id }) => id).join();
  useLayoutEffect(() => {
    const id = lastRow;
    if (id !== null && document.activeElement === document.body)
      focusRow(rows().find((row) => idOfRow(row) === id));
  }, [order]);
  useEffect(() => {
    const onFocus = () => (lastRow = currentRow() === null ? null : idOfRow(currentRow()!));
    const onPoint = () => (lastRow = null);
    document.addEventListener("focusin", onFocus);
    document.addEventListener("pointerdown", onPoint);
    return () => {
      document.removeEventListener("focusin", onFocus);
      document.removeEventListener("pointerdown", onPoint);
      lastRow = null;
    };
  }, []);
}

let lastRow: string | null = null;
