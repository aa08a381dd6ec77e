/** What a task wrote down, every version of it; the text is read when it is opened. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { teamArtifactQuery, teamKnowledgeQuery } from "../api/team-queries";
import type { TaskTransfers } from "../api/types";
import { Markdown } from "../ui/Markdown";
import { ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";

type Published = TaskTransfers["artifacts"][number];

export function Artifacts({ run, task }: { run: string; task: string }) {
  const { data, isError, error, refetch } = useQuery(teamKnowledgeQuery(run));
  const published = data?.tasks.find(({ task_id }) => task_id === task)?.artifacts ?? [];
  if (isError && data === undefined) return <ReadError what="The artifacts" error={error} onRetry={() => void refetch()} />;
  if (published.length === 0) return <p className="card-hint">It has written nothing down yet.</p>;
  return (
    <ul className="artifacts">
      {published.toReversed().map((one) => (
        <li key={`${one.name} ${one.version}`}>
          <Artifact run={run} one={one} />
        </li>
      ))}
    </ul>
  );
}

function Artifact({ run, one }: { run: string; one: Published }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details className="attempt" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>
        <span className="attempt-name artifact-name">{plainText(one.name)}</span>
        <span className="card-hint">
          {one.version > 1 && `version ${one.version}, `}
          {one.lines} {one.lines === 1 ? "line" : "lines"}
        </span>
      </summary>
      {isOpen && <Content run={run} one={one} />}
    </details>
  );
}

function Content({ run, one }: { run: string; one: Published }) {
  const { data, isError, error, refetch } = useQuery(teamArtifactQuery(run, one.name, one.version, one.digest));
  if (isError && data === undefined) return <ReadError what="The artifact" error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeletons count={1} label="Reading the artifact" />;
  return (
    <div className="attempt-body">
      <Markdown text={data.content} />
    </div>
  );
}
