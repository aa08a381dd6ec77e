/** Which items the board shows: by their words, kind, label, epic, assignee, and whether they can be begun. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { WorkBoard } from "../api/types";
import { epicsQuery } from "../api/work-queries";
import { firstLine } from "../ui/plain-text";
import { isFiltered, NOTHING_CHOSEN, type Chosen } from "./filter";
import { KIND_NAMES, KINDS } from "./wording";

/** Long enough for the next letter, short enough to be felt as at once. */
const PAUSE = 250;
const MOST_OFFERED = 50;

interface Props {
  board: WorkBoard | undefined;
  chosen: Chosen;
  set: { [Name in keyof Chosen]: (value: string) => void };
}

export function Filters({ board, chosen, set }: Props) {
  const cards = board?.columns.flatMap((column) => column.cards) ?? [];
  const offered = (words: (string | null)[]) =>
    [...new Set(words.filter((word) => word !== null))].sort().slice(0, MOST_OFFERED);
  return (
    <div className="filters" role="search" aria-label="Which items">
      <Typed name="Words" type="search" value={chosen.text} onValue={set.text} />
      <select className="line-input" aria-label="Kind" value={chosen.kind} onChange={(event) => set.kind(event.target.value)}>
        <option value="">Every kind</option>
        {KIND_NAMES.map((kind) => (
          <option key={kind} value={kind}>
            {KINDS[kind]}
          </option>
        ))}
      </select>
      <Parents value={chosen.parent} onValue={set.parent} none="Every epic" />
      <Typed
        name="Label"
        value={chosen.label}
        onValue={set.label}
        offers={offered(cards.flatMap(({ labels }) => labels))}
      />
      <Typed
        name="Assignee"
        value={chosen.assignee}
        onValue={set.assignee}
        offers={offered(cards.map(({ assignee }) => assignee))}
      />
      <select
        className="line-input"
        aria-label="Ready or blocked"
        value={chosen.show}
        onChange={(event) => set.show(event.target.value)}
      >
        <option value="">Ready or not</option>
        <option value="ready">Only what is ready</option>
        <option value="blocked">Only what is blocked</option>
      </select>
      {isFiltered(chosen) && (
        <button
          type="button"
          className="quiet"
          onClick={() => {
            for (const name of Object.keys(NOTHING_CHOSEN) as (keyof Chosen)[]) set[name]("");
          }}
        >
          Show all
        </button>
      )}
    </div>
  );
}

interface TypedProps {
  name: string;
  value: string;
  onValue: (value: string) => void;
  type?: "search" | "text";
  offers?: string[];
}

/** Taken when the typing pauses; another address takes the place of what was typed. */
function Typed({ name, value, onValue, type = "text", offers = [] }: TypedProps) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    setTyped(value);
  }
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => onValue(typed.trim()), PAUSE);
    return () => clearTimeout(timer);
  }, [typed, value, onValue]);
  const list = `offers-${name.toLowerCase()}`;
  return (
    <>
      <input
        className="line-input"
        type={type}
        aria-label={name}
        placeholder={name}
        maxLength={200}
        value={typed}
        list={offers.length > 0 ? list : undefined}
        onChange={(event) => setTyped(event.target.value)}
      />
      {offers.length > 0 && (
        <datalist id={list}>
          {offers.map((word) => (
            <option key={word} value={word} />
          ))}
        </datalist>
      )}
    </>
  );
}

interface ParentsProps {
  value: string;
  onValue: (value: string) => void;
  none: string;
  label?: string;
}

/** One of the epics and milestones. One that is not among them is named by its id. */
export function Parents({ value, onValue, none, label = "Epic" }: ParentsProps) {
  const epics = useQuery(epicsQuery).data?.items ?? [];
  return (
    <select className="line-input" aria-label={label} value={value} onChange={(event) => onValue(event.target.value)}>
      <option value="">{none}</option>
      {value !== "" && !epics.some(({ id }) => id === value) && <option value={value}>{value}</option>}
      {epics.map(({ id, title }) => (
        <option key={id} value={id}>
          {firstLine(title, 60)}
        </option>
      ))}
    </select>
  );
}
