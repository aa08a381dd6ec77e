/** Which session speaks, with the way to all that it asked, and what kind of agent it is, unless its name says so already. */
import { linkToOne } from "../app/routes";
import { plainText } from "./plain-text";
import { sessionName } from "./session-name";

export function From({ agentType, sessionId }: { agentType: string; sessionId: string }) {
  return (
    <span className="from">
      <a className="session" title={plainText(sessionId)} {...linkToOne("session", sessionId)}>
        {sessionName(sessionId)}
      </a>
      {!sessionId.startsWith(agentType) && <span className="agent">{plainText(agentType)}</span>}
    </span>
  );
}
