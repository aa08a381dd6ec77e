/** Which session speaks, and what kind of agent it is, unless the session's name says so already. */
export function From({ agentType, sessionId }: { agentType: string; sessionId: string }) {
  return (
    <span className="from">
      <span className="session" title={sessionId}>
        {sessionId}
      </span>
      {!sessionId.startsWith(agentType) && <span className="agent">{agentType}</span>}
    </span>
  );
}
