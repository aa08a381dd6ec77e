/**
 * Carries out a deed and shows it as done at once: while the request is under way its variables are what the card shows,
 * so a failure has nothing to roll back but the look. Without a line it stays under way until there is one (letters.ts).
 * The server's answer, also a 409's, goes into the lists.
 */
import { useMutation } from "@tanstack/react-query";
import { explain, Refused } from "../api/problem";
import { placeEscalations } from "../api/queries";
import type { Escalation } from "../api/types";
import { Withdrawn } from "../outbox/outbox";
import { announce } from "../ui/announce";
import type { Deed, Done } from "./deeds";
import { aboutOf, refreshApprovals, send, tellDone, type Sent } from "./letters";

export function useDeed(escalation: Escalation | undefined, onDone?: (deed: Deed, done: Done) => void) {
  const id = escalation?.id ?? "";
  return useMutation({
    mutationFn: (deed: Deed): Promise<Sent> => send(id, deed, escalation === undefined ? "" : aboutOf(escalation)),
    onSuccess: ({ answer, sentAt }, deed) => {
      tellDone(deed, answer, sentAt);
      onDone?.(deed, answer);
    },
    onSettled: (_done, _error, deed) => refreshApprovals({ id, deed }),
    onError: (error) => {
      if (error instanceof Withdrawn) return announce("It is not sent");
      if (error instanceof Refused && error.escalation !== null) placeEscalations([error.escalation]);
      announce(`Not done. ${explain(error)}`);
    },
    // What is kept is tried again where it is kept.
    retry: (failures, error) => failures < 2 && !(error instanceof Refused || error instanceof Withdrawn),
  });
}
