/** Nothing is here yet: three ways to begin, each of which fills a part of the floor. */
import { linkTo } from "../app/routes";
import { EmptyState } from "../ui/Notice";

const ASK = `GEMBA_SESSION_ID=try gemba-ask --kind question --role coach \\
  --text "Tea or coffee?" --option Tea --option Coffee --wait`;
const START = 'gemba session start --agent builtin "run: make test"';
const IMPORT = `gemba import md TODO.md         # or: csv FILE, beads .beads/issues.jsonl
gemba ready --explain`;

export function FirstSteps() {
  return (
    <EmptyState title="Nothing happens on this floor yet">
      <p>What needs you, what runs, what is next and what it costs will stand here. Three ways to begin, in a terminal in the workspace:</p>
      <ol className="first-steps">
        <li>
          <h3>Let an agent ask you</h3>
          <pre tabIndex={0} aria-label="Command with which an agent asks">
            <code>{ASK}</code>
          </pre>
          <p className="hint">
            The question comes here and to the <a {...linkTo("inbox")}>inbox</a>; answer it, and the command prints your choice.
          </p>
        </li>
        <li>
          <h3>Start an agent</h3>
          <pre tabIndex={0} aria-label="Command that starts an agent">
            <code>{START}</code>
          </pre>
          <p className="hint">
            Or under <a {...linkTo("sessions")}>Sessions</a>. Each works in a git worktree of its own; builtin needs no model.
          </p>
        </li>
        <li>
          <h3>Bring your work</h3>
          <pre tabIndex={0} aria-label="Commands that take work in">
            <code>{IMPORT}</code>
          </pre>
          <p className="hint">
            Or make items on the <a {...linkTo("board")}>board</a>. What is ready is ranked here, with reasons; a{" "}
            <a {...linkTo("teams")}>team</a> can take it from there.
          </p>
        </li>
      </ol>
    </EmptyState>
  );
}
