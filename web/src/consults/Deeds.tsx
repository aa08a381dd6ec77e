/** What one can do to a consult as a whole: apply all that is left, cancel it while it runs, close it when one is done. */
import { useMutation } from "@tanstack/react-query";
import { newConfirmId } from "../api/client";
import { cancelConsult, closeConsult, consultQuery, consultsQuery } from "../api/consult-queries";
import { explain } from "../api/problem";
import { queryClient, refresh } from "../api/queries";
import type { Consult } from "../api/types";
import { AskOnce, Failure } from "../sessions/AskOnce";
import { announce } from "../ui/announce";
import { applicableOf } from "./lines";
import type { Applying } from "./useApplying";
import { isApplicable } from "./wording";

export function Deeds({ consult, applying }: { consult: Consult; applying: Applying }) {
  const left = isApplicable(consult.status) ? applicableOf(consult).length : 0;
  const canCancel = consult.status === "running" || consult.status === "prepared";
  const canClose = consult.status === "completed";
  const applied = isApplicable(consult.status) ? consult.applied.length : 0;
  if (left === 0 && applied < 2 && !canCancel && !canClose && applying.all === null) return null;
  return (
    <div className="bar consult-deeds">
      {left > 0 && (
        <button
          type="button"
          className="button"
          aria-disabled={applying.pending !== null}
          title="In the order of the ranks; stops at the first that is refused"
          onClick={applying.applyAll}
        >
          {left === 1 ? "Apply the one left" : `Apply all ${left}`}
        </button>
      )}
      {applied > 1 && (
        <button
          type="button"
          className="quiet"
          aria-disabled={applying.pending !== null}
          title="The last first; stops at the first that somebody changed since"
          onClick={applying.takeAllBack}
        >
          Take back all {applied}
        </button>
      )}
      <HowFar applying={applying} />
      {canCancel && <Cancel id={consult.id} />}
      {canClose && <Close id={consult.id} />}
    </div>
  );
}

function HowFar({ applying: { all, pending } }: { applying: Applying }) {
  if (all === null) return null;
  const stopped = all.done < all.of && pending === null;
  return (
    <span className="bar-label" role="status">
      {all.done} of {all.of} applied{stopped && "; the next was refused, and the others wait"}
    </span>
  );
}

function useDeed(id: string, act: (id: string, confirmId: string) => Promise<Consult>, done: string, not: string) {
  return useMutation({
    mutationFn: (confirmId: string) => act(id, confirmId),
    onSuccess: (consult) => {
      queryClient.setQueryData(consultQuery(id).queryKey, consult);
      announce(done);
      void refresh(consultsQuery.queryKey);
    },
    onError: (error) => {
      announce(`${not}. ${explain(error)}`);
      void refresh(consultQuery(id).queryKey);
    },
  });
}

function Cancel({ id }: { id: string }) {
  const cancel = useDeed(id, cancelConsult, "Cancelled", "Not cancelled");
  return (
    <AskOnce
      opens="Cancel…"
      words="Whoever answers is stopped. The lines that came stay readable."
      yes="Cancel the consult"
      no="Let it run"
      isPending={cancel.isPending}
      onYes={() => cancel.mutate(newConfirmId())}
      failure={<Failure of="Not cancelled" error={cancel.error} />}
    />
  );
}

function Close({ id }: { id: string }) {
  const close = useDeed(id, closeConsult, "Closed", "Not closed");
  return (
    <AskOnce
      opens="Close…"
      words="Nothing more of it can be applied. It stays readable."
      yes="Close the consult"
      no="Keep it open"
      isPending={close.isPending}
      onYes={() => close.mutate(newConfirmId())}
      failure={<Failure of="Not closed" error={close.error} />}
    />
  );
}
