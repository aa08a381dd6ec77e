/** What is settled, newest first, and a search over the words of questions and answers. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { answeredQuery } from "../api/queries";
import { useParameter } from "../app/routes";
import { SettledRow } from "../inbox/Rows";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { EmptyState, ReadError, Skeletons } from "../ui/Notice";
import { More } from "../ui/More";

/** Long enough for the next letter, short enough to be felt as at once. */
const PAUSE = 250;

export function AnsweredScreen() {
  const [words, setWords] = useParameter("q");
  const [typed, setTyped] = useState(words);
  const found = useInfiniteQuery(answeredQuery(words));
  const rows = found.data?.pages.flatMap((page) => page.escalations) ?? [];
  const total = found.data?.pages[0]?.total ?? 0;
  const isThere = found.data !== undefined && !found.isPlaceholderData;

  useEffect(() => {
    if (typed.trim() === words) return;
    const timer = setTimeout(() => setWords(typed.trim()), PAUSE);
    return () => clearTimeout(timer);
  }, [typed, words, setWords]);
  useEffect(() => {
    if (isThere && words !== "") announce(total === 1 ? "1 found" : `${total} found`);
  }, [isThere, total, words]);

  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Answered</h1>
        <p>What agents asked and what they were told.</p>
      </header>
      <SearchBox text={typed} onText={setTyped} onLeave={() => setTyped("")} />
      {found.isPending && <Skeletons count={3} label="Reading what was answered" />}
      {found.isError && found.data === undefined && (
        <ReadError what="What was answered" error={found.error} onRetry={() => void found.refetch()} />
      )}
      {isThere && rows.length === 0 && (
        <EmptyState title={words === "" ? "Nothing has been answered yet" : "Nothing found"}>
          <p>
            {words === ""
              ? "What you answer stands here, with who answered and whether it arrived."
              : "Every word must stand in the question or in the answer."}
          </p>
        </EmptyState>
      )}
      {rows.length > 0 && (
        <>
          <p className="found">{words === "" ? `${total} in all` : `${total} found`}</p>
          <ul className="rows" aria-busy={found.isPlaceholderData}>
            {rows.map((one) => (
              <SettledRow key={one.id} escalation={one} />
            ))}
          </ul>
        </>
      )}
      <More query={found} />
    </>
  );
}

interface BoxProps {
  text: string;
  onText: (text: string) => void;
  onLeave: () => void;
}

function SearchBox({ text, onText, onLeave }: BoxProps) {
  const box = useRef<HTMLInputElement>(null);
  return (
    <form className="search" role="search" onSubmit={(event) => event.preventDefault()}>
      <Icon name="search" />
      <input
        ref={box}
        id="search"
        type="search"
        className="line-input"
        aria-label="Search questions and answers"
        aria-keyshortcuts="/"
        placeholder="Search questions and answers…"
        autoComplete="off"
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          if (text === "") box.current?.blur();
          else onLeave();
        }}
      />
      <Kbd>/</Kbd>
    </form>
  );
}
