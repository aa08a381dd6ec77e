/** What one can do to a session that Gemba started: type to it, interrupt it, stop it, which asks once. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { newConfirmId } from "../api/client";
import { explain } from "../api/problem";
import { queryClient, refresh, sessionsQuery } from "../api/queries";
import { inputQuery, interruptSession, sendPrompt, stopSession } from "../api/session-queries";
import type { Session, SessionInput } from "../api/types";
import { ReplyBox } from "../inbox/ReplyBox";
import { useDraft } from "../inbox/useDraft";
import { announce } from "../ui/announce";
import { plainText } from "../ui/plain-text";
import { useHandOverFocus } from "../ui/useHandOverFocus";
import { AskOnce, Failure } from "./AskOnce";
import { inputWords, isAlive, whyNotTyped } from "./wording";

export function Controls({ session }: { session: Session }) {
  const { id } = session;
  const whyNot = whyNotTyped(session);
  const [last, setLast] = useState<string | null>(null);
  const came = (input: SessionInput) => {
    // Its first event may have been quicker than this answer.
    queryClient.setQueryData(inputQuery(input.id).queryKey, (known) => known ?? input);
    setLast(input.id);
  };
  const canStop = isAlive(session) && session.run?.wanted === true;
  return (
    <>
      {whyNot === null ? <PromptBox id={id} onSent={came} /> : <p className="card-hint">{whyNot}</p>}
      {last !== null && <HowFar input={last} />}
      {canStop && (
        <div className="bar">
          <Interrupt id={id} onSent={came} />
          <Stop id={id} />
        </div>
      )}
    </>
  );
}

function PromptBox({ id, onSent }: { id: string; onSent: (input: SessionInput) => void }) {
  const [text, setText] = useDraft(`prompt ${id}`);
  const place = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  useHandOverFocus(place);
  const send = useMutation({
    mutationFn: (words: { text: string; confirmId: string }) => sendPrompt(id, words.text, words.confirmId),
    onSuccess: (input) => {
      setText("");
      onSent(input);
    },
    onError: (error) => announce(`Not sent. ${explain(error)}`),
  });
  const go = () => text.trim() !== "" && !send.isPending && send.mutate({ text, confirmId: newConfirmId() });
  return (
    <div ref={place}>
      <ReplyBox
        ref={box}
        label="Prompt"
        placeholder="Its next prompt…"
        text={text}
        onText={setText}
        onSend={go}
        onLeave={() => box.current?.blur()}
        canSend
      />
      <Failure of="Not sent" error={send.error} />
    </div>
  );
}

/** How far the last input got, as events tell. */
function HowFar({ input }: { input: string }) {
  const news = useQuery(inputQuery(input)).data;
  return (
    <p className="card-hint" role="status">
      {news && plainText(inputWords(news))}
    </p>
  );
}

function Interrupt({ id, onSent }: { id: string; onSent: (input: SessionInput) => void }) {
  const interrupt = useMutation({
    mutationFn: (confirmId: string) => interruptSession(id, confirmId),
    onSuccess: onSent,
    onError: (error) => announce(`Not interrupted. ${explain(error)}`),
  });
  return (
    <>
      <button
        type="button"
        className="button"
        title="As ^C does in a terminal"
        disabled={interrupt.isPending}
        onClick={() => interrupt.mutate(newConfirmId())}
      >
        Interrupt
      </button>
      <Failure of="Not interrupted" error={interrupt.error} />
    </>
  );
}

function Stop({ id }: { id: string }) {
  const stop = useMutation({
    mutationFn: (confirmId: string) => stopSession(id, confirmId),
    onSuccess: () => {
      announce("Being stopped");
      void refresh(sessionsQuery.queryKey);
    },
    onError: (error) => announce(`Not stopped. ${explain(error)}`),
  });
  return (
    <AskOnce
      opens="Stop…"
      words="It and everything it started end. Its worktree and its branch stay."
      yes="Stop it"
      no="Let it run"
      isPending={stop.isPending}
      onYes={() => stop.mutate(newConfirmId())}
      failure={<Failure of="Not stopped" error={stop.error} />}
    />
  );
}
