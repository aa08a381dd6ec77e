/** Asks a persona for advice, once however often it is pressed, and says where the consult is. */
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { newConfirmId } from "../api/client";
import { consultsQuery, readOrderInput, startConsult, type Asked } from "../api/consult-queries";
import { PERSONAS } from "../api/persona-queries";
import { explain, Refused } from "../api/problem";
import { refresh } from "../api/queries";
import { announce } from "../ui/announce";

export interface Whom {
  persona: string;
  /** Which type of agent answers; an empty text leaves it to the settings. */
  agent: string;
  guidance: string;
}

export interface StartConsult {
  isPending: boolean;
  error: Error | null;
  ask: (whom: Whom, question: string, refs: string[]) => void;
  /** With the epics of the board as it is now, but for those that are left out. */
  order: (whom: Whom, leftOut: ReadonlySet<string>) => void;
}

export function useStartConsult(onStarted: (id: string) => void): StartConsult {
  const [isPending, setIsPending] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  // Two clicks come before the page has rendered once.
  const busy = useRef(false);
  const send = useMutation({
    mutationFn: ({ asked, confirmId }: { asked: Asked; confirmId: string }) => startConsult(asked, confirmId),
    // Where nobody can answer, the server keeps a consult that has failed: one is enough.
    retry: (failures, problem) => failures < 2 && !(problem instanceof Refused),
  });

  async function go(make: () => Asked | Promise<Asked>): Promise<void> {
    if (busy.current) return;
    busy.current = true;
    setIsPending(true);
    setError(null);
    try {
      const { id } = await send.mutateAsync({ asked: await make(), confirmId: newConfirmId() });
      announce("Asked");
      onStarted(id);
    } catch (problem) {
      setError(problem instanceof Error ? problem : new Error(String(problem)));
      announce(`Not asked. ${explain(problem)}`);
    } finally {
      busy.current = false;
      setIsPending(false);
      void refresh(consultsQuery.queryKey);
      void refresh(PERSONAS);
    }
  }

  return {
    isPending,
    error,
    ask: (whom, question, refs) =>
      void go(() => ({
        ...common(whom),
        skill_id: "ask",
        raw_input: { question, ...(refs.length > 0 && { refs }) },
      })),
    order: (whom, leftOut) =>
      void go(async () => {
        const board = await readOrderInput();
        const epics = board.candidate_epics.filter(({ epic_id }) => !leftOut.has(epic_id));
        return { ...common(whom), skill_id: "epic_order", raw_input: { ...board, candidate_epics: epics } };
      }),
  };
}

function common({ persona, agent, guidance }: Whom) {
  return {
    persona_id: persona,
    ...(agent !== "" && { agent_type: agent }),
    ...(guidance.trim() !== "" && { guidance }),
  };
}
