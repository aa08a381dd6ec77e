/** The words for what is known of personas by code. Pure. */
import type { Persona, Phase, PurviewView } from "../api/types";
import { plainText } from "../ui/plain-text.ts";

/** What a purview does to a change that it is concerned by. */
export const WEIGHTS: Record<PurviewView["authority"], string> = {
  advisory: "advisory: the change is made, and it is told of",
  strong: "strong: the change is made, and you are asked about it",
  blocking: "blocking: the change is held until you answer",
};

const VOLUNTEERS: Record<NonNullable<Persona["perspective"]["volunteer_mode"]>, string> = {
  never: "comments only when asked by name",
  on_demand: "speaks when asked",
  on_trigger: "comments when asked and one of its triggers fires",
  always: "speaks when asked, of all that it sees",
};

export function volunteers({ volunteer_mode: mode }: Persona["perspective"]): string {
  return mode === undefined ? "" : VOLUNTEERS[mode];
}

/** When a purview holds: "in design and building", or for what is labelled so, in any. */
export function phasesOf({ active_phases: phases }: Pick<PurviewView, "active_phases">): string {
  if (phases.length === 0) return "in every phase, for work that is labelled so";
  return `in ${listed(phases)}`;
}

export function activeWords(view: PurviewView, phase: Phase): string {
  if (view.active) return `Active now, in ${phase}`;
  return view.active_phases.length === 0 ? "Active now for work that is labelled so" : `Not active in ${phase}`;
}

/** What another phase would change: whose purview would begin to be active, and whose would end. */
export function changeOfPurviews(purviews: PurviewView[], from: Phase, to: Phase): { begin: string[]; end: string[] } {
  const is = (phase: Phase) => (view: PurviewView) => view.active_phases.includes(phase);
  const named = (chosen: PurviewView[]) =>
    chosen.map(({ persona_name: name, domain, authority }) => plainText(`${name} (${domain}, ${authority})`));
  return {
    begin: named(purviews.filter((view) => is(to)(view) && !is(from)(view))),
    end: named(purviews.filter((view) => is(from)(view) && !is(to)(view))),
  };
}

export function listed(words: readonly string[]): string {
  if (words.length < 2) return words[0] ?? "";
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** Shares of a day's budget, of a hundred, for a bar. */
export function sharesOf({ today }: Pick<Persona, "today">): { settled: number; reserved: number } {
  const most = today.day_dollars;
  const share = (part: number) => (most <= 0 ? 0 : Math.min(100, (part / most) * 100));
  return { settled: share(today.settled_dollars), reserved: share(today.reserved_dollars) };
}
