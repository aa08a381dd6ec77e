/** A plot with its title, its sentence, what its parts are, and its table; in its place, what will stand there. */
import type { ReactNode } from "react";

interface Props {
  id: string;
  title: string;
  /** In a sentence, what it shows; or how something comes to be shown. */
  words: ReactNode;
  /** Over the whole width, where others stand side by side. */
  wide?: boolean;
  children?: ReactNode;
}

export function Figure({ id, title, words, wide = false, children }: Props) {
  return (
    <figure className={wide ? "plot-figure wide" : "plot-figure"} aria-labelledby={`plot-${id}`}>
      <h3 id={`plot-${id}`}>{title}</h3>
      <p className="plot-words">{words}</p>
      {children}
    </figure>
  );
}
