/** The advisors: what they are for, what they answer for, what they may spend; what they hold; which files are wrong. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useId } from "react";
import { personasQuery, purviewsQuery } from "../api/persona-queries";
import type { Hold, PersonaList } from "../api/types";
import { linkToOne, linkWithin, useParameter } from "../app/routes";
import { Age } from "../ui/Age";
import { focusCard } from "../ui/card-focus";
import { Icon } from "../ui/Icon";
import { ItemId } from "../ui/ItemId";
import { ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";
import { useCardKeys } from "../ui/useCardKeys";
import { PersonaCard } from "./PersonaCard";

export function PersonasScreen() {
  const { data, isPending, isError, error, refetch } = useQuery(personasQuery);
  const purviews = useQuery(purviewsQuery).data;
  useCardKeys();
  useBroughtIntoView(data !== undefined);
  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Personas</h1>
        <p>
          Advisors that you can consult, and what the code lets them do. <a {...linkWithin("personaInsights")}>In figures</a>
        </p>
      </header>
      {isPending && <Skeletons count={3} label="Reading the personas" />}
      {isError && data === undefined && <ReadError what="The personas" error={error} onRetry={() => void refetch()} />}
      {data && <Faults title="Files with a fault" faults={data.faults} />}
      {data && <Faults title="Files that ask for more than they get" faults={data.notes} />}
      {purviews && <Held held={purviews.held} />}
      {data && (
        <ol className="cards" aria-label="Personas">
          {data.personas.map((persona) => (
            <PersonaCard
              key={persona.id}
              persona={persona}
              purview={purviews?.purviews.find(({ persona_id: id }) => id === persona.id)}
              phase={purviews?.phase}
            />
          ))}
        </ol>
      )}
    </>
  );
}

/** The persona that the address names has the focus once it is there; then the address says it no more. */
function useBroughtIntoView(areThere: boolean): void {
  const [wanted, setWanted] = useParameter("persona");
  const show = useEffectEvent(() => {
    const card = document.querySelector<HTMLElement>(`[data-card-id="${CSS.escape(wanted)}"]`);
    setWanted("");
    if (card) focusCard(card);
  });
  useEffect(() => {
    if (areThere && wanted !== "") show();
  }, [areThere, wanted]);
}

/** What is wrong with files: those personas do not answer as they say. */
function Faults({ title, faults }: { title: string; faults: PersonaList["faults"] }) {
  const id = useId();
  if (faults.length === 0) return null;
  return (
    <section className="section persona-faults" aria-labelledby={id}>
      <h2 id={id} className="section-title">
        {title}
      </h2>
      <ul className="rows">
        {faults.map(({ file, line, message }, place) => (
          <li key={place} className="row" data-tone="warn">
            <Icon name="warn" />
            <div className="row-words">
              <p>
                <code>
                  .gemba/personas/{plainText(file)}:{line}
                </code>
              </p>
              <p className="row-note">{plainText(message)}</p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

const HELD: Record<Hold["state"], string> = {
  held: "waits for your answer",
  fixed: "was said to be fixed: it may be made, once",
  overridden: "was overridden: it may be made, once",
  used: "was made",
  lapsed: "is held no more",
};

/** The changes that a purview asks about or holds, and how one lets them go. */
function Held({ held }: { held: Hold[] }) {
  if (held.length === 0) return null;
  return (
    <section className="section" aria-labelledby="held-title">
      <h2 id="held-title" className="section-title">
        Held
      </h2>
      <p className="section-hint">
        A purview is asked when an item is to become done. A blocking one refuses the change and asks you: say on its card
        that it is fixed, or override it with a justification, and the change can be made, once.
      </p>
      <ul className="rows" aria-label="Changes that are held">
        {held.map((hold) => (
          <li key={hold.id} className="row" data-tone="warn">
            <Icon name="fence" />
            <div className="row-words">
              <p>
                <ItemId id={hold.item_id} /> {plainText(hold.from_state)} → {plainText(hold.to_state)}{" "}
                {HELD[hold.state]}
              </p>
              <p className="row-note">
                {plainText(hold.persona_id)} ({plainText(hold.domain)}, {hold.authority}, in {hold.phase}):{" "}
                {plainText(hold.reasons.join("; "))}
              </p>
              <p className="row-note">
                <a {...linkToOne("escalation", hold.id)}>Its card</a> · asked by {plainText(hold.asked_by)}{" "}
                <Age since={hold.created_at} ago />
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
