/** What each choice about a task does, in sight where one decides. Says nothing of choices that it does not know. */
import { COMMAND_WORDS, isTaskCommand } from "./command-words";

export function ChoiceWords({ actions }: { actions: readonly string[] }) {
  const known = actions.filter(isTaskCommand);
  if (known.length === 0) return null;
  return (
    <dl className="choice-words" aria-label="What each does">
      {known.map((action) => (
        <div key={action}>
          <dt>{action.charAt(0).toUpperCase() + action.slice(1)}</dt>
          <dd>{COMMAND_WORDS[action]}</dd>
        </div>
      ))}
    </dl>
  );
}
