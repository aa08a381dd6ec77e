/** What will run, to the letter: in the order in which it stands, with what cannot be seen shown by name. */
import { piecesOf } from "./letters";

export function Command({ text, label }: { text: string; label: string }) {
  // It may be long: whoever has no mouse scrolls it by keys, and is told what it is.
  return (
    <pre className="command" dir="ltr" tabIndex={0} role="region" aria-label={label}>
      <code>
        {piecesOf(text).map((piece, index) =>
          piece.isMark ? (
            <span key={index} className="unseen" title="Characters that cannot be seen">
              {piece.text}
            </span>
          ) : (
            piece.text
          ),
        )}
      </code>
    </pre>
  );
}
