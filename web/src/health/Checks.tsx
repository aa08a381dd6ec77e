/** The doctor's checks, the worst first, each with what to do about it. */
import type { Check } from "../api/types";
import { Icon, type IconName } from "../ui/Icon";
import { Words } from "../ui/Words";

const RANK: Record<Check["status"], number> = { fail: 0, warn: 1, ok: 2 };
const ICONS: Record<Check["status"], IconName> = { fail: "close", warn: "warn", ok: "check" };
const WORDS: Record<Check["status"], string> = { fail: "Failing", warn: "Warning", ok: "In order" };

export function Checks({ checks }: { checks: Check[] }) {
  const sorted = checks.toSorted((a, b) => RANK[a.status] - RANK[b.status]);
  return (
    <section className="section" aria-labelledby="section-checks">
      <h2 id="section-checks" className="section-title">
        Checks
      </h2>
      <ul className="panel">
        {sorted.map((check) => (
          <li key={check.id} className="check" data-check-id={check.id} data-status={check.status}>
            <span className="check-mark">
              <Icon name={ICONS[check.status]} size={14} />
            </span>
            <div>
              <h3>
                {check.label}
                <span className="visually-hidden">: {WORDS[check.status]}</span>
              </h3>
              <p>
                <Words text={check.detail} />
              </p>
              {check.hint && check.status !== "ok" && (
                <p className="check-hint">
                  <Words text={check.hint} />
                </p>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
