/** Keys of a card that opens into a screen of its own: Enter opens it, Escape leaves the card. */
import type { KeyboardEvent } from "react";
import { isCommand } from "../ui/keys";

export function openOnEnter(event: KeyboardEvent<HTMLElement>): void {
  if (!isCommand(event) || event.repeat || event.target !== event.currentTarget) return;
  const card = event.currentTarget;
  if (event.key === "Enter") card.querySelector<HTMLElement>("a[data-opens]")?.click();
  else if (event.key === "Escape") card.blur();
  else return;
  event.preventDefault();
}
