/** The operator decides otherwise: in words, which are what the agent gets. Stays when somebody was quicker, with the words. */
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { api, newConfirmId, payload } from "../api/client";
import { explain } from "../api/problem";
import { assumptionsQuery, queryClient, refresh } from "../api/queries";
import { ReplyBox } from "../inbox/ReplyBox";
import { useDraft } from "../inbox/useDraft";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { useHandOverFocus } from "../ui/useHandOverFocus";

async function overturn(id: string, words: { text: string; confirmId: string }) {
  const params = { path: { id }, header: { "X-GEMBA-Confirm": words.confirmId } };
  return payload(await api.POST("/api/assumptions/{id}/overturn", { params, body: { text: words.text } }));
}

const cardAround = (bar: HTMLElement) => bar.closest<HTMLElement>(".card");

export function OverturnBar({ id, onLeave }: { id: string; onLeave: () => void }) {
  const [text, setText] = useDraft(id);
  const bar = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => box.current?.focus({ preventScroll: true }), []);
  useHandOverFocus(bar, cardAround);
  const mutation = useMutation({
    mutationFn: (words: { text: string; confirmId: string }) => overturn(id, words),
    onSuccess: (overturned) => {
      setText("");
      queryClient.setQueryData(
        assumptionsQuery.queryKey,
        (list) => list && { ...list, assumptions: list.assumptions.map((one) => (one.id === id ? overturned : one)) },
      );
      announce("Overturned");
      onLeave();
    },
    onError: (error) => {
      announce(`Not overturned. ${explain(error)}`);
      void refresh(assumptionsQuery.queryKey);
    },
  });
  const send = () =>
    text.trim() !== "" && !mutation.isPending && mutation.mutate({ text: text.trim(), confirmId: newConfirmId() });
  return (
    <>
      <div ref={bar} className="foot">
        <ReplyBox
          ref={box}
          label="What to do instead"
          placeholder="What to do instead…"
          text={text}
          onText={setText}
          onSend={send}
          onLeave={onLeave}
          canSend
        />
        <button type="button" className="tool" aria-label="Cancel" title="Cancel (Esc)" onClick={onLeave}>
          <Icon name="close" />
        </button>
      </div>
      {mutation.isError && (
        <p className="mark" data-tone="bad" role="alert">
          Not overturned. {explain(mutation.error)}
        </p>
      )}
    </>
  );
}
