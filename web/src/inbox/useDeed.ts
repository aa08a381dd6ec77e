/**
 * Carries out a deed and shows it as done at once: while the request is under way its variables are what the card shows,
 * so a failure has nothing to roll back but the look. The server's answer, also a 409's, goes into the lists.
 */
import { useMutation } from "@tanstack/react-query";
import { useRef } from "react";
import { explain, Refused } from "../api/problem";
import { approvalsOfQuery } from "../api/approval-queries";
import { placeEscalations, refresh } from "../api/queries";
import { announce } from "../ui/announce";
import { offerUndo, sayDone } from "../undo/undo";
import { perform, type Deed, type Done } from "./deeds";
import { doneWords } from "./said";
import { seenIsTold } from "./useSeen";

/** What takes a card away, or lets something run, is told where it was done. */
const TOLD: Deed["verb"][] = ["approve", "edit", "refuse", "dismiss", "snooze"];

export function useDeed(id: string, onDone?: (deed: Deed, done: Done) => void) {
  const sentAt = useRef(0);
  return useMutation({
    mutationFn: (deed: Deed) =>
      seenIsTold(id).then(() => {
        sentAt.current = Date.now();
        return perform(id, deed);
      }),
    onSuccess: (done, deed) => {
      placeEscalations(done.changed);
      announce(deed.words);
      if (deed.verb === "respond") offerUndo(done.changed, done.refused, deed.typed, sentAt.current);
      else if (TOLD.includes(deed.verb)) sayDone(doneWords(deed.words, done.changed, new Date()));
      onDone?.(deed, done);
    },
    onSettled: (_done, _error, deed) => {
      // What was shown may be another plan by now.
      if ("request" in deed) void refresh(approvalsOfQuery(id).queryKey);
    },
    onError: (error) => {
      if (error instanceof Refused && error.escalation !== null) placeEscalations([error.escalation]);
      announce(`Not done. ${explain(error)}`);
    },
  });
}
