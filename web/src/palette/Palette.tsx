/**
 * Any thing, any screen, any action by a few letters. What the page itself has is there at once; what the server finds
 * joins it when it comes. The focus stays in the field: the arrows move what Enter takes, Escape leads back.
 */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { explain } from "../api/problem";
import { findQuery } from "../api/find-queries";
import { useNotifying } from "../app/notifications";
import { isPaletteKey } from "../app/palette-key";
import { useTheme } from "../app/theme";
import { Icon } from "../ui/Icon";
import { actionsOf, screens, type Entry } from "./entries";
import { entryOf, entryOfRecent } from "./found";
import { piecesOf, ranked, STRONG } from "./rank";
import { keptRecent } from "./useRecent";

const A_PAUSE = 60;
const MOST_SHOWN = 40;
const PAGE = 8;

interface Props {
  workspace: string | undefined;
  /** The address that is open: nobody has to be led there. */
  here: string;
  showHelp: () => void;
  askPm: () => void;
  onClose: () => void;
}

interface Shown {
  sections: { title: string | null; entries: Entry[] }[];
  /** The first of them is what was typed, beyond doubt. */
  isSure: boolean;
}

export function Palette({ workspace, here, showHelp, askPm, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const ids = useId();
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  const [isAwaited, setIsAwaited] = useState(false);
  const { other: otherTheme, switchTheme } = useTheme();
  const { state: notifying, switchTo: notify } = useNotifying();
  const words = typed.trim();
  const asked = useAfterPause(words);
  const found = useQuery(findQuery(asked));
  const isLooking = words !== "" && (asked !== words || found.isFetching);
  const isAnswered = words !== "" && asked === words && !found.isPlaceholderData && found.data !== undefined;

  const own = useMemo(
    () => [
      ...actionsOf({ showHelp, askPm, notifying, notify: (on) => void notify(on), otherTheme, switchTheme }),
      ...screens(),
    ],
    // As it was when the palette was opened, but for what is switched.
    [otherTheme, notifying],
  );
  const recent = useMemo(() => recentEntries(workspace, here), [workspace]);
  const { sections, isSure } = useMemo(
    () => shownFor(words, own, recent, words === "" ? [] : (found.data?.found.map(entryOf) ?? []), isAnswered),
    [words, own, recent, found.data, isAnswered],
  );
  const entries = sections.flatMap((section) => section.entries);
  const at = Math.max(0, entries.findIndex(({ key }) => key === chosen));
  const current = entries[at];
  const idOf = (place: number) => `${ids}-${place}`;

  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [current?.key]);
  useEffect(() => {
    // Enter was pressed before the answer came: it was meant for what comes first in it.
    if (isAwaited && !isLooking) {
      setIsAwaited(false);
      if (current) take(current);
    }
  }, [isAwaited, isLooking, current]);

  function take(entry: Entry): void {
    // The dialog gives the focus back before what was chosen moves it on.
    dialog.current?.close();
    entry.choose();
  }

  function move(to: number): void {
    const next = entries[(to + entries.length) % entries.length];
    if (next) setChosen(next.key);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    if (isPaletteKey(event)) dialog.current?.close();
    else if (event.key === "ArrowDown") move(at + 1);
    else if (event.key === "ArrowUp") move(at - 1);
    else if (event.key === "PageDown") move(Math.min(at + PAGE, entries.length - 1));
    else if (event.key === "PageUp") move(Math.max(at - PAGE, 0));
    else if (event.key === "Enter") {
      if (isLooking && !isSure && chosen === null) setIsAwaited(true);
      else if (current) take(current);
    } else return;
    event.preventDefault();
  }

  let place = -1;
  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Find or do"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div className="palette-field">
        <Icon name="search" />
        <input
          className="palette-input"
          role="combobox"
          aria-label="Find anything, or do something"
          aria-autocomplete="list"
          aria-expanded={entries.length > 0}
          aria-controls={`${ids}-list`}
          aria-activedescendant={current && idOf(at)}
          placeholder="Find anything, or do something"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          autoFocus
          maxLength={200}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setChosen(null);
            setIsAwaited(false);
          }}
          onKeyDown={onKeyDown}
        />
        <button
          type="button"
          className="tool"
          aria-label="Close"
          title="Close (Esc)"
          onClick={() => dialog.current?.close()}
        >
          <Icon name="close" />
        </button>
      </div>
      <div ref={list} id={`${ids}-list`} className="palette-list" role="listbox" aria-label="Found">
        {sections.map((section, number) => (
          <div
            key={section.title ?? "found"}
            role="group"
            aria-label={section.title ?? "Best first"}
            className="palette-section"
          >
            {section.title !== null && (
              <p className="palette-heading" aria-hidden="true" id={`${ids}-section-${number}`}>
                {section.title}
              </p>
            )}
            {section.entries.map((entry) => {
              place += 1;
              return (
                <Option
                  key={entry.key}
                  id={idOf(place)}
                  entry={entry}
                  typed={words}
                  isCurrent={entry === current}
                  onTake={() => take(entry)}
                />
              );
            })}
          </div>
        ))}
      </div>
      <p className="palette-state" role="status">
        {stateOf(words, entries.length, isLooking, found.isError && asked === words ? found.error : null)}
      </p>
    </dialog>
  );
}

