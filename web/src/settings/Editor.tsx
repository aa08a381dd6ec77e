/**
 * One file of settings as text. It is checked while one types, by the server's own validators; what would change stands
 * below it before anything is saved, and a file that somebody else changed meanwhile is not written over.
 */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useEffect, useRef, useState, type KeyboardEvent } from "react";
import { newConfirmId } from "../api/client";
import { explain, Refused } from "../api/problem";
import { doctorQuery, refresh } from "../api/queries";
import { saveSettings, SETTINGS, settingsCheckQuery, settingsTextQuery } from "../api/setting-queries";
import type { CheckedSettings, SettingsFinding, SettingsText } from "../api/types";
import { linkTo } from "../app/routes";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";
import { forgetDraft, keepDraft, keptDraft } from "./draft";
import { changesOf } from "./line-diff";
import { COUNTS, errorsIn } from "./wording";

const A_PAUSE = 250;

export function Editor({ name, line }: { name: string; line: number | null }) {
  const { data, isError, error, refetch } = useQuery(settingsTextQuery(name));
  const isDemo = useIsDemo();
  return (
    <>
      <header className="screen-head">
        <p className="settings-back">
          <a {...linkTo("settings")}>
            <Icon name="undo" size={14} /> All settings
          </a>
        </p>
        <h1 tabIndex={-1}>
          <code>.gemba/{plainText(name)}</code>
        </h1>
        <p>{data && `${data.file.about}. ${counts(data.file, isDemo)}`}</p>
      </header>
      {data === undefined && !isError && <Skeletons count={1} label="Reading the file" />}
      {isError && data === undefined && <ReadError what="The file" error={error} onRetry={() => void refetch()} />}
      {data && <Text read={data} line={line} />}
    </>
  );
}

/** A demo has no next start: what it has made goes with it. */
function counts(file: SettingsText["file"], isDemo: boolean): string {
  const words = COUNTS[file.counts];
  return isDemo && file.counts === "next_start" ? `${words} A demo has none: here you can only try the editor.` : words;
}

const useIsDemo = () => useQuery(doctorQuery).data?.demo === true;

function Text({ read, line }: { read: SettingsText; line: number | null }) {
  const { name, digest } = read.file;
  const isDemo = useIsDemo();
  // A field of text knows one end of line; the file keeps its own.
  const end = read.text.includes("\r\n") ? "\r\n" : "\n";
  const before = read.text.replaceAll("\r\n", "\n");
  const [text, setText] = useState(() => keptDraft(name) ?? before);
  const box = useRef<HTMLTextAreaElement>(null);
  const isChanged = text !== before;
  const settled = useAfterPause(text);
  const check = useQuery(settingsCheckQuery(name, settled));
  const isChecked = settled === text && !check.isPlaceholderData && check.data !== undefined;
  const findings = check.data?.findings ?? read.file.findings;
  const errors = errorsIn(findings);
  const save = useMutation({
    mutationFn: saveSettings,
    onSuccess: () => {
      forgetDraft(name);
      announce(`Saved .gemba/${name}`);
      void refresh(SETTINGS);
    },
    onError: (problem) => {
      announce(`Not saved. ${explain(problem)}`);
      // What is there now is what the next attempt is compared with.
      if (problem instanceof Refused && problem.code === "settings_changed") void refresh(SETTINGS);
    },
  });
  const maySave = isChanged && isChecked && errors === 0 && !save.isPending;

  useEffect(() => {
    if (line !== null && box.current) goToLine(box.current, line);
  }, [line]);

  function change(next: string): void {
    setText(next);
    if (next === before) forgetDraft(name);
    else keepDraft(name, next);
    save.reset();
  }

  function go(): void {
    if (maySave) save.mutate({ file: name, text: text.replaceAll("\n", end), digest, confirmId: newConfirmId() });
    else if (isChanged) announce(errors > 0 ? "There are faults; it cannot be saved" : "It is still being checked");
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (!(event.ctrlKey || event.metaKey) || (event.key !== "Enter" && event.key.toLowerCase() !== "s")) return;
    event.preventDefault();
    go();
  }

  return (
    <div className="settings-editor" onKeyDown={onKeyDown}>
      <Area box={box} name={name} text={text} findings={findings} onText={change} />
      <Findings findings={findings} isChecked={isChecked} onLine={(number) => box.current && goToLine(box.current, number)} />
      {isChanged && <Preview before={before} after={text} checked={isChecked ? check.data : undefined} />}
      {save.isError && (
        <p className="mark" data-tone="bad" role="alert">
          <Icon name="warn" />
          <span>
            {save.error instanceof Refused && save.error.code === "settings_changed"
              ? "Not saved: the file was changed meanwhile. What yours would change of it now stands above; save again to put it in its place."
              : `Not saved. ${plainText(explain(save.error))}`}
          </span>
        </p>
      )}
      {check.isError && settled === text && (
        <p className="mark" data-tone="bad" role="alert">
          <Icon name="warn" />
          <span>It could not be checked. {plainText(explain(check.error))}</span>
        </p>
      )}
      {save.isSuccess && !isChanged && (
        <p className="mark" data-tone="good" role="status">
          <Icon name="check" />
          <span>Saved. {counts(read.file, isDemo)}</span>
        </p>
      )}
      <div className="bar">
        <button type="button" className="button" data-main disabled={!maySave} aria-keyshortcuts="Control+Enter" onClick={go}>
          <Kbd>Ctrl Enter</Kbd> {save.isPending ? "Saving…" : "Save"}
        </button>
        {isChanged && (
          <button type="button" className="quiet" onClick={() => (change(before), box.current?.focus())}>
            Take back what I changed
          </button>
        )}
      </div>
    </div>
  );
}

