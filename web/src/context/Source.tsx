/** Where a change came from: the handoff that brought it; nothing for one that an operator made. */
import { linkToOne } from "../app/routes";
import { plainText } from "../ui/plain-text";

export function Source({ source }: { source: string | null }) {
  if (source === null || source === "operator") return null;
  return (
    <span>
      from handoff{" "}
      <a {...linkToOne("handoff", source)}>
        <code title={plainText(source)}>{plainText(source).slice(-8)}</code>
      </a>
    </span>
  );
}
