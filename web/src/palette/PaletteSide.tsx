/** The palette's place in the frame. Its code is read once the page has nothing else to do, or when it is first opened. */
import { lazy, Suspense } from "react";
import { readAtRest } from "../app/lazy-screen";
import type { Place } from "../app/routes";

const read = async () => ({ default: (await import("./Palette")).Palette });
const Palette = lazy(read);
readAtRest(read);

interface Props {
  isOpen: boolean;
  place: Place;
  workspace: string | undefined;
  showHelp: () => void;
  askPm: () => void;
  onClose: () => void;
}

export function PaletteSide({ isOpen, place, ...rest }: Props) {
  if (!isOpen) return null;
  const here = "id" in place ? `${place.name} ${place.id}` : `screen ${place.name}`;
  return (
    <Suspense fallback={null}>
      <Palette here={here} {...rest} />
    </Suspense>
  );
}
