/** What the palette offers by itself: the screens, and what can be begun anywhere. */
import { unresolvedQuery, queryClient } from "../api/queries";
import { isActive } from "../api/escalation-list";
import { ICONS } from "../app/Navigation";
import type { Notifying } from "../app/notifications";
import { GROUPS, goToBegin, goToScreen, ROUTES, type RouteName } from "../app/routes";
import { announce } from "../ui/announce";
import { focusCard } from "../ui/card-focus";
import type { IconName } from "../ui/Icon";
import type { Rankable } from "./rank";

export interface Entry extends Rankable {
  title: string;
  icon: IconName;
  /** What kind of thing it is, in a word or two. */
  kind: string;
  hint: string;
  /** The keys that do the same. */
  keys: readonly string[];
  choose: () => void;
  /** Whether the server found it. */
  isFound?: boolean;
}

export interface FrameDeeds {
  showHelp: () => void;
  askPm: () => void;
  notifying: Notifying;
  notify: (on: boolean) => void;
  otherTheme: "light" | "dark";
  switchTheme: () => void;
}

const ACTION = 0;
const SCREEN = 1;

/** To the card that waits longest of the most urgent ones. */
function answerNext(): void {
  goToScreen("inbox");
  const card = document.querySelector<HTMLElement>(".card[data-escalation-id]:not([data-settled])");
  if (card) focusCard(card);
  else announce("Nothing waits for you");
}

/** What can be begun from anywhere. `words` are what else people call it. */
export function actionsOf({ showHelp, askPm, notifying, notify, otherTheme, switchTheme }: FrameDeeds): Entry[] {
  const waiting = queryClient.getQueryData(unresolvedQuery.queryKey)?.escalations.filter(isActive).length ?? 0;
  const action = (
    title: string,
    icon: IconName,
    choose: () => void,
    { hint = "", keys = [] as readonly string[], words = "" } = {},
  ): Entry => ({ key: `action ${title}`, texts: [title, words], rank: ACTION, title, icon, kind: "Action", hint, keys, choose });
  return [
    action("Answer next", "inbox", answerNext, {
      hint: waiting === 0 ? "nothing waits" : waiting === 1 ? "1 waits" : `${waiting} wait`,
      words: "reply inbox question blocker",
    }),
    action("New work item", "layers", () => goToBegin("board", "item"), { words: "add create make task bug epic" }),
    action("Start a session", "terminal", () => goToBegin("sessions", "session"), { words: "agent run new dispatch" }),
    action("Start a team", "graph", () => goToBegin("teams", "team"), { words: "agents run new plan" }),
    action("Consult the PM", "speech", askPm, { keys: ["q"], words: "ask question project manager advisor" }),
    action(`Switch to the ${otherTheme} theme`, otherTheme === "dark" ? "moon" : "sun", switchTheme, {
      words: "dark light colours",
    }),
    ...(notifying === "off"
      ? [action("Notify me of what waits", "speech", () => notify(true), { words: "browser notifications on" })]
      : []),
    ...(notifying === "on"
      ? [action("No notifications any more", "speech", () => notify(false), { words: "browser off" })]
      : []),
    action("Keyboard map", "keyboard", showHelp, { keys: ["?"], words: "help keys shortcuts" }),
  ];
}

export function screens(): Entry[] {
  return (Object.keys(ROUTES) as RouteName[]).map((name) => {
    const { title, key, group } = ROUTES[name];
    return {
      key: `screen ${name}`,
      texts: [title, `go to ${GROUPS[group]}`],
      rank: SCREEN,
      title,
      icon: ICONS[name],
      kind: "Screen",
      hint: "",
      keys: ["g", key],
      choose: () => goToScreen(name),
    };
  });
}
