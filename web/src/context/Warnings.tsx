/** What a person should look at in a section or a change: live state, and what the merge had to decide. */
import type { ContextWarning } from "../api/types";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";

const AT_MOST = 5;
const NAMES: Record<ContextWarning["code"], string> = { LIVE_STATE: "Of a running system", MERGE: "Merged" };

export function Warnings({ warnings }: { warnings: ContextWarning[] }) {
  const more = warnings.length - AT_MOST;
  if (warnings.length === 0) return null;
  return (
    <ul className="context-warnings">
      {warnings.slice(0, AT_MOST).map((warning, index) => (
        <li key={index} className="mark" data-tone="warn">
          <Icon name="warn" />
          <span>
            {NAMES[warning.code]}: {plainText(warning.message)}{" "}
            <code className="warning-place">{plainText(warning.pointer)}</code>
          </span>
        </li>
      ))}
      {more > 0 && <li className="card-hint">and {more.toLocaleString()} more like these</li>}
    </ul>
  );
}
