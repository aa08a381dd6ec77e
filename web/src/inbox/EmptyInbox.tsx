/** Nobody waits. Says so, and how to try it. */
import { EmptyState } from "../ui/Notice";

const TRY = `GEMBA_SESSION_ID=try gemba-ask --kind question --role coach \\
  --text "Tea or coffee?" --option Tea --option Coffee --wait`;

export function EmptyInbox() {
  return (
    <EmptyState title="Nobody waits for you">
      <p>
        When an agent needs you, its question appears here within a second. See it happen: run this in a terminal inside
        the workspace.
      </p>
      <pre tabIndex={0} aria-label="Command to try">
        <code>{TRY}</code>
      </pre>
      <p className="hint">Answer with 1 or 2, and the command prints your choice.</p>
    </EmptyState>
  );
}
