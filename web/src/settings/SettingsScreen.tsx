/** How the workspace is set up: what its files say, line by line, and the way to change one of them. */
import { useQuery } from "@tanstack/react-query";
import { settingsQuery } from "../api/setting-queries";
import type { Setting, Settings, SettingsFile } from "../api/types";
import { linkTo, linkToSettings, useParameter, type RouteName } from "../app/routes";
import { Icon } from "../ui/Icon";
import { ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";
import { keptDraft } from "./draft";
import { Editor } from "./Editor";
import { NotifyChoice } from "./NotifyChoice";
import { nameParts, PART_NAMES, PARTS, stateOf, type Part } from "./wording";

/** The screens that say more of a part. */
const MORE: Partial<Record<Part, { route: RouteName; words: string }>> = {
  policies: { route: "policies", words: "What each does when, on Policies" },
  channels: { route: "policies", words: "Which can be used, on Policies" },
  budgets: { route: "personas", words: "What each advisor may spend, on Personas" },
  context: { route: "context", words: "What is known, on Context" },
  approvals: { route: "approvals", words: "What was asked, on Approvals" },
};

export function SettingsScreen() {
  const [file] = useParameter("file");
  const [line] = useParameter("line");
  if (file !== "") return <Editor key={file} name={file} line={Number(line) || null} />;
  return <All />;
}

function All() {
  const { data, isPending, isError, error, refetch } = useQuery(settingsQuery);
  return (
    <>
      <header className="screen-head">
        <h1 tabIndex={-1}>Settings</h1>
        <p>What the files of this workspace say. They are text, yours to commit; what they leave out has its default.</p>
      </header>
      {isPending && <Skeletons count={3} label="Reading the settings" />}
      {isError && data === undefined && <ReadError what="The settings" error={error} onRetry={() => void refetch()} />}
      {data && <Files settings={data} />}
      <NotifyChoice />
      {data && PART_NAMES.map((part) => <PartSection key={part} part={part} settings={data} />)}
    </>
  );
}

function Files({ settings: { files, may_edit: mayEdit } }: { settings: Settings }) {
  return (
    <section className="section" aria-labelledby="section-files">
      <h2 id="section-files" className="section-title">
        Files
      </h2>
      {!mayEdit && (
        <p className="section-hint">Their texts name programs that are run: only the workspace’s own operator edits them.</p>
      )}
      <ul className="panel">
        {files.map((file) => (
          <FileLine key={file.name} file={file} mayEdit={mayEdit} />
        ))}
      </ul>
    </section>
  );
}

function FileLine({ file, mayEdit }: { file: SettingsFile; mayEdit: boolean }) {
  const { words, tone } = stateOf(file);
  const [first] = file.findings;
  return (
    <li className="check settings-file" data-status={tone}>
      <span className="check-mark">
        <Icon name={tone === "ok" ? "check" : "warn"} size={14} />
      </span>
      <div className="settings-file-words">
        <h3>
          <code>{file.path}</code> <span className="settings-state">{words}</span>
        </h3>
        <p>{file.about}</p>
        {keptDraft(file.name) !== undefined && <p className="check-hint">What you typed there is kept, and not saved yet.</p>}
        {first !== undefined && (
          <p className="check-hint">
            Line {first.line}: {plainText(first.message)}
          </p>
        )}
      </div>
      {mayEdit && (
        <a
          className="button settings-edit"
          aria-label={`${file.digest === "" ? "Write it" : "Edit"}: ${file.path}`}
          {...linkToSettings(file.name, first?.line ?? null)}
        >
          {file.digest === "" ? "Write it" : "Edit"}
        </a>
      )}
    </li>
  );
}

function PartSection({ part, settings }: { part: Part; settings: Settings }) {
  const said = settings.said.filter((one) => one.part === part);
  const more = MORE[part];
  if (said.length === 0 && part !== "policies" && part !== "channels") return null;
  const { title, about } = PARTS[part];
  const own = said.filter(({ line }) => line !== null);
  const defaults = said.filter(({ line }) => line === null);
  return (
    <section className="section" aria-labelledby={`section-${part}`}>
      <h2 id={`section-${part}`} className="section-title">
        {title}
        <span className="section-hint">{about}</span>
      </h2>
      {own.length > 0 && <Values said={own} settings={settings} />}
      {said.length === 0 && <p className="settings-none">None: {part === "policies" ? "everything waits until you answer" : "the open page alone tells you"}.</p>}
      {defaults.length > 0 && (
        <details className="settings-defaults" open={own.length === 0 && defaults.length < 12 && part !== "agents"}>
          <summary>
            {part === "agents" ? "As shipped" : "By default"} <span className="count">{defaults.length}</span>
          </summary>
          <Values said={defaults} settings={settings} />
        </details>
      )}
      {more && (
        <p className="settings-more">
          <a {...linkTo(more.route)}>{more.words}</a>
        </p>
      )}
    </section>
  );
}

function Values({ said, settings }: { said: Setting[]; settings: Settings }) {
  return (
    <dl className="panel settings-values">
      {said.map((one) => (
        <Value key={`${one.file} ${one.name}`} said={one} settings={settings} />
      ))}
    </dl>
  );
}

function Value({ said: { name, value, file, line }, settings }: { said: Setting; settings: Settings }) {
  const { table, key } = file === "workspace.toml" ? nameParts(name) : { table: "", key: name };
  const running = file === "workspace.toml" ? settings.waiting[name] : undefined;
  const where = line === null ? null : `${file}:${line}`;
  return (
    <div className="settings-value" data-default={line === null || undefined}>
      <dt>
        {table !== "" && <span className="settings-table">{plainText(table)}.</span>}
        {plainText(key)}
      </dt>
      <dd>
        <span dir="auto">{plainText(value)}</span>
        {running !== undefined && (
          <span className="settings-waiting">
            <Icon name="clock" size={14} /> the server still runs with {plainText(running)}
          </span>
        )}
      </dd>
      <dd className="settings-where">
        {where === null ? (
          "default"
        ) : settings.may_edit ? (
          <a aria-label={`${where}: ${name}`} {...linkToSettings(file, line)}>
            {where}
          </a>
        ) : (
          where
        )}
      </dd>
    </div>
  );
}
