/** The run's bus, live: who said what to whom, the newest last, and a word of one's own. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { postMessage } from "../api/team-deeds";
import { teamMessagesQuery } from "../api/team-queries";
import type { TeamMessage, TeamRun } from "../api/types";
import { linkToTask } from "../app/routes";
import { ReasonBar } from "../inbox/ReasonBar";
import { Failure } from "../sessions/AskOnce";
import { ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";
import { formatMoment, formatWhole } from "../ui/time";
import { useRunDeed } from "./useRunDeed";

const STEPS = [100, 500];

export function MessagesPart({ run }: { run: TeamRun }) {
  const [step, setStep] = useState(0);
  const [type, setType] = useState("");
  const found = useQuery(teamMessagesQuery(run.id, STEPS[step]!));
  const messages = found.data?.messages ?? [];
  const types = [...new Set(messages.map((one) => one.type))].sort();
  const shown = messages.filter((one) => type === "" || one.type === type).toReversed();
  const ids = new Set(run.all_tasks.map(({ id }) => id));
  return (
    <section className="section" aria-labelledby="team-messages">
      <h2 id="team-messages" className="section-title">
        Messages {found.data && <span className="section-hint">{found.data.last}, the newest first</span>}
      </h2>
      <div className="filters">
        <select className="line-input" aria-label="Type of message" value={type} onChange={(event) => setType(event.target.value)}>
          <option value="">All types</option>
          {types.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      <Say run={run} />
      {found.isPending && <Skeletons count={2} label="Reading the messages" />}
      {found.isError && found.data === undefined && (
        <ReadError what="The messages" error={found.error} onRetry={() => void found.refetch()} />
      )}
      {shown.length > 0 && (
        <ol className="rows messages" aria-label="Messages">
          {shown.map((message) => (
            <MessageRow key={message.id} run={run.id} message={message} tasks={ids} />
          ))}
        </ol>
      )}
      {found.data?.more === true && step + 1 < STEPS.length && (
        <p className="more">
          <button type="button" className="button" onClick={() => setStep(step + 1)}>
            Show more
          </button>
        </p>
      )}
      {found.data?.more === true && step + 1 === STEPS.length && (
        <p className="card-hint">
          Older ones: <code>gemba team msg list {run.id}</code>
        </p>
      )}
    </section>
  );
}

function MessageRow({ run, message, tasks }: { run: string; message: TeamMessage; tasks: ReadonlySet<string> }) {
  const at = new Date(message.ts);
  const task: unknown = (message.data as Record<string, unknown>)["task_id"];
  const about = typeof task === "string" && tasks.has(task) ? task : null;
  const data = Object.keys(message.data).length === 0 ? "" : JSON.stringify(message.data, null, 2);
  return (
    <li className="row message">
      <div className="row-words">
        <p className="message-head">
          <span className="message-number">{message.id}</span>
          <strong>{plainText(message.from)}</strong> <span aria-label="to">→</span> <span>{plainText(message.to)}</span>
          <span className="message-type" data-unknown={!message.known || undefined}>
            {plainText(message.type)}
            {!message.known && <span className="visually-hidden"> (a type without a schema)</span>}
          </span>
          {about !== null && (
            <a className="task-link" {...linkToTask(run, about)}>
              {about}
            </a>
          )}
          <time dateTime={message.ts} title={formatWhole(at)}>
            {formatMoment(at, new Date())}
          </time>
        </p>
        <p className="message-words" dir="auto">
          {plainText(message.summary)}
        </p>
        {data.length > 2 && (
          <details className="as-table message-data">
            <summary>Data</summary>
            <pre tabIndex={0}>
              <code>{plainText(data)}</code>
            </pre>
          </details>
        )}
      </div>
    </li>
  );
}

function Say({ run }: { run: TeamRun }) {
  const [isOpen, setIsOpen] = useState(false);
  const [to, setTo] = useState("all");
  const { act, error } = useRunDeed(run.id);
  if (!isOpen)
    return (
      <p className="bar">
        <button type="button" className="button" onClick={() => setIsOpen(true)}>
          Post a message…
        </button>
      </p>
    );
  const names = ["all", "coordinator", ...run.roles.map((role) => String((role as Record<string, unknown>)["name"] ?? ""))];
  return (
    <div className="say">
      <label className="say-to">
        To{" "}
        <select className="line-input" value={to} onChange={(event) => setTo(event.target.value)}>
          {[...new Set(names)].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <ReasonBar
        label="What you want to say"
        action="Post it"
        required
        onReason={(text) =>
          act({
            run: async (confirmId) => (await postMessage(run.id, to, text, confirmId), null),
            said: "Posted",
            then: () => setIsOpen(false),
          })
        }
        onCancel={() => setIsOpen(false)}
      />
      <Failure of="Not posted" error={error} />
    </div>
  );
}
