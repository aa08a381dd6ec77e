/** Whom to ask, and which type of agent answers: the two choices that every consult begins with. */
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { personasQuery } from "../api/persona-queries";
import { agentTypesQuery } from "../api/session-queries";
import type { AgentType, Persona } from "../api/types";
import { plainText } from "../ui/plain-text";
import { formatDollars } from "./wording";

interface Props {
  /** Only those that list it. */
  skill: string;
  persona: string;
  onPersona: (id: string) => void;
  agent: string;
  onAgent: (name: string) => void;
}

export function WhomFields({ skill, persona, onPersona, agent, onAgent }: Props) {
  const ids = useId();
  const able = usePersonasFor(skill);
  const agents = useQuery(agentTypesQuery).data?.agents ?? [];
  const chosen = able.find(({ id }) => id === persona);
  return (
    <div className="start-choices whom">
      <div className="field">
        <label htmlFor={`${ids}-persona`}>Persona</label>
        <select
          id={`${ids}-persona`}
          className="line-input"
          value={persona}
          aria-describedby={`${ids}-left`}
          onChange={(event) => onPersona(event.target.value)}
        >
          {able.map(({ id, name, role }) => (
            <option key={id} value={id}>
              {plainText(name === role ? name : `${name}, ${role}`)}
            </option>
          ))}
        </select>
        <p id={`${ids}-left`} className="card-hint">
          {chosen && leftOf(chosen)}
        </p>
      </div>
      <div className="field">
        <label htmlFor={`${ids}-agent`}>Answered by</label>
        <select
          id={`${ids}-agent`}
          className="line-input"
          value={agent}
          onChange={(event) => onAgent(event.target.value)}
        >
          <option value="">{chosen ? `as set: ${plainText(chosen.answered_by)}` : "as set"}</option>
          {agents.map((one) => (
            <option key={one.name} value={one.name} disabled={!one.usable}>
              {agentWords(one)}
            </option>
          ))}
        </select>
        <ModelNeeded skill={skill} agent={agent || (chosen?.answered_by ?? "")} />
      </div>
    </div>
  );
}

/** Said before anything is typed in vain: only an order is advised on without a model. */
export function ModelNeeded({ skill, agent }: { skill: string; agent: string }) {
  if (agent !== "builtin" || skill === "epic_order") return null;
  return (
    <p className="card-hint">
      This takes a model, which the built-in advisor is not. Choose a type of agent that has one, or set it once:{" "}
      <code>agent_type</code> under <code>[consults]</code> in <code>.gemba/workspace.toml</code>.
    </p>
  );
}

/** Those that can be asked for a skill, the Project Manager first where it can. */
export function usePersonasFor(skill: string): Persona[] {
  const all = useQuery(personasQuery).data?.personas ?? [];
  return all.filter(({ skills }) => skills.includes(skill));
}

function leftOf({ today, budget_policy: budget }: Persona): string {
  const call = budget.max_per_invocation_dollars;
  const most = call === undefined ? "" : `At most ${formatDollars(call)} a call; `;
  return `${most}${formatDollars(today.left_dollars)} of ${formatDollars(today.day_dollars)} left today.`;
}

function agentWords({ name, why_not: whyNot }: AgentType): string {
  if (name === "builtin") return "the built-in advisor, without a model";
  return plainText(whyNot === null ? name : `${name}: ${whyNot}`);
}
