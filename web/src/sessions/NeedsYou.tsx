/** That a session wants something of the operator, with the way to what it asked. Nothing when it does not. */
import type { MouseEvent } from "react";
import type { Session } from "../api/types";
import { linkToAsked, rememberCard } from "../app/routes";
import { plainText } from "../ui/plain-text";
import { needsWords } from "./wording";

/** `onAsked`: where what it asked is on the screen already. */
export function NeedsYou({ session, onAsked }: { session: Session; onAsked?: () => void }) {
  const words = needsWords(session);
  if (words === null) return null;
  const asked = linkToAsked(session.id);
  function go(event: MouseEvent): void {
    if (onAsked === undefined) {
      rememberCard(session.id);
      asked.onClick(event);
    } else {
      event.preventDefault();
      onAsked();
    }
  }
  const told =
    session.waiting === 0 ? (
      words
    ) : (
      <a href={asked.href} onClick={go}>
        {words}
        <span className="visually-hidden"> of {plainText(session.id)}</span>
      </a>
    );
  return session.needs_you ? <strong className="needs-you">{told}</strong> : <span>{told}</span>;
}
