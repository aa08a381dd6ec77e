/**
 * Every key that the page handles, by the screens on which it does. The map that `?` shows is made of this, and a test
 * compares it with the code: what a file handles stands in a group that names the file, and the other way round.
 */
import type { OneOfName, RouteName, WithinName } from "./routes.ts";

export type PlaceName = RouteName | WithinName | OneOfName;

export interface KeyRow {
  /** As they stand on the keys. Those after Shift, Ctrl and g are pressed with it, others are each one of them. */
  keys: readonly string[];
  what: string;
}

export interface KeyGroup {
  title: string;
  /** The screens on which they work. */
  at: readonly PlaceName[] | "everywhere";
  /** Where they are handled. */
  files: readonly string[];
  rows: readonly KeyRow[];
}

const row = (keys: readonly string[], what: string): KeyRow => ({ keys, what });

export const KEY_GROUPS: readonly KeyGroup[] = [
  {
    title: "Cards",
    at: ["inbox", "sessions", "assumptions", "memory", "teams", "personas", "sprints", "approvals", "handoffs", "dispatches", "dispatch", "context", "rules"],
    files: ["ui/useCardKeys.ts"],
    rows: [
      row(["j", "k"], "Next, previous card"),
      row(["↓", "↑"], "The same, from a card"),
    ],
  },
  {
    title: "A card that asks",
    at: ["inbox", "escalation"],
    files: ["inbox/Card.tsx", "ui/useCardKeys.ts"],
    rows: [
      row(["1", "…", "9"], "Answer with that choice, approve a step, or take that span"),
      row(["r"], "Reply in words"),
      row(["Enter"], "The same, on the card itself"),
      row(["p"], "Answer as before: use the precedent"),
      row(["Shift", "R"], "Always answer this so: make a rule"),
      row(["s"], "Snooze, then 1, 2 or 3"),
      row(["d"], "Dismiss, or refuse; hide a card that is settled"),
      row(["c"], "Confirm what somebody proposed"),
      row(["o"], "Show all of a long text, or less"),
      row(["m"], "Who else asks the same"),
      row(["u"], "Re-open what the pane resolved"),
      row(["n"], "To what is new"),
      row(["Esc"], "Leave the reply, then the card"),
    ],
  },
  {
    title: "Several at once",
    at: ["inbox"],
    files: ["inbox/Card.tsx", "ui/useCardKeys.ts", "inbox/BulkBar.tsx"],
    rows: [
      row(["x"], "Select the card, or no longer"),
      row(["Shift", "↓"], "Select it and the next"),
      row(["Shift", "↑"], "Select it and the one before"),
      row(["Shift", "J"], "The same as Shift ↓"),
      row(["Shift", "K"], "The same as Shift ↑"),
      row(["Shift", "A"], "Select all that ask the same"),
      row(["r"], "To the answer for all that are selected"),
      row(["1", "…", "9"], "In the bar: answer all with that choice"),
      row(["Esc"], "In the bar: select nothing"),
    ],
  },
  {
    title: "Walk",
    at: ["walks", "walk"],
    files: ["walk/keys.ts", "walk/StartWalk.tsx", "walk/Agenda.tsx", "walk/Decisions.tsx", "walk/Modify.tsx", "walk/Table.tsx"],
    rows: [
      row(["r"], "Ratify: what is proposed is done"),
      row(["1", "…", "9"], "Choose what is proposed, or a persona"),
      row(["m"], "Modify it before it is done"),
      row(["x"], "Reject, with the reason"),
      row(["d"], "Defer; d again: later"),
      row(["h"], "Hand off, then a number; after d: for an hour"),
      row(["t"], "Add a topic; after d: until tomorrow"),
      row(["b"], "After d: to the backlog"),
      row(["n"], "To the next one, undecided"),
      row(["p"], "Any perspectives?"),
      row(["o"], "An order of the epics"),
      row(["s"], "Begin a walk; say something to the PM"),
      row(["j", "k"], "Next, previous line of the agenda"),
      row(["Shift", "J"], "Move the line down"),
      row(["Shift", "K"], "Move the line up"),
      row(["Delete"], "Leave the line out of this walk"),
      row(["a"], "Pull in all that came meanwhile"),
      row(["z"], "Pause the walk, or go on"),
      row(["e"], "End the walk, after a question"),
      row(["Enter"], "Send what was modified"),
      row(["Esc"], "Back to what is on the table"),
    ],
  },
  {
    title: "Open",
    at: ["sessions", "teams", "sprints", "handoffs", "dispatches", "dispatch"],
    files: ["handoffs/open-on-enter.ts"],
    rows: [row(["Enter"], "Open what the card is about"), row(["Esc"], "Leave the card")],
  },
  {
    title: "Assumptions",
    at: ["assumptions"],
    files: ["assumptions/AssumptionCard.tsx"],
    rows: [row(["r"], "Overturn it"), row(["Enter"], "The same, on the card itself")],
  },
  {
    title: "Memory",
    at: ["memory"],
    files: ["memory/MemoryCard.tsx"],
    rows: [
      row(["a"], "Remember what an agent suggests"),
      row(["e"], "Edit it first"),
      row(["d"], "Reject it"),
      row(["o"], "Show all of it, or less"),
      row(["Esc"], "Leave what was begun"),
    ],
  },
  {
    title: "Context",
    at: ["context"],
    files: ["context/SectionCard.tsx"],
    rows: [
      row(["o"], "The history of a section"),
      row(["u"], "Undo its last change, after a question"),
      row(["Esc"], "Leave the question"),
    ],
  },
  {
    title: "Rules",
    at: ["rules"],
    files: ["rules/RuleCard.tsx"],
    rows: [row(["d"], "Revoke it, after a question"), row(["Esc"], "Leave the question")],
  },
  {
    title: "Approvals",
    at: ["approvals"],
    files: ["approvals/ApprovalRow.tsx"],
    rows: [
      row(["o"], "Unfold it, or fold it"),
      row(["Enter"], "The same, on the row itself"),
      row(["Esc"], "Back to the row, then out of it"),
    ],
  },
  {
    title: "Board",
    at: ["board"],
    files: ["board/useBoardKeys.ts", "board/MoveMenu.tsx"],
    rows: [
      row(["j", "k"], "Next, previous card of the column"),
      row(["↓", "↑"], "The same, from a card"),
      row(["←", "→"], "To the column before, to the next"),
      row(["m"], "Move the card"),
      row(["1", "…", "9"], "While it is asked where to: to that column"),
      row(["Enter"], "Open the item"),
      row(["c"], "Make a new item"),
    ],
  },
  {
    title: "Refine",
    at: ["refine"],
    files: ["refine/useRefineKeys.ts", "refine/ItemRow.tsx"],
    rows: [
      row(["j", "k"], "Next, previous row"),
      row(["↓", "↑"], "The same, from a row"),
      row(["0", "…", "4"], "Give the row that priority"),
      row(["s"], "Change its state"),
      row(["p"], "Change what it is part of"),
      row(["l"], "Change its labels"),
      row(["Enter"], "Change any of it"),
      row(["x"], "Select the row, or no longer"),
      row(["Shift", "A"], "Select all of them"),
      row(["r"], "To the question for what is selected"),
      row(["a"], "Apply the first proposal for the row"),
      row(["Esc"], "Leave the row"),
    ],
  },
  {
    title: "Lines of a consult",
    at: ["coach", "consult"],
    files: ["consults/useRowKeys.ts"],
    rows: [
      row(["j", "k"], "Next, previous line"),
      row(["↓", "↑"], "The same, from a line"),
      row(["a"], "Apply the line"),
    ],
  },
  {
    title: "The grid of sessions and work",
    at: ["coach"],
    files: ["coach/grid.ts"],
    rows: [
      row(["↓", "↑"], "To the cell below, above"),
      row(["←", "→"], "To the cell on the left, on the right"),
      row(["Home", "End"], "To the first, the last of the row"),
    ],
  },
  {
    title: "Team run",
    at: ["team"],
    files: ["teams/Graph.tsx", "teams/TaskCommands.tsx", "teams/commands.ts", "teams/TaskDrawer.tsx"],
    rows: [
      row(["←", "→"], "From a task in the graph to what it waits for, to what waits for it"),
      row(["↑", "↓"], "To the task above, below"),
      row(["1", "…", "9"], "In an opened task: accept, retry, revise or skip it, as it is numbered there"),
      row(["s"], "Start a run that is planned"),
      row(["p"], "Pause the run, or let it go on"),
      row(["f"], "Say something to the run"),
      row(["i"], "Improve what has the lowest score"),
      row(["a"], "Archive the run when it is over"),
      row(["c"], "Cancel the run, after a question"),
      row(["Esc"], "Close the task"),
    ],
  },
  {
    title: "What an agent shows",
    at: ["session"],
    files: ["sessions/Shown.tsx"],
    rows: [row(["Enter"], "In the search: to the place before"), row(["Shift", "Enter"], "To the next")],
  },
  {
    title: "Answered",
    at: ["answered"],
    files: ["answered/AnsweredScreen.tsx"],
    rows: [row(["Esc"], "In the search: empty it")],
  },
  {
    title: "Sprint",
    at: ["sprint"],
    files: ["sprints/Items.tsx"],
    rows: [row(["Enter"], "In the search: put the first that fits in"), row(["Esc"], "Empty the search")],
  },
  {
    title: "Settings",
    at: ["settings"],
    files: ["settings/Editor.tsx"],
    rows: [row(["Ctrl", "Enter"], "Save the file, once it has no fault"), row(["Ctrl", "S"], "The same")],
  },
  {
    title: "Back",
    at: ["session", "handoff", "dispatch", "consult", "item", "sprint", "team", "personaInsights"],
    files: ["app/useEscapeBack.ts"],
    rows: [row(["Esc"], "Back to where you came from")],
  },
  {
    title: "While you type",
    at: "everywhere",
    files: [
      ...["inbox/ReplyBox.tsx", "inbox/ReasonBar.tsx", "inbox/Undelivered.tsx", "answer/SchemaForm.tsx", "pm/PmPanel.tsx"],
      ...["approvals/EditCommand.tsx", "memory/EditForm.tsx", "item/EditField.tsx", "board/NewItem.tsx", "sprints/SprintForm.tsx"],
      ...["teams/StartTeam.tsx", "teams/AskBar.tsx", "sessions/StartForm.tsx", "sessions/AskOnce.tsx", "coach/OrderForm.tsx"],
      ...["refine/EditFields.tsx", "refine/ChosenBar.tsx", "consults/Drawer.tsx"],
    ],
    rows: [
      row(["Enter"], "Send it, where it is a reply or one line"),
      row(["Shift", "Enter"], "New line in a reply"),
      row(["Ctrl", "Enter"], "Send it, where Enter is a new line"),
      row(["Esc"], "Leave it, and what is beside the screen"),
    ],
  },
  {
    title: "The palette",
    at: "everywhere",
    files: ["palette/Palette.tsx", "app/palette-key.ts"],
    rows: [
      row(["Ctrl", "K"], "Find anything, or do something; again: close it (⌘ K on a Mac)"),
      row(["↓", "↑"], "Next, previous"),
      row(["Page Down", "Page Up"], "Eight on, eight back"),
      row(["Enter"], "Take it"),
    ],
  },
  {
    title: "Everywhere",
    at: "everywhere",
    files: ["app/useGlobalKeys.ts", "undo/UndoToast.tsx"],
    rows: [
      row(["/"], "Search what was answered"),
      row(["q"], "Ask the PM, beside any screen"),
      row(["u"], "Undo the last answer, decision, move or change, while it is offered"),
      row(["g"], "And a letter: to a screen, as below"),
      row(["?"], "This map"),
    ],
  },
];

/** Those that work at a place, its own before those that work everywhere. */
export function groupsAt(place: PlaceName | null): { here: KeyGroup[]; everywhere: KeyGroup[]; elsewhere: KeyGroup[] } {
  const isHere = ({ at }: KeyGroup) => at !== "everywhere" && place !== null && at.includes(place);
  return {
    here: KEY_GROUPS.filter(isHere),
    everywhere: KEY_GROUPS.filter(({ at }) => at === "everywhere"),
    elsewhere: KEY_GROUPS.filter((group) => group.at !== "everywhere" && !isHere(group)),
  };
}
