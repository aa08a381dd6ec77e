/** What is only in a session's worktree: files that are not committed, commits that are not merged. Nothing without one. */
import { useQuery } from "@tanstack/react-query";
import { explain } from "../api/problem";
import { worktreeQuery } from "../api/session-queries";
import type { Session, Worktree } from "../api/types";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { Release } from "./Release";
import { isAlive, worktreeWords } from "./wording";

export function WorktreePart({ session }: { session: Session }) {
  const { data, error } = useQuery(worktreeQuery(session.id, isAlive(session)));
  const tree = data?.worktree ?? null;
  if (tree === null && error === null) return null;
  return (
    <section className="section" aria-labelledby="section-worktree">
      <h2 id="section-worktree" className="section-title">
        Worktree
        {tree !== null && <span className="section-hint">{worktreeWords(tree).map((words) => plainText(words)).join(" · ")}</span>}
      </h2>
      {tree === null ? <p className="card-hint">{plainText(explain(error))}</p> : <Unsaved tree={tree} />}
      {tree !== null && mayGo(session, tree) && <Release id={session.id} tree={tree} />}
    </section>
  );
}

function mayGo(session: Session, tree: Worktree): boolean {
  return !isAlive(session) && (session.run?.ended_at ?? null) !== null && tree.branch !== null;
}

function Unsaved({ tree }: { tree: Worktree }) {
  return (
    <>
      {tree.locked !== null && (
        <p className="mark" data-tone="warn">
          <Icon name="key" />
          <span>Somebody locked it: {plainText(tree.locked)}</span>
        </p>
      )}
      <Names label="Not committed" names={tree.files} total={tree.dirty} />
      <Names label="Not merged" names={tree.commits} total={tree.unmerged ?? tree.commits.length} />
    </>
  );
}

function Names({ label, names, total }: { label: string; names: string[]; total: number }) {
  if (names.length === 0) return null;
  return (
    <>
      <h3 className="card-hint">{label}</h3>
      <ul className="rows names" aria-label={label}>
        {names.map((name, index) => (
          <li key={index} className="row">
            <code dir="ltr">{plainText(name)}</code>
          </li>
        ))}
        {total > names.length && <li className="row">and {total - names.length} more</li>}
      </ul>
    </>
  );
}
