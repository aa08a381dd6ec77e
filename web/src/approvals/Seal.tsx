/** One sealed request: exactly what will run, where, as whom, and everything else that its hash covers. */
import type { ReactNode } from "react";
import type { Approval } from "../api/types";
import { useWords } from "../ui/Age";
import { plainText } from "../ui/plain-text";
import { formatWhole } from "../ui/time";
import { Command } from "./Command";
import { FACTS, type FactName } from "./facts";
import { piecesOf } from "./letters";
import { expiryOf, riskOf } from "./wording";

const SHORT_HASH = 16;

/** `shared` are told once for the whole plan. */
export function Seal({ approval, shared = [] }: { approval: Approval; shared?: readonly FactName[] }) {
  const { position, state } = approval;
  return (
    <div className="seal" data-state={state}>
      <Command text={approval.command} label={position === null ? "Command" : `Command of step ${position}`} />
      <Facts approval={approval} names={FACTS.filter((name) => !shared.includes(name))} />
    </div>
  );
}

export function Facts({ approval, names }: { approval: Approval; names: readonly FactName[] }) {
  const absent = names.filter((name) => isAbsent(name, approval));
  const given = names.filter((name) => !absent.includes(name));
  const small = given.filter((name) => SMALL_PRINT.includes(name));
  return (
    <>
      <List approval={approval} names={given.filter((name) => !small.includes(name))} />
      {absent.length > 0 && <p className="seal-none">None given: {absent.join(", ").toLowerCase()}</p>}
      {small.length > 0 && (
        <details className="seal-small">
          <summary>Who asks, and the seal</summary>
          <List approval={approval} names={small} />
          {small.includes("Seal") && (
            <p className="seal-note">The seal covers all of this: what you approve cannot be exchanged for something else.</p>
          )}
        </details>
      )}
    </>
  );
}

/** What nobody decides by. */
const SMALL_PRINT: readonly FactName[] = ["Tool", "Requester", "Seal"];

function isAbsent(name: FactName, { environment, rollback, verification }: Approval): boolean {
  if (name === "Environment") return environment.length === 0;
  if (name === "Rollback") return rollback === null || rollback === undefined;
  return name === "Verification" && (verification === null || verification === undefined);
}

function List({ approval, names }: { approval: Approval; names: readonly FactName[] }) {
  if (names.length === 0) return null;
  return (
    <dl className="seal-facts">
      {names.map((name) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd dir="auto">
            <Fact name={name} approval={approval} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Fact({ name, approval }: { name: FactName; approval: Approval }): ReactNode {
  switch (name) {
    case "Risk":
      return (
        <>
          <span className="risk" data-risk={approval.risk}>
            {riskOf(approval)}
          </span>
          {approval.reason !== "" && <span className="seal-reason">{plainText(approval.reason)}</span>}
        </>
      );
    case "In":
      return <code>{letters(approval.cwd)}</code>;
    case "Tool":
      return letters(approval.tool);
    case "Environment":
      return valueOf(approval.environment.length > 0 ? approval.environment.join(", ") : null);
    case "Rollback":
      return valueOf(approval.rollback);
    case "Verification":
      return valueOf(approval.verification);
    case "Requester":
      return <code>{letters(approval.requester)}</code>;
    case "Expiry":
      return <Expiry approval={approval} />;
    case "Seal":
      return <code title={approval.hash}>{approval.hash.slice(0, SHORT_HASH)}…</code>;
  }
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
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return <span className="seal-value">{plainText(text)}</span>;
}
