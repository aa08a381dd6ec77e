/** What can be answered with one key, and the request that each choice is. Pure; the reply goes back by channel. */
import type { Answer, Escalation } from "../api/types";

export interface Choice {
  label: string;
  answer: Answer;
  /** Wants a sentence first: the choice opens the reply box. */
  needsText?: boolean;
}

const DECISIONS: Choice[] = [
  { label: "Yes", answer: { decision: "yes" } },
  { label: "No", answer: { decision: "no" } },
  { label: "Modify…", answer: { decision: "modify" }, needsText: true },
];

export function choicesOf(escalation: Pick<Escalation, "channel" | "options">): Choice[] {
  switch (escalation.channel) {
    case "notification":
      return DECISIONS;
    case "system":
      return escalation.options.map((action) => ({ label: sentenceCase(action), answer: { action } }));
    case "tool_call":
    case "handoff":
      return escalation.options.map((label, index) => ({ label, answer: { option: index + 1 } }));
  }
}

/** Whether words alone are an answer. A system card wants one of its actions; words may go along with it. */
export function takesWords(escalation: Pick<Escalation, "channel">): boolean {
  return escalation.channel !== "system";
}

/** A reply in words alone. The agent client's own prompt knows only yes, no and modify. */
export function answerInWords(escalation: Pick<Escalation, "channel">, typed: string): Answer {
  const text = typed.trim();
  return escalation.channel === "notification" ? { decision: "modify", text } : { text };
}

/** A choice together with what was typed beside it. An option has no room for words, so with words it becomes words. */
export function answerWithChoice(choice: Choice, typed: string): Answer {
  const text = typed.trim();
  if (text === "") return choice.answer;
  return choice.answer.option === undefined ? { ...choice.answer, text } : { text: `${choice.label}\n\n${text}` };
}

function sentenceCase(action: string): string {
  const words = action.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
