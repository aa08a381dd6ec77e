/** The revisions of a section, newest first: who changed what, by which handoff, and the way back from the last. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { contextHistoryQuery } from "../api/queries";
import type { ContextRevision, ContextSection } from "../api/types";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { More } from "../ui/More";
import { ReadError, Skeletons } from "../ui/Notice";
import { plainText } from "../ui/plain-text";
import { Changes } from "./Changes";
import { Source } from "./Source";
import { Warnings } from "./Warnings";

interface Props {
  section: ContextSection;
  onUndo: (revision: number) => void;
}

export function History({ section, onUndo }: Props) {
  const query = useInfiniteQuery(contextHistoryQuery(section.name));
  const revisions = query.data?.pages.flatMap((page) => page.revisions) ?? [];
  return (
    <section className="history" aria-label={`History of ${plainText(section.name)}`}>
      {query.isPending && <Skeletons count={1} label="Reading the history" />}
      {query.isError && query.data === undefined && (
        <ReadError what="The history" error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.data && revisions.length === 0 && <p className="card-hint">Nothing has changed here yet.</p>}
      <ol className="revisions">
        {revisions.map((revision) => (
          <Revision key={revision.revision} revision={revision} section={section} onUndo={onUndo} />
        ))}
      </ol>
      <More query={query} />
    </section>
  );
}

function Revision({ revision, section, onUndo }: Props & { revision: ContextRevision }) {
  const { revision: number, undoes } = revision;
  const canUndo = number === section.standing || number === section.revision;
  return (
    <li className="revision" data-revision={number}>
      <p className="revision-head">
        <strong>Revision {number}</strong>
        {undoes !== null && <span>takes back revision {undoes}</span>}
        <span>
          by {plainText(revision.by)} <Age since={revision.at} ago />
        </span>
        <Source source={revision.source} />
        {canUndo && (
          <button type="button" className="quiet" onClick={() => onUndo(number)}>
            <Icon name="undo" /> {undoes === null ? "Undo" : "Redo"}
            <span className="visually-hidden">
              {undoes === null ? ` revision ${number}` : ` revision ${undoes}`}
            </span>
          </button>
        )}
      </p>
      <Changes changes={revision.changes} unlisted={revision.unlisted} />
      <Warnings warnings={revision.warnings} />
    </li>
  );
}
