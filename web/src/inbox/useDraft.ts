/** A reply in the making: every keystroke is kept in the tab's storage. */
import { useCallback, useState } from "react";
import { readDraft, writeDraft } from "./drafts";

export function useDraft(id: string): [text: string, setText: (text: string) => void] {
  const [text, setText] = useState(() => readDraft(id));
  const write = useCallback(
    (next: string) => {
      writeDraft(id, next);
      setText(next);
    },
    [id],
  );
  return [text, write];
}
