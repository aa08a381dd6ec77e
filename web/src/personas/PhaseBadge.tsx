/** The phase that the project is in, on every screen; and the way to say that it is in another. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { newConfirmId } from "../api/client";
import { changePhase, PHASES, phasesQuery, purviewsQuery } from "../api/persona-queries";
import { explain } from "../api/problem";
import { refresh } from "../api/queries";
import type { Phase } from "../api/types";
import { linkTo } from "../app/routes";
import { Failure } from "../sessions/AskOnce";
import { announce } from "../ui/announce";
import { plainText } from "../ui/plain-text";
import { changeOfPurviews, listed } from "./wording";

export function PhaseBadge() {
  const phases = useQuery(phasesQuery).data;
  const dialog = useRef<HTMLDialogElement>(null);
  const [open, setOpen] = useState(false);
  if (phases === undefined) return null;

  function show(): void {
    setOpen(true);
    dialog.current?.showModal();
  }

  return (
    <>
      <button type="button" className="phase-badge" title="Which phase the project is in" onClick={show}>
        <span className="visually-hidden">Phase: </span>
        {phases.current}
      </button>
      <dialog
        ref={dialog}
        className="help phase-dialog"
        aria-labelledby="phase-title"
        onClose={() => setOpen(false)}
        onClick={(event) => event.target === dialog.current && dialog.current.close()}
      >
        {open && (
          <PhaseForm current={phases.current} phases={phases.phases} onDone={() => dialog.current?.close()} />
        )}
      </dialog>
    </>
  );
}

interface FormProps {
  current: Phase;
  phases: { phase: Phase; meaning: string }[];
  onDone: () => void;
}

function PhaseForm({ current, phases, onDone }: FormProps) {
  const [wanted, setWanted] = useState<Phase>(current);
  const change = useMutation({
    mutationFn: ({ phase, confirmId }: { phase: Phase; confirmId: string }) => changePhase(phase, current, confirmId),
    onSuccess: ({ phase }) => {
      announce(`The project is in ${phase}`);
      void refresh(PHASES);
      onDone();
    },
    onError: (error) => {
      announce(`Not changed. ${explain(error)}`);
      // Somebody else may have changed it meanwhile.
      void refresh(PHASES);
    },
  });
  const go = () => {
    if (wanted !== current && !change.isPending) change.mutate({ phase: wanted, confirmId: newConfirmId() });
  };
  return (
    <form
      className="help-body"
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      <header>
        <h2 id="phase-title">Phase of the project</h2>
        <button type="button" className="quiet" onClick={onDone}>
          Close
        </button>
      </header>
      <fieldset className="phases">
        <legend className="visually-hidden">The project is in</legend>
        {phases.map(({ phase, meaning }) => (
          <label key={phase}>
            <input type="radio" name="phase" value={phase} checked={phase === wanted} onChange={() => setWanted(phase)} />
            <span>
              {phase}
              {phase === current && <span className="card-hint"> now</span>}
              <span className="card-hint phase-meaning">{plainText(meaning)}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <Consequences from={current} to={wanted} onLeave={onDone} />
      <Failure of="Not changed" error={change.error} />
      <div className="bar">
        <button type="submit" className="button" data-main aria-disabled={wanted === current || change.isPending}>
          {wanted === current ? "Choose another phase" : `Change from ${current} to ${wanted}`}
        </button>
      </div>
    </form>
  );
}

/** Who answers for what then. */
function Consequences({ from, to, onLeave }: { from: Phase; to: Phase; onLeave: () => void }) {
  const away = linkTo("personas");
  const purviews = useQuery(purviewsQuery).data;
  if (purviews === undefined) return null;
  const { begin, end } = changeOfPurviews(purviews.purviews, from, to);
  const held = purviews.held.length;
  return (
    <div className="phase-change" aria-live="polite">
      {from !== to && begin.length === 0 && end.length === 0 && <p>Who answers for what stays the same.</p>}
      {begin.length > 0 && <p>From then on active: {listed(begin)}.</p>}
      {end.length > 0 && <p>No longer active: {listed(end)}.</p>}
      <p className="card-hint">
        A purview is asked when an item of its domain becomes done; a blocking one holds that until you answer.
        {held > 0 && ` ${held} held now: `}
        {held > 0 && (
          <a
            {...away}
            onClick={(event) => {
              onLeave();
              away.onClick(event);
            }}
          >
            see which
          </a>
        )}
      </p>
    </div>
  );
}
