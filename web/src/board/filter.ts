/** What the board is filtered by, as it stands in the address. */
import { useMemo } from "react";
import type { BoardFilter } from "../api/work-queries";
import { useParameter } from "../app/routes";
import { isKind } from "./wording";

export type Show = "" | "ready" | "blocked";

export interface Chosen {
  text: string;
  kind: string;
  label: string;
  parent: string;
  assignee: string;
  show: Show;
}

type Setters = { [Name in keyof Chosen]: (value: string) => void };

export const NOTHING_CHOSEN: Chosen = { text: "", kind: "", label: "", parent: "", assignee: "", show: "" };

export const isFiltered = (chosen: Chosen) => Object.values(chosen).some((value) => value !== "");

export function useChosen(): { chosen: Chosen; set: Setters; filter: BoardFilter } {
  const [text, setText] = useParameter("text");
  const [wantedKind, setKind] = useParameter("kind");
  const [label, setLabel] = useParameter("label");
  const [parent, setParent] = useParameter("parent");
  const [assignee, setAssignee] = useParameter("assignee");
  const [wantedShow, setShow] = useParameter("show");
  // An address that was typed wrongly filters nothing.
  const kind = isKind(wantedKind) ? wantedKind : "";
  const show = wantedShow === "ready" || wantedShow === "blocked" ? wantedShow : "";
  const filter = useMemo<BoardFilter>(
    () => ({
      ...(text !== "" && { text }),
      ...(kind !== "" && { kind }),
      ...(label !== "" && { label }),
      ...(parent !== "" && { parent }),
      ...(assignee !== "" && { assignee }),
      ...(show === "ready" && { ready: true }),
      ...(show === "blocked" && { blocked: true }),
    }),
    [text, kind, label, parent, assignee, show],
  );
  return {
    chosen: { text, kind, label, parent, assignee, show },
    set: {
      text: setText,
      kind: setKind,
      label: setLabel,
      parent: setParent,
      assignee: setAssignee,
      show: setShow,
    },
    filter,
  };
}
