/** The frame with the screen that the address names, or the way in when there is no token. */
import { QueryClientProvider } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { queryClient } from "../api/queries";
import { currentToken, onTokenChange } from "../api/token";
import { AssumptionsScreen } from "../assumptions/AssumptionsScreen";
import { HealthScreen } from "../health/HealthScreen";
import { InboxScreen } from "../inbox/InboxScreen";
import { EmptyState } from "../ui/Notice";
import { Frame } from "./Frame";
import { linkTo, useRoute, type RouteName } from "./routes";
import { SignedOut } from "./SignedOut";

const SCREENS: Record<RouteName, () => React.ReactNode> = {
  inbox: InboxScreen,
  assumptions: AssumptionsScreen,
  health: HealthScreen,
};

function NoSuchScreen() {
  return (
    <EmptyState title="There is nothing at this address">
      <p>
        <a {...linkTo("inbox")}>Go to the inbox</a>
      </p>
    </EmptyState>
  );
}

export function App() {
  const token = useSyncExternalStore(onTokenChange, currentToken);
  const route = useRoute();
  if (token === null) return <SignedOut />;
  const Screen = route === null ? NoSuchScreen : SCREENS[route];
  return (
    <QueryClientProvider client={queryClient}>
      <Frame key={token} route={route}>
        <Screen />
      </Frame>
    </QueryClientProvider>
  );
}
