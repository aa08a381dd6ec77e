/**
 * Beside the inbox's heading when a walk is worth it: what waits, and the way there. It takes no room, so that its coming
 * and going moves nothing, and can be put away until it is worth it again.
 */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { walksQuery } from "../api/walk-queries";
import { linkTo, ROUTES } from "../app/routes";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { useHandOverFocus } from "../ui/useHandOverFocus";
import { offerOf } from "./wording";

const KEY = "gemba.walk-offer-away";

export function WalkOffer() {
  const hint = useQuery(walksQuery).data?.hint;
  const [isAway, setIsAway] = useState(() => sessionStorage.getItem(KEY) !== null);
  const isOffered = hint?.offer;
  useEffect(() => {
    // What is offered anew is another offer.
    if (isOffered !== false) return;
    sessionStorage.removeItem(KEY);
    setIsAway(false);
  }, [isOffered]);
  if (hint === undefined || !hint.offer || isAway) return null;

  function putAway(): void {
    sessionStorage.setItem(KEY, "1");
    setIsAway(true);
  }

  return <Strip words={offerOf(hint)} isOpen={hint.open_walk !== null} onPutAway={putAway} />;
}

function Strip({ words, isOpen, onPutAway }: { words: string; isOpen: boolean; onPutAway: () => void }) {
  const strip = useRef<HTMLElement>(null);
  useHandOverFocus(strip);
  return (
    <section ref={strip} className="walk-offer" aria-label="A walk is offered">
      <Icon name="steps" />
      <p>
        <span className="walk-offer-words">{words}: </span>
        <a {...linkTo("walks")}>{isOpen ? "go on with your walk" : "walk through them"}</a>
      </p>
      <Kbd>g</Kbd>
      <Kbd>{ROUTES.walks.key}</Kbd>
      <button type="button" className="tool" aria-label="Put the offer away" title="Not now" onClick={onPutAway}>
        <Icon name="close" size={14} />
      </button>
    </section>
  );
}
