"""`gemba-state`: an agent reports what it is doing. One frame in the session's log, one line on stdout."""

from gemba import wire
from gemba.cli import agent
from gemba.speaker import Session
from gemba.wire import Refused

COMMAND = agent.Command(
    "gemba-state",
    f"""Usage: gemba-state {"|".join(wire.STATES)} [flags]

Tell the operator what this session is doing.""",
    {
        "--bead": agent.Flag("ID", "the work item it is about", most=wire.MAX_ID),
        "--note": agent.Flag("TEXT", "a few words for the operator", most=wire.MAX_NOTE),
    },
    """Example:
  gemba-state working --bead shop-12 --note "writing the tests"

Exit codes: 0 reported, 1 error.
Environment: GEMBA_SESSION_ID (required), GEMBA_AGENT_TYPE, GEMBA_INTERACTION_MODE, GEMBA_HOME (default ~/.gemba).""",
)


def main(argv: list[str] | None = None) -> int:
    return COMMAND.run(report, argv)


def report(given: agent.Given, states: list[str]) -> int:
    allowed = ", ".join(wire.STATES)
    if not states:
        raise Refused(f"no state is given; allowed: {allowed}")
    if states[0] not in wire.STATES:
        raise Refused(f"state {agent.shown(states[0])} is unknown; allowed: {allowed}")
    if len(states) > 1:
        raise Refused(f"unexpected argument {agent.shown(states[1])}; allowed: one state, text goes behind --note")
    session = Session.from_environment()
    agent.interaction_mode(COMMAND, session)
    event_id = session.append(
        "GembaState",
        {
            "state": states[0],
            "bead_id": agent.value_of(given, "--bead"),
            "note": agent.value_of(given, "--note"),
        },
    )
    line = f"{event_id} reported: {states[0]}"
    if "--json" in given:
        line = wire.encode_json({"event_id": event_id, "state": states[0]})
    agent.say_recorded(event_id, line)
    agent.tell_of_turns(COMMAND, session)
    return 0
