/** The page starts here: take the token from the address, follow the server, render. */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { watchAddressForToken } from "./api/token";
import { App } from "./app/App";
import { readLazyScreens } from "./app/lazy-screen";
import { cardCarrier } from "./inbox/letters";
import { keepInSync } from "./live/sync";
import { openOutbox } from "./outbox/outbox";
import { walkCarrier } from "./walk/outbox";
import "./styles/index.css";

watchAddressForToken();
keepInSync();
openOutbox({ card: cardCarrier, walk: walkCarrier });
createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
// Once the first screen is there; Safari has no word for idle.
addEventListener("load", () => setTimeout(readLazyScreens, 1_000), { once: true });
