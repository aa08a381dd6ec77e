/** What the verdict found in the envelope: which rule, where, what is wrong, what to do; warnings after what refused it. */
import type { VerdictFinding } from "../api/types";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { Words } from "../ui/Words";

const RANK: Record<string, number> = { missing: 0, invalid: 1, warning: 2 };
const WORDS: Record<string, string> = { missing: "Missing", invalid: "Not as it must be", warning: "Warning" };

export function Findings({ findings }: { findings: VerdictFinding[] }) {
  if (findings.length === 0) return null;
  const sorted = findings.toSorted((a, b) => (RANK[a.severity] ?? 3) - (RANK[b.severity] ?? 3));
  return (
    <section className="section" aria-labelledby="section-findings">
      <h2 id="section-findings" className="section-title">
        Findings
        <span className="section-hint">{findings.length}</span>
      </h2>
      <ul className="panel">
        {sorted.map((finding, index) => (
          <Finding key={index} finding={finding} />
        ))}
      </ul>
    </section>
  );
}

function Finding({ finding }: { finding: VerdictFinding }) {
  const isWarning = finding.severity === "warning";
  return (
    <li className="check finding" data-status={isWarning ? "warn" : "fail"}>
      <span className="check-mark">
        <Icon name={isWarning ? "warn" : "close"} size={14} />
      </span>
      <div>
        <h3>
          <span className="visually-hidden">{WORDS[finding.severity] ?? finding.severity}: </span>
          <code>{plainText(finding.code)}</code>
          {finding.pointer !== "" && <span className="finding-where">{plainText(finding.pointer)}</span>}
        </h3>
        <p dir="auto">
          <Words text={finding.message} />
        </p>
        {finding.hint !== "" && (
          <p className="check-hint" dir="auto">
            <Words text={finding.hint} />
          </p>
        )}
      </div>
    </li>
  );
}
