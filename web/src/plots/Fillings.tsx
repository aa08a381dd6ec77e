/** How parts of a plot are told from each other: filled, hatched, outlined; each with a colour of its own. */

/** The first is what counts most. */
export type Part = 0 | 1 | 2;

const HATCH = 6;

/** What fillings are made of; stands once in each picture, under an id of its own. */
export function Fillings({ id }: { id: string }) {
  return (
    <defs>
      <pattern id={`${id}-hatch`} width={HATCH} height={HATCH} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect className="hatch-ground" width={HATCH} height={HATCH} />
        <rect className="hatch-line" width={HATCH / 2} height={HATCH} />
      </pattern>
    </defs>
  );
}

export function fillingOf(id: string, part: Part) {
  return part === 1
    ? { className: "plot-part", "data-part": part, fill: `url(#${id}-hatch)` }
    : { className: "plot-part", "data-part": part };
}
