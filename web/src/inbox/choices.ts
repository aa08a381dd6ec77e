/** What can be answered with one key, and the request that each choice is. Pure; the reply goes back by channel. */
import { choicesIn, type Schema } from "../answer/schema.ts";
import type { Answer, Escalation, Precedent } from "../api/types";

export interface Choice {
  label: string;
  answer: Answer;
  /** Wants a sentence first: the choice opens the reply box. */
  needsText?: boolean;
  /** Wants more than a key: the choice opens this at the bottom of the card. */
  opens?: "edit" | "refuse";
}

export type Asked = Pick<Escalation, "channel" | "options"> & { schema: Schema | null; kind?: Escalation["kind"] };

const DECISIONS: Choice[] = [
  { label: "Yes", answer: { decision: "yes" } },
  { label: "No", answer: { decision: "no" } },
  { label: "Modify…", answer: { decision: "modify" }, needsText: true },
];

/** A command is approved as it stands, or takes more than a key. */
const ABOUT_A_COMMAND: Choice[] = [
  { label: "Approve", answer: { decision: "yes" } },
  { label: "Edit…", answer: { decision: "modify" }, opens: "edit" },
  { label: "Refuse…", answer: { decision: "no" }, opens: "refuse" },
];

export function choicesOf(escalation: Asked): Choice[] {
  if (escalation.kind === "approval") return ABOUT_A_COMMAND;
  switch (escalation.channel) {
    case "notification":
      return DECISIONS;
    case "system":
      return escalation.options.map((action) => ({ label: sentenceCase(action), answer: { action } }));
    case "tool_call":
    case "handoff":
      if (escalation.schema !== null)
        return (choicesIn(escalation.schema) ?? []).map(({ label, value }) => ({ label, answer: { value } }));
      return escalation.options.map((label, index) => ({ label, answer: { option: index + 1 } }));
  }
}

/** How an answer is given: by words, by one of the choices and nothing else, by a choice with words beside it, or typed. */
export type Manner = "words" | "choice" | "choice and words" | "typed" | "nothing";

export function mannerOf(escalation: Asked): Manner {
  const choices = choicesOf(escalation).length > 0;
  switch (escalation.channel) {
    case "notification":
      return "words";
    case "system":
      return choices ? "choice and words" : "nothing";
    case "handoff":
      return escalation.kind === "approval" ? "choice" : "words";
    case "tool_call":
      if (choices) return "choice";
      return escalation.schema === null ? "words" : "typed";
  }
}

/** A reply in words alone. The agent client's own prompt knows only yes, no and modify. */
export function answerInWords(escalation: Pick<Escalation, "channel">, typed: string): Answer {
  const text = typed.trim();
  return escalation.channel === "notification" ? { decision: "modify", text } : { text };
}

/** A choice together with what was typed beside it, where there is room for words. */
export function answerWithChoice(choice: Choice, typed: string): Answer {
  const text = typed.trim();
  const takesWords = choice.answer.decision !== undefined || choice.answer.action !== undefined;
  return text === "" || !takesWords ? choice.answer : { ...choice.answer, text };
}

/** An earlier answer given again: by what it says, since a like question may have its options in another order. */
export function answerAsBefore(escalation: Asked, { answer }: Pick<Precedent, "answer">): Answer {
  return escalation.schema !== null ? { value: answer.value } : { text: answer.text };
}

function sentenceCase(action: string): string {
  const words = action.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