interface AreaProps {
  box: React.RefObject<HTMLTextAreaElement | null>;
  name: string;
  text: string;
  findings: readonly SettingsFinding[];
  onText: (text: string) => void;
}

/** The text with the numbers of its lines beside it. */
function Area({ box, name, text, findings, onText }: AreaProps) {
  const numbers = useRef<HTMLDivElement>(null);
  const many = useDeferredValue(text.split("\n").length);
  const marked = new Map(findings.map(({ line, severity }) => [line, severity]));
  return (
    <div className="settings-area">
      <div ref={numbers} className="settings-numbers" aria-hidden="true">
        {Array.from({ length: many }, (_, place) => (
          <span key={place} data-severity={marked.get(place + 1)}>
            {place + 1}
          </span>
        ))}
      </div>
      <textarea
        ref={box}
        className="settings-text"
        aria-label={`Text of .gemba/${name}`}
        aria-invalid={errorsIn(findings) > 0}
        aria-describedby="settings-findings"
        wrap="off"
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        rows={Math.min(Math.max(many, 8), 28)}
        value={text}
        onChange={(event) => onText(event.target.value)}
        onScroll={(event) => numbers.current?.scrollTo({ top: event.currentTarget.scrollTop })}
      />
    </div>
  );
}

interface FindingsProps {
  findings: readonly SettingsFinding[];
  isChecked: boolean;
  onLine: (line: number) => void;
}

function Findings({ findings, isChecked, onLine }: FindingsProps) {
  return (
    <div id="settings-findings" role="status" aria-busy={!isChecked} className="settings-findings">
      {findings.length === 0 && <p className="settings-none">{isChecked ? "No fault." : "Checking…"}</p>}
      {findings.length > 0 && (
        <ul>
          {findings.map(({ line, message, severity }, place) => (
            <li key={place} data-severity={severity}>
              <button type="button" className="link-button" onClick={() => onLine(line)}>
                Line {line}
              </button>
              <span dir="auto">{plainText(message)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** What saving would change: settings by name as far as they have one, and lines. */
function Preview({ before, after, checked }: { before: string; after: string; checked: CheckedSettings | undefined }) {
  const lines = changesOf(before, after);
  const changes = checked?.changes ?? [];
  return (
    <section className="settings-preview" aria-labelledby="settings-preview">
      <h2 id="settings-preview" className="section-title">
        What changes
      </h2>
      {changes.length > 0 && (
        <dl className="settings-changes">
          {changes.map(({ name, before: was, after: is }) => (
            <div key={name}>
              <dt>{plainText(name)}</dt>
              <dd>
                {was === null ? <em>new</em> : <del>{plainText(was)}</del>} →{" "}
                {is === null ? <em>gone</em> : <ins>{plainText(is)}</ins>}
              </dd>
            </div>
          ))}
        </dl>
      )}
      <pre className="settings-lines" tabIndex={0} aria-label="Lines that change">
        {lines.map((line, place) =>
          line.kind === "gap" ? (
            <span key={place} className="settings-gap">
              {`⋯ ${line.many} ${line.many === 1 ? "line" : "lines"}\n`}
            </span>
          ) : (
            <span key={place} data-kind={line.kind}>
              {`${{ same: " ", gone: "−", new: "+" }[line.kind]} ${plainText(line.text)}\n`}
            </span>
          ),
        )}
      </pre>
    </section>
  );
}

/** The caret to the beginning of a line, and the line into view. */
function goToLine(box: HTMLTextAreaElement, number: number): void {
  const lines = box.value.split("\n");
  const start = lines.slice(0, number - 1).reduce((sum, line) => sum + line.length + 1, 0);
  const end = start + (lines[number - 1]?.length ?? 0);
  box.focus();
  box.setSelectionRange(start, end);
  box.scrollTop = (box.scrollHeight / Math.max(1, lines.length)) * Math.max(0, number - 4);
}

function useAfterPause(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), A_PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
