/** One persona: role, perspective, purview and budget. */
import type { Persona, Phase, PurviewView } from "../api/types";
import { formatDollars, skillOf } from "../consults/wording";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { activeWords, phasesOf, sharesOf, volunteers, WEIGHTS } from "./wording";

interface Props {
  persona: Persona;
  purview: PurviewView | undefined;
  phase: Phase | undefined;
}

const ORIGINS: Record<Persona["origin"], string> = {
  shipped: "shipped with Gemba",
  workspace: "from this workspace",
  replaced: "of this workspace, in the place of a shipped one",
};

export function PersonaCard({ persona, purview, phase }: Props) {
  const { id, perspective } = persona;
  return (
    <li className="slot">
      <article className="card persona" tabIndex={-1} aria-labelledby={`persona-${id}`} data-card-id={id}>
        <header className="card-head">
          <span className="kind">{persona.variety === "coach" ? "Coach" : "Manager"}</span>
          <span>{persona.variety === "coach" ? "advises, changes nothing" : "advises, and answers for a purview"}</span>
          <span className="age">{ORIGINS[persona.origin]}</span>
        </header>
        <h2 id={`persona-${id}`} className="card-title" dir="auto">
          {plainText(persona.name)}
          {persona.role !== persona.name && <span className="persona-role"> {plainText(persona.role)}</span>}
        </h2>
        <dl className="facts">
          <div>
            <dt>Perspective</dt>
            <dd dir="auto">
              {plainText(perspective.statement ?? "") || "none"}{" "}
              <span className="card-hint">{volunteers(perspective)}</span>
            </dd>
          </div>
          <div>
            <dt>Purview</dt>
            <dd>{purview === undefined || phase === undefined ? "none: it holds nothing" : <Purview view={purview} phase={phase} />}</dd>
          </div>
          <div>
            <dt>Skills</dt>
            <dd>{persona.skills.map(skillOf).join(", ") || "none"}</dd>
          </div>
          <div>
            <dt>Budget</dt>
            <dd>
              <Budget persona={persona} />
            </dd>
          </div>
          <div>
            <dt>Model</dt>
            <dd>
              {plainText(`${persona.model.vendor ?? ""} ${persona.model.model ?? ""}`.trim()) || "none"}
              {persona.agent_type !== null && <>, by {plainText(persona.agent_type)}</>}
            </dd>
          </div>
        </dl>
      </article>
    </li>
  );
}

function Purview({ view, phase }: { view: PurviewView; phase: Phase }) {
  const isOn = view.active || view.active_phases.length === 0;
  return (
    <>
      <strong>{plainText(view.domain)}</strong> {phasesOf(view)}
      <span className="persona-purview" data-on={isOn || undefined}>
        <Icon name={isOn ? "fence" : "clock"} size={14} />
        {activeWords(view, phase)}
      </span>
      <span className="card-hint">{WEIGHTS[view.authority]}</span>
    </>
  );
}

function Budget({ persona }: { persona: Persona }) {
  const { today, budget_policy: policy } = persona;
  const { settled, reserved } = sharesOf(persona);
  return (
    <>
      {formatDollars(today.left_dollars)} left of {formatDollars(today.day_dollars)} today{" "}
      <span className="card-hint">
        {formatDollars(today.settled_dollars)} settled, {formatDollars(today.reserved_dollars)} reserved
        {policy.max_per_invocation_dollars !== undefined &&
          `; at most ${formatDollars(policy.max_per_invocation_dollars)} a call`}
      </span>
      <svg className="spend" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect className="spend-ground" width="100" height="4" />
        <rect className="spend-settled" width={settled} height="4" />
        <rect className="spend-reserved" x={settled} width={reserved} height="4" />
      </svg>
    </>
  );
}
