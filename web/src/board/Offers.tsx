/** What may be closed now, and is left to a person: an item of which the last part was just finished. */
import { useQuery } from "@tanstack/react-query";
import type { Offer, WorkState } from "../api/types";
import { itemQuery, movesQuery } from "../api/work-queries";
import { linkToOne } from "../app/routes";
import { Icon } from "../ui/Icon";
import { firstLine } from "../ui/plain-text";
import type { Movable } from "./useMoves";

interface Props {
  offers: readonly Offer[];
  onClose: (item: Movable, to: WorkState) => void;
  onDecline: (id: string) => void;
}

export function Offers({ offers, onClose, onDecline }: Props) {
  return offers.map((offer) => <OneOffer key={offer.item_id} offer={offer} onClose={onClose} onDecline={onDecline} />);
}

function OneOffer({ offer, onClose, onDecline }: Omit<Props, "offers"> & { offer: Offer }) {
  const item = useQuery(itemQuery(offer.item_id)).data;
  const allowed = useQuery(movesQuery).data;
  const canClose = item !== undefined && (allowed?.[item.state] ?? []).includes("done");
  return (
    <div className="mark offer" role="status">
      <Icon name="stamp" />
      <span dir="auto">
        All parts of <a {...linkToOne("item", offer.item_id)}>{firstLine(offer.title, 80)}</a> are finished.
      </span>
      <button type="button" className="button" disabled={!canClose} onClick={() => item && onClose(item, "done")}>
        Close it too
      </button>
      <button type="button" className="quiet" onClick={() => onDecline(offer.item_id)}>
        Not now
      </button>
    </div>
  );
}
