/** How far a dispatch got, for which task, in which session, since when. */
import type { Dispatch } from "../api/types";
import { linkToOne } from "../app/routes";
import { Age } from "../ui/Age";
import { plainText } from "../ui/plain-text";
import { sessionName } from "../ui/session-name";
import { Mark } from "./Mark";
import { progressOf } from "./wording";

export function DispatchHead({ dispatch }: { dispatch: Dispatch }) {
  const { session_id: sessionId, task_id: taskId } = dispatch;
  return (
    <header className="card-head">
      <Mark look={progressOf(dispatch)} />
      {sessionId !== null && (
        <a className="session" title={plainText(sessionId)} {...linkToOne("session", sessionId)}>
          {sessionName(sessionId)}
        </a>
      )}
      {taskId !== null && (
        <span className="bead" title="Task">
          {plainText(taskId)}
        </span>
      )}
      <span className="age">
        <Age since={dispatch.created_at} ago />
      </span>
    </header>
  );
}
