/** An agent's words as plain text that cannot lie (plain-text.ts), with its code set as code. Nothing becomes markup. */
import { splitCode } from "./code-spans";
import { plainText } from "./plain-text";

export function Words({ text }: { text: string }) {
  return splitCode(plainText(text)).map((piece, index) =>
    piece.kind === "words" ? (
      piece.text
    ) : (
      <code key={index} className={piece.kind === "block" ? "code-block" : "code-span"} dir="ltr">
        {piece.text}
      </code>
    ),
  );
}
