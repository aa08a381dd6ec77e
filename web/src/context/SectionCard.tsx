/** One section of what is known: what it is about, who writes it, what it says; its history, and undo, which asks once. */
import { useMutation } from "@tanstack/react-query";
import { memo, useEffect, useRef, useState, type KeyboardEvent } from "react";
import { api, newConfirmId, payload } from "../api/client";
import { explain } from "../api/problem";
import { CONTEXT, refresh } from "../api/queries";
import type { ContextSection } from "../api/types";
import { Age } from "../ui/Age";
import { announce } from "../ui/announce";
import { focusCard } from "../ui/card-focus";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { isCommand } from "../ui/keys";
import { plainText } from "../ui/plain-text";
import { History } from "./History";
import { Known, LongValue } from "./Known";
import { Source } from "./Source";
import { Warnings } from "./Warnings";

async function undo(name: string, revision: number, confirmId: string) {
  const params = { path: { name }, header: { "X-GEMBA-Confirm": confirmId } };
  return payload(await api.POST("/api/context/{name}/undo", { params, body: { revision } }));
}

export const SectionCard = memo(function SectionCard({ section, wanted }: { section: ContextSection; wanted: boolean }) {
  const card = useRef<HTMLElement>(null);
  const [showsHistory, setShowsHistory] = useState(false);
  const [undoing, setUndoing] = useState<number | null>(null);
  const { standing, name } = section;
  const change = useMutation({
    mutationFn: ({ revision, confirmId }: { revision: number; confirmId: string }) => undo(name, revision, confirmId),
    onSuccess: (_done, { revision }) => {
      announce(`Revision ${revision} of ${plainText(name)} is undone`);
      leave();
      void refresh(CONTEXT);
    },
    onError: (error) => announce(`Not done. ${explain(error)}`),
  });
  useEffect(() => {
    if (wanted && card.current) focusCard(card.current);
  }, [wanted]);

  function leave(): void {
    setUndoing(null);
    card.current?.focus({ preventScroll: true });
  }

  function ask(revision: number): void {
    change.reset();
    setUndoing(revision);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (!isCommand(event) || event.repeat || event.shiftKey) return;
    if (event.key === "Escape" && undoing !== null) leave();
    else if (event.key === "o" && section.revision > 0) setShowsHistory(!showsHistory);
    else if (event.key === "u" && standing > 0 && undoing === null) ask(standing);
    else return;
    event.preventDefault();
  }

  return (
    <li className="slot">
      <article
        ref={card}
        className="card"
        tabIndex={-1}
        aria-labelledby={`section-${name}`}
        aria-busy={change.isPending}
        data-section={name}
        onKeyDown={onKeyDown}
      >
        <header className="card-head">
          <h3 id={`section-${name}`} className="kind">
            <Icon name="layers" />
            {plainText(name)}
          </h3>
          {section.revision > 0 && (
            <span>
              revision {section.revision} by {plainText(section.changed_by ?? "")}
            </span>
          )}
          <Source source={section.source} />
          {section.changed_at !== null && (
            <span className="age">
              <Age since={section.changed_at} ago />
            </span>
          )}
        </header>
        <About section={section} />
        <Warnings warnings={section.warnings} />
        {section.value === null ? <LongValue section={section} /> : <Known value={section.value} />}
        {section.revision > 0 && undoing === null && (
          <div className="bar">
            <button
              type="button"
              className="quiet"
              aria-expanded={showsHistory}
              aria-keyshortcuts="o"
              onClick={() => setShowsHistory(!showsHistory)}
            >
              <Kbd>o</Kbd> {showsHistory ? "Hide history" : "History"}
            </button>
            {standing > 0 && (
              <button type="button" className="quiet" aria-keyshortcuts="u" onClick={() => ask(standing)}>
                <Kbd>u</Kbd> Undo last change…
              </button>
            )}
          </div>
        )}
        {undoing !== null && (
          <ConfirmUndo
            revision={undoing}
            busy={change.isPending}
            onYes={() => !change.isPending && change.mutate({ revision: undoing, confirmId: newConfirmId() })}
            onNo={leave}
          />
        )}
        {change.isError && (
          <p className="mark" data-tone="bad" role="alert">
            <Icon name="warn" />
            <span>Not done. {explain(change.error)}</span>
          </p>
        )}
        {showsHistory && <History section={section} onUndo={ask} />}
      </article>
    </li>
  );
});

function About({ section: { declared, strict, paths, writers } }: { section: ContextSection }) {
  return (
    <p className="card-hint section-about">
      {paths.length > 0 && <span>About {paths.map((path) => plainText(path)).join(", ")}</span>}
      {declared && (
        <span>{writers.length > 0 ? `Written by ${writers.map((one) => plainText(one)).join(", ")}` : "No agent writes it"}</span>
      )}
      {strict && <span>Strict: values of a running system are refused</span>}
      {!declared && <span>No longer declared in .gemba/context.toml: agents do not write it</span>}
    </p>
  );
}

interface ConfirmProps {
  revision: number;
  busy: boolean;
  onYes: () => void;
  onNo: () => void;
}

function ConfirmUndo({ revision, busy, onYes, onNo }: ConfirmProps) {
  const yes = useRef<HTMLButtonElement>(null);
  useEffect(() => yes.current?.focus(), []);
  return (
    <div className="bar" role="group" aria-label={`Undo revision ${revision}`}>
      <span className="bar-label">What was there before revision {revision} is restored, as a new revision.</span>
      <button ref={yes} type="button" className="button" disabled={busy} onClick={onYes}>
        Undo revision {revision}
      </button>
      <button type="button" className="quiet" onClick={onNo}>
        Keep it
      </button>
    </div>
  );
}
