/** Declining to answer, with a reason if there is one; takes the place of the reply line. */
import { ReasonBar } from "./ReasonBar";

export function DismissBar({ onDismiss, onCancel }: { onDismiss: (reason: string) => void; onCancel: () => void }) {
  return <ReasonBar label="Reason (optional)" action="Dismiss" onReason={onDismiss} onCancel={onCancel} />;
}
