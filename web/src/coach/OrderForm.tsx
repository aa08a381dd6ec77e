/** Asking for an order of the epics: whom, by which agent, what to mind, and which epics. Leads to the consult. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState, type FormEvent, type KeyboardEvent } from "react";
import { orderInputQuery } from "../api/consult-queries";
import { explain } from "../api/problem";
import type { CandidateEpic } from "../api/types";
import { usePersonasFor, WhomFields } from "../consults/WhomFields";
import { useStartConsult } from "../consults/useStartConsult";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";

interface Props {
  onStarted: (id: string) => void;
  onLeave: () => void;
}

export function OrderForm({ onStarted, onLeave }: Props) {
  const board = useQuery(orderInputQuery);
  const [wanted, setWanted] = useState("");
  const [agent, setAgent] = useState("");
  const [guidance, setGuidance] = useState("");
  const [leftOut, setLeftOut] = useState<ReadonlySet<string>>(new Set());
  const able = usePersonasFor("epic_order");
  const persona = wanted || (able[0]?.id ?? "");
  const start = useStartConsult(onStarted);
  const ids = useId();
  const form = useRef<HTMLFormElement>(null);
  const epics = board.data?.candidate_epics ?? [];
  const chosen = epics.filter(({ epic_id }) => !leftOut.has(epic_id)).length;
  const canStart = persona !== "" && chosen > 0;
  useEffect(() => form.current?.querySelector<HTMLElement>("select")?.focus({ preventScroll: true }), []);

  function go(event: FormEvent): void {
    event.preventDefault();
    if (canStart) start.order({ persona, agent, guidance }, leftOut);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== "Escape" || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onLeave();
  }

  const failed = start.error ?? board.error;
  return (
    <form ref={form} className="card start-form" aria-label="Recommend order" onSubmit={go} onKeyDown={onKeyDown}>
      <WhomFields skill="epic_order" persona={persona} onPersona={setWanted} agent={agent} onAgent={setAgent} />
      <div className="field">
        <label htmlFor={`${ids}-guidance`}>
          Guidance <span className="field-optional">optional</span>
        </label>
        <textarea
          id={`${ids}-guidance`}
          className="line-input"
          rows={2}
          placeholder="What to mind: billing first, nothing that touches the API before Friday…"
          value={guidance}
          onChange={(event) => setGuidance(event.target.value)}
        />
      </div>
      {epics.length > 0 && <Epics epics={epics} leftOut={leftOut} onLeftOut={setLeftOut} chosen={chosen} />}
      {failed !== null && (
        <p className="mark" data-tone="bad" role="alert">
          <Icon name="warn" />
          <span className="words">{plainText(explain(failed))}</span>
        </p>
      )}
      <div className="bar">
        <button type="submit" className="button" data-main aria-disabled={!canStart || start.isPending}>
          {start.isPending ? "Asking…" : `Recommend an order of ${chosen} ${chosen === 1 ? "epic" : "epics"}`}
        </button>
        <button type="button" className="quiet" onClick={onLeave}>
          Cancel
        </button>
      </div>
    </form>
  );
}

interface EpicsProps {
  epics: CandidateEpic[];
  leftOut: ReadonlySet<string>;
  onLeftOut: (ids: ReadonlySet<string>) => void;
  chosen: number;
}

function Epics({ epics, leftOut, onLeftOut, chosen }: EpicsProps) {
  const set = (id: string, isIn: boolean) => {
    const next = new Set(leftOut);
    if (isIn) next.delete(id);
    else next.add(id);
    onLeftOut(next);
  };
  return (
    <details className="fold">
      <summary>
        <Icon name="chevron" size={12} />
        <span>Epics</span>
        <span className="count">
          {chosen === epics.length ? `all ${epics.length} that are open` : `${chosen} of ${epics.length}`}
        </span>
      </summary>
      <p className="bar">
        <button type="button" className="quiet" onClick={() => onLeftOut(new Set())}>
          All
        </button>
        <button type="button" className="quiet" onClick={() => onLeftOut(new Set(epics.map(({ epic_id }) => epic_id)))}>
          None
        </button>
      </p>
      <ul className="epic-choices">
        {epics.map(({ epic_id: id, title, ui_state: state }) => (
          <li key={id}>
            <label>
              <input type="checkbox" checked={!leftOut.has(id)} onChange={(event) => set(id, event.target.checked)} />
              <span dir="auto">{plainText(title)}</span>
              <span className="card-hint">
                <code>{plainText(id)}</code> {plainText(state).replaceAll("_", " ")}
              </span>
            </label>
          </li>
        ))}
      </ul>
    </details>
  );
}