interface OptionProps {
  id: string;
  entry: Entry;
  typed: string;
  isCurrent: boolean;
  onTake: () => void;
}

function Option({ id, entry, typed, isCurrent, onTake }: OptionProps) {
  const { title, icon, kind, hint, keys } = entry;
  return (
    <div id={id} className="palette-option" role="option" aria-selected={isCurrent} onClick={onTake}>
      <Icon name={icon} />
      <span className="palette-words">
        <span className="palette-title" dir="auto">
          {piecesOf(title, typed).map(({ text, isMatch }, place) => (isMatch ? <b key={place}>{text}</b> : text))}
        </span>
        {hint !== "" && <span className="palette-hint">{hint}</span>}
      </span>
      <span className="palette-kind">{kind}</span>
      {keys.length > 0 && (
        <span className="palette-keys" aria-hidden="true">
          {keys.map((key) => (
            <kbd key={key} className="kbd">
              {key}
            </kbd>
          ))}
        </span>
      )}
    </div>
  );
}

function stateOf(words: string, many: number, isLooking: boolean, error: unknown): string {
  if (error !== null) return `What the server has could not be searched: ${explain(error)}`;
  if (words === "") return "";
  if (isLooking) return many === 0 ? "Looking…" : "";
  return many === 0 ? "Nothing has these words" : many === 1 ? "1 found" : `${many} found`;
}

/** Where one was before this place. */
function recentEntries(workspace: string | undefined, here: string): Entry[] {
  if (workspace === undefined) return [];
  return keptRecent(workspace).map(entryOfRecent).filter((entry) => entry !== null && entry.key !== here) as Entry[];
}

function shownFor(words: string, own: Entry[], recent: Entry[], found: Entry[], isAnswered: boolean): Shown {
  if (words === "") {
    const known = new Set(recent.map(({ key }) => key));
    const actions = own.filter(({ kind }) => kind === "Action");
    const others = own.filter(({ key, kind }) => kind !== "Action" && !known.has(key));
    const sections = [
      { title: "Recent", entries: recent },
      { title: "Actions", entries: actions },
      { title: "Screens", entries: others },
    ];
    return { sections: sections.filter(({ entries }) => entries.length > 0), isSure: true };
  }
  const keys = new Set(found.map(({ key }) => key));
  const screensToo = new Set(own.map(({ key }) => key));
  const remembered = recent.filter(({ key }) => !keys.has(key) && !screensToo.has(key));
  // An answer to other words is shown as far as it fits these; an answer to these is the server's to judge.
  const list = ranked(words, [...own, ...remembered, ...found], (entry) => isAnswered && entry.isFound === true);
  const entries = list.slice(0, MOST_SHOWN).map(({ entry }) => entry);
  const isSure = (list[0]?.score ?? 0) >= STRONG;
  return { sections: entries.length === 0 ? [] : [{ title: null, entries }], isSure };
}

/** What is typed, once a moment passed without another letter. */
function useAfterPause(words: string): string {
  const [settled, setSettled] = useState(words);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(words), A_PAUSE);
    return () => clearTimeout(timer);
  }, [words]);
  return words === "" ? "" : settled;
}
