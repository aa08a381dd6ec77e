/** What an escalation of kind `approval` asks about, on its card: one sealed request, or the numbered steps of a plan. */
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { approvalsOfQuery } from "../api/approval-queries";
import { explain } from "../api/problem";
import type { Approval, Escalation } from "../api/types";
import { useWords } from "../ui/Age";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { sharedBy, type FactName } from "./facts";
import { Facts, Seal } from "./Seal";
import { planOf, stateOf } from "./wording";

const NOTHING: Approval[] = [];
const STILL_READING = "Nothing is decided: what would run is still being read. Press again when it is there.";

export interface PlanState {
  /** In order; empty until it is read. */
  steps: Approval[];
  /** Nothing is decided about what nobody could read. */
  isUnread: boolean;
  /** A key that decides was pressed meanwhile. */
  isEarly: boolean;
  /** Says so: on the card, and to screen readers. */
  sayUnread: () => void;
  error: unknown;
  retry: () => void;
}

/** For another kind of escalation nothing is read. */
export function usePlan({ id, kind }: Escalation): PlanState {
  const read = useQuery({ ...approvalsOfQuery(id), enabled: kind === "approval" });
  const steps = useMemo(() => (read.data ? planOf(read.data.approvals) : NOTHING), [read.data]);
  const [isEarly, setIsEarly] = useState(false);
  const error = read.data ? null : read.error;
  const sayUnread = () => {
    setIsEarly(true);
    announce(error === null ? STILL_READING : "Nothing is decided: what would run could not be read.");
  };
  const isUnread = kind === "approval" && steps.length === 0;
  return { steps, isUnread, isEarly, sayUnread, error, retry: () => void read.refetch() };
}

export function Plan({ plan, settled }: { plan: PlanState; settled: boolean }) {
  const { steps, error } = plan;
  if (error !== null)
    return (
      <p className="mark" data-tone="bad" role="alert">
        <Icon name="warn" />
        <span>What would run could not be read. {explain(error)}</span>
        <button type="button" className="link-button" onClick={plan.retry}>
          Try again
        </button>
      </p>
    );
  if (plan.isUnread) return <p className="card-hint">{plan.isEarly ? STILL_READING : "Reading what would run…"}</p>;
  const [first] = steps;
  if (first !== undefined && first.set_id === null) return <Step step={first} settled={settled} />;
  const shared = sharedBy(steps);
  return (
    <>
      <ol className="plan" aria-label={`A plan of ${steps.length} steps`}>
        {steps.map((step) => (
          <li key={step.id} value={step.position ?? undefined}>
            <Step step={step} shared={shared} settled={settled} />
          </li>
        ))}
      </ol>
      {first !== undefined && shared.length > 0 && (
        <section className="plan-shared" aria-label="For all steps">
          <p className="seal-note">For all {steps.length} steps</p>
          <Facts approval={first} names={shared} />
        </section>
      )}
    </>
  );
}

function Step({ step, shared = [], settled }: { step: Approval; shared?: FactName[]; settled: boolean }) {
  const state = useWords((now) => stateOf(step, now));
  return (
    <>
      <Seal approval={step} shared={shared} />
      {(settled || step.state !== "pending") && <p className="card-hint approval-state">{state}</p>}
    </>
  );
}
