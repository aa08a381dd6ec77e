/** Where an item stands: its state and the way to another, whose it is, and whether it can be begun; if not, why. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Offer, WorkItem, WorkState } from "../api/types";
import { changeItem, claimItem, releaseItem } from "../api/work-deeds";
import { explainQuery } from "../api/work-queries";
import { MoveMenu } from "../board/MoveMenu";
import { Offers } from "../board/Offers";
import { offerToMoveBack, type Movable } from "../board/useMoves";
import { STATES } from "../board/wording";
import { linkToNewTeam, linkToOne } from "../app/routes";
import { AskOnce } from "../sessions/AskOnce";
import { refresh } from "../api/queries";
import { ITEM } from "../api/work-queries";
import { useWords } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { formatSpan } from "../ui/time";
import { NotDone } from "./NotDone";
import { useItemDeed } from "./useItemDeed";

export function Standing({ item }: { item: WorkItem }) {
  const [asks, setAsks] = useState(false);
  const [offers, setOffers] = useState<Offer[]>([]);
  const { act, isBusy, error } = useItemDeed(item.id);
  const isOver = item.state === "done" || item.state === "cancelled";

  function move(which: Movable, to: WorkState): void {
    act({
      run: (confirmId) => changeItem(which.id, { state: to, version: which.version }, confirmId),
      said: () => "",
      then: (moved) => {
        setOffers(moved.offers ?? []);
        offerToMoveBack(moved, (id) => void refresh([...ITEM, id]));
      },
    });
  }

  const claim = (evenBlocked: boolean) =>
    act({ run: (confirmId) => claimItem(item.id, evenBlocked, confirmId), said: () => "It is yours for an hour" });

  return (
    <section className="section item-standing-part" aria-labelledby="item-standing">
      <h2 id="item-standing" className="visually-hidden">
        Where it stands
      </h2>
      <div className="item-deeds">
        <span className="item-state" data-state={item.state}>
          {STATES[item.state]}
        </span>
        <button type="button" className="button" disabled={isBusy} onClick={() => setAsks(true)}>
          Move…
        </button>
        {item.claim !== null ? (
          <>
            <Claimed claim={item.claim} />
            <button
              type="button"
              className="button"
              disabled={isBusy}
              onClick={() => act({ run: (confirmId) => releaseItem(item.id, confirmId), said: () => "The claim is given back" })}
            >
              Release
            </button>
          </>
        ) : (
          !isOver &&
          (isInTheWay(item) ? (
            <AskOnce
              opens="Claim…"
              words="Something unfinished is in its way: whoever has it waits for that."
              yes="Claim it all the same"
              no="Leave it"
              isPending={isBusy}
              onYes={() => claim(true)}
              failure={null}
            />
          ) : (
            <button type="button" className="button" disabled={isBusy} onClick={() => claim(false)}>
              Claim
            </button>
          ))
        )}
        {item.kind === "epic" && !isOver && (
          <a className="button" {...linkToNewTeam(item.id)}>
            <Icon name="graph" /> Start a team…
          </a>
        )}
      </div>
      <NotDone error={error} />
      <Offers offers={offers} onClose={move} onDecline={() => setOffers([])} />
      <Why item={item} />
      {item.close_reason !== null && (
        <p className="card-hint" dir="auto">
          {STATES[item.state]}: {plainText(item.close_reason)}
        </p>
      )}
      {asks && <MoveMenu item={item} onMove={(to) => move(item, to)} onClose={() => setAsks(false)} />}
    </section>
  );
}

/** As the server judges it: what is begun already is worked on whatever blocks it. */
const isInTheWay = ({ state, blockers, held }: WorkItem) =>
  state !== "in_progress" && state !== "review" && (blockers > 0 || held > 0);

function Claimed({ claim }: { claim: NonNullable<WorkItem["claim"]> }) {
  const left = useWords((now) => formatSpan(Date.parse(claim.expires_at) - now));
  return (
    <span className="card-hint">
      Claimed by {plainText(claim.owner)}, for {left} more
    </span>
  );
}

/** Every reason with the ways to what it names. */
function Why({ item }: { item: WorkItem }) {
  const explained = useQuery(explainQuery(item.id)).data;
  if (explained === undefined) return <p className="card-hint">&nbsp;</p>;
  if (explained.ready)
    return (
      <p className="mark" data-tone="good">
        <Icon name="check" />
        <span>Ready: nothing is in its way.</span>
      </p>
    );
  return (
    <ul className="item-why" aria-label="Why it is not ready">
      {explained.reasons.map((reason, index) => (
        <li key={index} className="mark" data-tone={reason.kind === "state" || reason.kind === "claimed" ? undefined : "warn"}>
          <Icon name={reason.kind === "claimed" ? "hand" : reason.kind === "state" ? "clock" : "gate"} />
          <span dir="auto">
            Not ready: {plainText(reason.text)}
            {reason.items.length > 0 && (
              <span className="why-items">
                {reason.items.map((id) => (
                  <a key={id} {...linkToOne("item", id)}>
                    {id}
                  </a>
                ))}
              </span>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
