/** No token, or one that the server refused: how to get in. */
import { Mark } from "./Mark";

export function SignedOut() {
  return (
    <main className="signed-out">
      <Mark />
      <h1>Open Gemba from your terminal</h1>
      <p>
        This page lets one person answer your agents, so it needs the token that only your machine knows. In the
        workspace, run
      </p>
      <pre tabIndex={0} aria-label="Command to run">
        <code>gemba open</code>
      </pre>
      <p>and open the address that it prints. The token stays in this tab; another tab needs the address again.</p>
      <p>
        In the demo there is nothing to run: open the address once more that it printed in its terminal. It opens as many
        tabs as you like, as long as the demo runs.
      </p>
      <p className="connection" data-phase="signed-out">
        <span className="connection-dot" aria-hidden="true" />
        Signed out
      </p>
    </main>
  );
}
