/** The way to the rule that gave an answer. */
import type { Resolution } from "../api/types";
import { linkToRule } from "../app/routes";

export function ByRule({ resolution }: { resolution: Resolution | null }) {
  if (resolution === null || resolution.rule_id === null) return null;
  return (
    <a className="by-rule" {...linkToRule(resolution.rule_id)}>
      see the rule
    </a>
  );
}
