/** The place of the demo's guide. Its code is read in a demo alone. */
import { lazy, Suspense } from "react";
import type { Doctor } from "../api/types";

const Guide = lazy(async () => ({ default: (await import("./Guide")).Guide }));

interface Props {
  diagnosis: Doctor | undefined;
  slot: HTMLElement | null;
}

export function GuidePlace({ diagnosis, slot }: Props) {
  if (!diagnosis?.demo || diagnosis.started_at === null) return null;
  return (
    <Suspense fallback={null}>
      <Guide key={diagnosis.started_at} of={diagnosis.started_at} slot={slot} />
    </Suspense>
  );
}
