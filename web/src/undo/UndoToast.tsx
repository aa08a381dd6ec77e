/** What was just answered, the way back while there is one, and who did not take the answer. Floats; moves nothing. */
import { useEffect, useRef } from "react";
import { answerOf, outcomeOf } from "../inbox/wording";
import { useWords } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { isCommand } from "../ui/keys";
import { plainText } from "../ui/plain-text";
import { useHandOverFocus } from "../ui/useHandOverFocus";
import { putAway, undo, useToast, type NotDone, type Toast } from "./undo";

export function UndoToast() {
  const toast = useToast();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      // A card that the pane answered has a way back of its own, and takes the key first.
      if (event.key !== "u" || event.defaultPrevented || event.repeat || !isCommand(event)) return;
      if (document.querySelector("dialog[open]") === null && undo()) event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  return toast === null ? null : <ToastBox toast={toast} />;
}

function ToastBox({ toast }: { toast: Toast }) {
  const box = useRef<HTMLDivElement>(null);
  useHandOverFocus(box);
  const left = useWords((now) => String(Math.max(0, Math.ceil((toast.until - now) / 1_000))));
  const offered = toast.phase === "offered" && toast.back !== null && left !== "0";
  const stays = toast.refused.length > 0 || toast.phase === "failed";
  return (
    <div ref={box} className="toast" role="group" aria-label="Last answer" data-tone={stays ? "warn" : undefined}>
      <div className="toast-line">
        <Icon name={stays ? "warn" : "check"} />
        <span className="toast-words">
          <span dir="auto">{toast.words}</span>
          {offered && toast.before !== undefined && ` · and ${toast.before} before it`}
          {toast.refused.length > 0 && ` · ${toast.refused.length} not`}
          {toast.phase === "undoing" && " · taking back…"}
        </span>
        {offered && (
          <button type="button" className="button toast-undo" aria-keyshortcuts="u" onClick={undo}>
            {toast.isOfBefore ? "Undo the one before" : "Undo"} <span aria-hidden="true">({left} s)</span>
            <Kbd>u</Kbd>
          </button>
        )}
        {stays && (
          <button type="button" className="tool" aria-label="Put away" onClick={putAway}>
            <Icon name="close" />
          </button>
        )}
      </div>
      {toast.refused.length > 0 && (
        <ul className="toast-refused">
          {toast.refused.map((one) => (
            <li key={one.id}>
              <RefusedLine refused={one} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function RefusedLine({ refused }: { refused: NotDone }) {
  const { escalation, detail } = refused;
  const resolution = escalation?.resolution ?? null;
  if (escalation === null || resolution === null) return <>{plainText(detail)}</>;
  const answer = answerOf(resolution);
  return (
    <>
      <b>{plainText(escalation.session_id)}</b> · {outcomeOf(resolution)} first
      {answer !== null && (
        <>
          : <q dir="auto">{plainText(answer)}</q>
        </>
      )}
    </>
  );
}
