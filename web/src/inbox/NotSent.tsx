/** On a card: what was decided of it is not with the server yet. It is kept, and can be held back. */
import { sendNow, withdraw } from "../outbox/outbox";
import { Icon } from "../ui/Icon";
import type { Unsent } from "./letters";

export function NotSent({ unsent, onWithdrawn }: { unsent: Unsent; onWithdrawn: () => void }) {
  return (
    <div className="mark not-sent" data-tone="warn" role="status">
      <Icon name="hourglass" />
      <span>
        <strong>Not sent yet:</strong> {unsent.words}. It is kept, and sent once when the connection is back.
      </span>
      <button type="button" className="link-button" onClick={sendNow}>
        Send now
      </button>
      <button
        type="button"
        className="link-button"
        onClick={() => {
          withdraw(unsent.confirmId);
          onWithdrawn();
        }}
      >
        Do not send
      </button>
    </div>
  );
}
