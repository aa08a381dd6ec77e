/** Cards that came meanwhile: held back because they would move what is being read, or in place but out of view. Takes no room itself. */
import type { Escalation } from "../api/types";
import { Kbd } from "../ui/Kbd";

export function NewPill({ arrivals, onGo }: { arrivals: Escalation[]; onGo: () => void }) {
  if (arrivals.length === 0) return null;
  const blocking = arrivals.filter((escalation) => escalation.urgency === "blocking").length;
  return (
    <div className="pill-place">
      <button type="button" className="pill" aria-keyshortcuts="n" onClick={onGo}>
        {arrivals.length} new
        {blocking > 0 && <span className="pill-blocking">{blocking} blocking</span>}
        <Kbd>n</Kbd>
      </button>
    </div>
  );
}
