/** A sprint in words and figures. Pure. */
import type { BurnDown, Sprint } from "../api/types";
import type { Look } from "../handoffs/wording";

type Level = Sprint["level"];

export function lookOf({ state, held }: Pick<Sprint, "state" | "held">): Look {
  if (held) return { label: "held", icon: "hand", tone: "bad" };
  if (state === "running") return { label: "running", icon: "burn", tone: "good" };
  return state === "planned"
    ? { label: "planned", icon: "clock", tone: "plain" }
    : { label: "closed", icon: "check", tone: "plain" };
}

/** "1,234,567" as it is, and "1.2 M" where there is little room. */
export function tokens(many: number): string {
  return many.toLocaleString("en");
}

export function fewTokens(many: number): string {
  const size = Math.abs(many);
  if (size >= 999_950) return `${(many / 1_000_000).toFixed(1).replace(/\.0$/, "")} M`;
  return size >= 1_000 ? `${Math.round(many / 1_000)} k` : String(many);
}

export function percent(share: number): string {
  return `${Math.floor(share * 100 + 1e-9)} %`;
}

/** What has been passed of the thresholds, as a sentence. */
export function levelWords(level: Level, held: boolean): string {
  switch (level) {
    case "stop":
      return held ? "Past its stop: nothing new is begun." : "It ended past its stop.";
    case "warn":
      return "Past its warning.";
    case "inform":
      return "Past the first threshold.";
    case "none":
      return "Below every threshold.";
  }
}

export function burnSentence({ days }: BurnDown, budget: number): string {
  const last = days.at(-1);
  if (last === undefined) return "It has not begun.";
  const items = `${last.items_left} of ${last.items} ${last.items === 1 ? "item" : "items"} left`;
  const left = last.tokens_left < 0 ? `${tokens(-last.tokens_left)} tokens over the budget` : `${tokens(last.tokens_left)} of ${tokens(budget)} tokens left`;
  return `${days.length === 1 ? "On the first day" : `On day ${days.length}`}: ${items}, ${left}.`;
}

/** What somebody typed as a number of tokens: "2,000,000", "2 000 000", "1.5M", "500k"; null where it is none. */
export function readTokens(text: string): number | null {
  const found = /^(\d{1,3}(?:[ ,_']\d{3})+|\d+)(?:\.(\d+))? ?([kKmM]?)$/.exec(text.trim());
  if (found === null) return null;
  const [, whole = "", fraction = "", unit = ""] = found;
  if (fraction !== "" && unit === "") return null;
  const factor = unit === "" ? 1 : unit.toLowerCase() === "k" ? 1_000 : 1_000_000;
  const many = Math.round(Number(`${whole.replaceAll(/\D/g, "")}.${fraction || "0"}`) * factor);
  return Number.isSafeInteger(many) && many >= 1 ? many : null;
}
