/**
 * Carries out a deed and shows it as done at once: while the request is under way its variables are what the card shows,
 * so a failure has nothing to roll back but the look. The server's answer, also a 409's, goes into the lists.
 */
import { useMutation } from "@tanstack/react-query";
import { explain, Refused } from "../api/problem";
import { placeEscalations } from "../api/queries";
import { announce } from "../ui/announce";
import { perform, type Deed } from "./deeds";
import { seenIsTold } from "./useSeen";

export function useDeed(id: string, onDone?: (deed: Deed) => void) {
  return useMutation({
    mutationFn: (deed: Deed) => seenIsTold(id).then(() => perform(id, deed)),
    onSuccess: (escalation, deed) => {
      placeEscalations([escalation]);
      announce(deed.words);
      onDone?.(deed);
    },
    onError: (error) => {
      if (error instanceof Refused && error.escalation !== null) placeEscalations([error.escalation]);
      announce(`Not done. ${explain(error)}`);
    },
  });
}
