/** A state or an answer by icon and word; the colour only repeats it. */
import { Icon } from "../ui/Icon";
import type { Look } from "./wording";

export function Mark({ look }: { look: Look }) {
  return (
    <span className="outcome" data-tone={look.tone}>
      <Icon name={look.icon} size={15} />
      {look.label}
    </span>
  );
}
