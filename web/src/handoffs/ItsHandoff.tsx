/** The way from what an agent asked at the end of a turn to what it handed over there. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { handoffsQuery } from "../api/handoff-queries";
import type { Escalation } from "../api/types";
import { linkToOne } from "../app/routes";
import { Icon } from "../ui/Icon";

export function ItsHandoff({ escalation }: { escalation: Escalation }) {
  const { data } = useInfiniteQuery(handoffsQuery({ session: escalation.session_id }));
  const handoff = data?.pages.flatMap((page) => page.handoffs).find((one) => one.escalation_id === escalation.id);
  if (handoff === undefined) return null;
  return (
    <p className="card-hint handoff-for">
      <Icon name="handover" size={14} />
      <a {...linkToOne("handoff", handoff.id)}>Its handoff</a>
    </p>
  );
}
