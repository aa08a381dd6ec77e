/** Why nothing new is begun, where that is so, with what lifts it. */
import { useQuery } from "@tanstack/react-query";
import { holdsQuery } from "../api/sprint-queries";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";

export function Holds() {
  const holds = useQuery(holdsQuery).data?.holds ?? [];
  if (holds.length === 0) return null;
  return (
    <section className="holds" aria-label="Nothing new is begun">
      {holds.map(({ kind, reason, lifted_by: liftedBy }) => (
        <p key={kind + reason} className="mark" data-tone="bad">
          <Icon name="hand" />
          <span>
            Nothing new is begun: {plainText(reason)}. To go on: {plainText(liftedBy)}.
          </span>
        </p>
      ))}
    </section>
  );
}
