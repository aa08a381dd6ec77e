/** The frame with the screen that the address names, or the way in when there is no token. */
import { QueryClientProvider } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { queryClient } from "../api/queries";
import { currentToken, onTokenChange } from "../api/token";
import { AnsweredScreen } from "../answered/AnsweredScreen";
import { ApprovalsScreen } from "../approvals/ApprovalsScreen";
import { AssumptionsScreen } from "../assumptions/AssumptionsScreen";
import { DispatchesScreen } from "../handoffs/DispatchesScreen";
import { DispatchScreen } from "../handoffs/DispatchScreen";
import { HandoffScreen } from "../handoffs/HandoffScreen";
import { HandoffsScreen } from "../handoffs/HandoffsScreen";
import { ContextScreen } from "../context/ContextScreen";
import { HealthScreen } from "../health/HealthScreen";
import { EscalationScreen } from "../history/EscalationScreen";
import { InboxScreen } from "../inbox/InboxScreen";
import { MemoryScreen } from "../memory/MemoryScreen";
import { PoliciesScreen } from "../policies/PoliciesScreen";
import { RulesScreen } from "../rules/RulesScreen";
import { SessionScreen } from "../sessions/SessionScreen";
import { SessionsScreen } from "../sessions/SessionsScreen";
import { EmptyState } from "../ui/Notice";
import { Frame } from "./Frame";
import { lazyScreen } from "./lazy-screen";
import { linkTo, usePlace, type OneOfName, type Place, type RouteName, type WithinName } from "./routes";
import { SignedOut } from "./SignedOut";

const BoardScreen = lazyScreen("Board", async () => (await import("../board/BoardScreen")).BoardScreen);
const CoachScreen = lazyScreen("Coach", async () => (await import("../coach/CoachScreen")).CoachScreen);
const ConsultScreen = lazyScreen("Consult", async () => (await import("../consults/ConsultScreen")).ConsultScreen);
const ItemScreen = lazyScreen("Item", async () => (await import("../item/ItemScreen")).ItemScreen);
const RefineScreen = lazyScreen("Refine", async () => (await import("../refine/RefineScreen")).RefineScreen);
const PersonasScreen = lazyScreen("Personas", async () => (await import("../personas/PersonasScreen")).PersonasScreen);
const PersonaInsightsScreen = lazyScreen(
  "Personas in figures",
  async () => (await import("../personas/PersonaInsightsScreen")).PersonaInsightsScreen,
);

const SCREENS: Record<RouteName | WithinName, (props: object) => React.ReactNode> = {
  floor: lazyScreen("Floor", async () => (await import("../floor/FloorScreen")).FloorScreen),
  inbox: InboxScreen,
  sessions: SessionsScreen,
  coach: CoachScreen,
  personas: PersonasScreen,
  personaInsights: PersonaInsightsScreen,
  answered: AnsweredScreen,
  approvals: ApprovalsScreen,
  assumptions: AssumptionsScreen,
  memory: MemoryScreen,
  board: BoardScreen,
  teams: lazyScreen("Teams", async () => (await import("../teams/TeamsScreen")).TeamsScreen),
  walks: lazyScreen("Walk", async () => (await import("../walk/WalksScreen")).WalksScreen),
  refine: RefineScreen,
  sprints: lazyScreen("Sprints", async () => (await import("../sprints/SprintsScreen")).SprintsScreen),
  insights: lazyScreen("Insights", async () => (await import("../insights/InsightsScreen")).InsightsScreen),
  handoffs: HandoffsScreen,
  dispatches: DispatchesScreen,
  context: ContextScreen,
  rules: RulesScreen,
  policies: PoliciesScreen,
  attention: lazyScreen("Attention", async () => (await import("../attention/AttentionScreen")).AttentionScreen),
  settings: lazyScreen("Settings", async () => (await import("../settings/SettingsScreen")).SettingsScreen),
  health: HealthScreen,
};

const ONE_OF: Record<OneOfName, (props: { id: string; part?: string }) => React.ReactNode> = {
  session: SessionScreen,
  escalation: EscalationScreen,
  handoff: HandoffScreen,
  dispatch: DispatchScreen,
  consult: ConsultScreen,
  item: ItemScreen,
  team: lazyScreen("Team run", async () => (await import("../teams/TeamScreen")).TeamScreen),
  walk: lazyScreen("Walk", async () => (await import("../walk/WalkScreen")).WalkScreen),
  sprint: lazyScreen("Sprint", async () => (await import("../sprints/SprintScreen")).SprintScreen),
};

function NoSuchScreen() {
  return (
    <EmptyState title="There is nothing at this address">
      <p>
        <a {...linkTo("floor")}>Go to the floor</a>
      </p>
    </EmptyState>
  );
}

function ScreenAt({ place }: { place: Place }) {
  if (place.name === null) return <NoSuchScreen />;
  if ("id" in place) {
    const One = ONE_OF[place.name];
    return <One key={place.id} id={place.id} {...(place.part !== undefined && { part: place.part })} />;
  }
  const Screen = SCREENS[place.name];
  return <Screen />;
}

export function App() {
  const token = useSyncExternalStore(onTokenChange, currentToken);
  const place = usePlace();
  if (token === null) return <SignedOut />;
  return (
    <QueryClientProvider client={queryClient}>
      <Frame key={token} place={place}>
        <ScreenAt place={place} />
      </Frame>
    </QueryClientProvider>
  );
}
