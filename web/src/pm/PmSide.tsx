/** The place of the PM's panel in the frame. Its code is read when it is first opened; what it shows outlives closing it. */
import { lazy, Suspense, useState } from "react";
import type { Place } from "../app/routes";

/** Where a question is typed. */
export const QUESTION = "#pm-question";

const PmPanel = lazy(async () => ({ default: (await import("./PmPanel")).PmPanel }));

export function PmSide({ isOpen, place, onClose }: { isOpen: boolean; place: Place; onClose: () => void }) {
  const [consult, setConsult] = useState<string | null>(null);
  if (!isOpen) return null;
  return (
    <Suspense fallback={null}>
      <PmPanel place={place} consult={consult} onConsult={setConsult} onClose={onClose} />
    </Suspense>
  );
}
