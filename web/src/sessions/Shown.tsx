/** The end of what an agent shows, kept current while it lives, with a search in it; and how to look at it in a terminal. */
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { explain } from "../api/problem";
import { transcriptQuery } from "../api/session-queries";
import type { Session } from "../api/types";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { Attach } from "./Attach";
import { MOST_PLACES, partsOf, type Part } from "./find-words";
import { isAlive } from "./wording";

/** From here on one follows what is new. */
const NEAR_END = 24;

export function Shown({ session }: { session: Session }) {
  const { data, error } = useQuery(transcriptQuery(session.id, isAlive(session)));
  const [words, setWords] = useState("");
  const [chosen, setChosen] = useState<number | null>(null);
  const text = useMemo(() => plainText(data?.text ?? ""), [data?.text]);
  const wanted = useDeferredValue(words);
  const parts = useMemo(() => partsOf(text, wanted), [text, wanted]);
  const count = parts.filter(({ place }) => place !== null).length;
  // The last one is the newest: one looks from there backwards.
  const current = count === 0 ? null : Math.min(chosen ?? count - 1, count - 1);
  const step = (by: 1 | -1) => current !== null && setChosen((current + by + count) % count);
  return (
    <section className="section" aria-labelledby="section-shown">
      <h2 id="section-shown" className="section-title">
        What it shows
        <span className="section-hint">{isAlive(session) ? "live" : "its last lines"}</span>
      </h2>
      {data?.attach && <Attach command={data.attach} />}
      <Search
        words={words}
        found={wanted === "" ? null : foundWords(count, current)}
        onWords={(next) => {
          setWords(next);
          setChosen(null);
        }}
        onStep={step}
      />
      {error !== null && data === undefined ? (
        <p className="card-hint" role="alert">
          {plainText(explain(error))}
        </p>
      ) : (
        <Lines parts={parts} current={current} isThere={data !== undefined} />
      )}
    </section>
  );
}

function foundWords(count: number, current: number | null): string {
  if (current === null) return "not found";
  return `${current + 1} of ${count}${count === MOST_PLACES ? " (the last)" : ""}`;
}

interface SearchProps {
  words: string;
  found: string | null;
  onWords: (words: string) => void;
  onStep: (by: 1 | -1) => void;
}

function Search({ words, found, onWords, onStep }: SearchProps) {
  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing || event.key !== "Enter") return;
    event.preventDefault();
    onStep(event.shiftKey ? 1 : -1);
  }
  return (
    <div className="search shown-search" role="search" aria-label="In what it shows">
      <Icon name="search" />
      <input
        type="search"
        className="line-input"
        aria-label="Search in what it shows"
        placeholder="Search in what it shows"
        value={words}
        onChange={(event) => onWords(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <span className="found" role="status">
        {found}
      </span>
      <button type="button" className="tool" aria-label="Previous" title="Previous (Enter)" onClick={() => onStep(-1)}>
        <Icon name="send" />
      </button>
      <button type="button" className="tool turned" aria-label="Next" title="Next (Shift+Enter)" onClick={() => onStep(1)}>
        <Icon name="send" />
      </button>
    </div>
  );
}

function Lines({ parts, current, isThere }: { parts: Part[]; current: number | null; isThere: boolean }) {
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    const pre = box.current;
    if (pre !== null && current === null && follows.current) pre.scrollTop = pre.scrollHeight;
  }, [parts, current]);
  useLayoutEffect(() => {
    if (current !== null) box.current?.querySelector("[data-current]")?.scrollIntoView({ block: "nearest" });
  }, [current]);
  return (
    <pre
      ref={box}
      className="raw-text transcript"
      tabIndex={0}
      role="region"
      aria-label="What it shows"
      dir="ltr"
      onScroll={({ currentTarget: pre }) => {
        follows.current = pre.scrollHeight - pre.scrollTop - pre.clientHeight < NEAR_END;
      }}
    >
      {parts.map(({ text, place }, index) =>
        place === null ? (
          text
        ) : (
          <mark key={index} data-current={place === current || undefined}>
            {text}
          </mark>
        ),
      )}
      {isThere && parts.length === 0 && <span className="nothing">Nothing yet.</span>}
    </pre>
  );
}
