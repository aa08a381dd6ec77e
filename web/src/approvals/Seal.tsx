/** One sealed request: exactly what will run, where, as whom, and everything else that its hash covers. */
import type { ReactNode } from "react";
import type { Approval } from "../api/types";
import { useWords } from "../ui/Age";
import { formatWhole } from "../ui/time";
import { Command } from "./Command";
import { piecesOf } from "./letters";
import { expiryOf, riskOf } from "./wording";

const SHORT_HASH = 16;

export function Seal({ approval }: { approval: Approval }) {
  const { position, state } = approval;
  return (
    <div className="seal" data-state={state}>
      <Command text={approval.command} label={position === null ? "Command" : `Command of step ${position}`} />
      <dl className="seal-facts">
        <Fact name="Risk">
          <span className="risk" data-risk={approval.risk}>
            {riskOf(approval)}
          </span>
          {approval.reason !== "" && <span className="seal-reason">{letters(approval.reason)}</span>}
        </Fact>
        <Fact name="In">
          <code>{letters(approval.cwd)}</code>
        </Fact>
        <Fact name="Tool">{letters(approval.tool)}</Fact>
        {approval.environment.length > 0 && (
          <Fact name="Environment">
            <code>{letters(approval.environment.join(", "))}</code>
          </Fact>
        )}
        <Fact name="Rollback">{valueOf(approval.rollback)}</Fact>
        <Fact name="Verification">{valueOf(approval.verification)}</Fact>
        <Fact name="Requester">
          <code>{letters(approval.requester)}</code>
        </Fact>
        <Fact name="Expiry">
          <Expiry approval={approval} />
        </Fact>
        <Fact name="Seal">
          <code title={approval.hash}>{approval.hash.slice(0, SHORT_HASH)}…</code>
        </Fact>
      </dl>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd dir="auto">{children}</dd>
    </div>
  );
}

function Expiry({ approval }: { approval: Approval }) {
  const words = useWords((now) => expiryOf(approval, now));
  return (
    <time dateTime={approval.expires_at} title={formatWhole(new Date(approval.expires_at))}>
      {words}
    </time>
  );
}

function letters(text: string): string {
  return piecesOf(text)
    .map((piece) => piece.text)
    .join("");
}

/** A rollback or verification may be a text, a list or an object; that there is none is worth knowing too. */
function valueOf(value: unknown): ReactNode {
  if (value === null || value === undefined) return <span className="seal-none">none given</span>;
  return <span className="seal-value">{letters(typeof value === "string" ? value : JSON.stringify(value, null, 2))}</span>;
}
