/** The sessions the server hears from: those that need the operator first, then the most recently heard. */
import type { Session } from "../api/types";
import { Age } from "../ui/Age";
import { From } from "../ui/From";
import { plainText } from "../ui/plain-text";

function byNeedThenRecency(a: Session, b: Session): number {
  return Number(b.needs_you) - Number(a.needs_you) || Date.parse(b.last_frame_at) - Date.parse(a.last_frame_at);
}

/** What it says of itself while it lives, and how it ended when it does not. */
function stateOf(session: Session): string {
  const lives = session.lifecycle === "running" || session.lifecycle === "starting";
  return (lives && session.reported_state) || session.lifecycle;
}

export function Sessions({ sessions }: { sessions: Session[] }) {
  return (
    <section className="section" aria-labelledby="section-sessions">
      <h2 id="section-sessions" className="section-title">
        Sessions
        <span className="section-hint">{sessions.length}</span>
      </h2>
      {sessions.length === 0 ? (
        <p className="more">No agent has been heard of yet.</p>
      ) : (
        <div className="panel table-panel">
          <table className="sessions">
            <thead>
              <tr>
                <th scope="col">Session</th>
                <th scope="col">State</th>
                <th scope="col">Work item</th>
                <th scope="col">Mode</th>
                <th scope="col">Last heard</th>
              </tr>
            </thead>
            <tbody>
              {sessions.toSorted(byNeedThenRecency).map((session) => (
                <SessionRow key={session.id} session={session} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function SessionRow({ session }: { session: Session }) {
  return (
    <tr data-session-id={session.id}>
      <th scope="row">
        <From agentType={session.agent_type} sessionId={session.id} />
        {session.note !== null && <span className="session-note">{plainText(session.note)}</span>}
      </th>
      <td>
        <span className="state" data-lifecycle={session.lifecycle}>
          {stateOf(session)}
        </span>
        {session.needs_you && <span className="needs-you">needs you</span>}
      </td>
      <td>
        {session.bead_id !== null ? (
          <span className="bead">{session.bead_id}</span>
        ) : (
          <span className="nothing">–</span>
        )}
      </td>
      <td>{session.mode}</td>
      <td>
        <Age since={session.last_frame_at} ago />
      </td>
    </tr>
  );
}
