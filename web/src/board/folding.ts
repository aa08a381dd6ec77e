/** Which columns are folded: the operator's choice, kept by this browser. What is seldom looked at is folded at first. */
import { useState } from "react";
import type { WorkState } from "../api/types";
import { isState } from "./wording";

const KEY = "gemba.folded-columns";
const USUALLY: WorkState[] = ["deferred", "cancelled"];

function kept(): WorkState[] {
  const text = localStorage.getItem(KEY);
  return text === null ? USUALLY : text.split(",").filter(isState);
}

export function useFolded(): [folded: ReadonlySet<WorkState>, fold: (state: WorkState) => void] {
  const [folded, setFolded] = useState<ReadonlySet<WorkState>>(() => new Set(kept()));
  const fold = (state: WorkState) =>
    setFolded((now) => {
      const next = new Set(now);
      if (!next.delete(state)) next.add(state);
      localStorage.setItem(KEY, [...next].join(","));
      return next;
    });
  return [folded, fold];
}
