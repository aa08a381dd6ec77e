/** What can be done to a sprint: started, changed, closed. Closing asks once more, and why. */
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { newConfirmId } from "../api/client";
import { explain } from "../api/problem";
import { queryClient, refresh } from "../api/queries";
import { closeSprint, HELD, sprintQuery, SPRINTS, startSprint } from "../api/sprint-queries";
import type { SprintDetail } from "../api/types";
import { linkTo } from "../app/routes";
import { ReasonBar } from "../inbox/ReasonBar";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { SprintForm } from "./SprintForm";

type Mode = "none" | "edit" | "close";

interface Deed {
  verb: (confirmId: string) => Promise<SprintDetail>;
  confirmId: string;
  words: string;
}

export function Controls({ sprint }: { sprint: SprintDetail }) {
  const [mode, setMode] = useState<Mode>("none");
  const edit = useRef<HTMLButtonElement>(null);
  const close = useRef<HTMLButtonElement>(null);
  const act = useMutation({
    mutationFn: ({ verb, confirmId }: Deed) => verb(confirmId),
    onSuccess: (changed, { words }) => {
      queryClient.setQueryData(sprintQuery(sprint.id).queryKey, changed);
      void refresh(SPRINTS);
      void refresh(HELD);
      setMode("none");
      announce(words);
      document.querySelector<HTMLElement>("main h1")?.focus();
    },
    onError: (problem) => announce(`Not done. ${explain(problem)}`),
  });

  function leave(): void {
    const from = mode === "edit" ? edit : close;
    setMode("none");
    // The buttons come back with the next drawing.
    requestAnimationFrame(() => from.current?.focus());
  }

  return (
    <>
      {act.isError && (
        <p className="mark" data-tone="bad" role="alert">
          <Icon name="warn" />
          <span>{plainText(explain(act.error))}</span>
        </p>
      )}
      {mode === "edit" && <SprintForm sprint={sprint} onLeave={leave} onDone={leave} />}
      {mode === "close" && (
        <ReasonBar
          label="Why it is over (optional)"
          action="Close the sprint"
          onReason={(reason) =>
            act.mutate({ verb: (id) => closeSprint(sprint.id, reason, id), confirmId: newConfirmId(), words: "The sprint is closed" })
          }
          onCancel={leave}
        />
      )}
      {mode === "none" && (
        <div className="bar sprint-bar">
          {sprint.state === "planned" && (
            <button
              type="button"
              className="button"
              disabled={act.isPending}
              onClick={() =>
                act.mutate({ verb: (id) => startSprint(sprint.id, id), confirmId: newConfirmId(), words: "The sprint runs" })
              }
            >
              <Icon name="burn" /> Start
            </button>
          )}
          {sprint.state !== "closed" && (
            <>
              <button ref={edit} type="button" className="button" onClick={() => setMode("edit")}>
                Change…
              </button>
              <button ref={close} type="button" className="button" onClick={() => setMode("close")}>
                Close…
              </button>
              <a className="quiet" {...linkTo("coach")}>
                Recommend order
              </a>
            </>
          )}
        </div>
      )}
    </>
  );
}
