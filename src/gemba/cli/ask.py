"""`gemba-ask`: an agent asks its operator, records a decision it took alone, or waits for a reply.

An ask is one frame in the session's log and one line on stdout, whether or not a server runs. What belongs to
waiting is in `gemba.cli.reply`, loaded only by a call that waits.
"""

import sys

from gemba import speaker, wire
from gemba.cli import agent
from gemba.wire import Refused

COMMAND = agent.Command(
    "gemba-ask",
    """Usage: gemba-ask --kind KIND --role ROLE --text TEXT [flags]
       gemba-ask --resume EVENT_ID [--wait SECONDS]
       gemba-ask --withdraw EVENT_ID
       gemba-ask --next

Ask the operator. The first word on stdout is the event id, the second tells whether to stop or to go on.""",
    {
        "--kind": agent.Flag("KIND", "an assumption is a decision you took alone", allowed=wire.ASK_KINDS),
        "--role": agent.Flag("ROLE", "the authority you ask with; a coach raises no blocker", allowed=wire.ROLES),
        "--text": agent.Flag("TEXT", "what you ask; - reads it from stdin"),
        "--title": agent.Flag("TEXT", "the same in a few words", most=wire.MAX_TITLE),
        "--bead": agent.Flag("ID", "the work item it is about", most=wire.MAX_ID),
        "--option": agent.Flag(
            "TEXT", "an answer to choose from; repeat it for each", most=wire.MAX_OPTION, repeatable=True
        ),
        "--schema": agent.Flag("FILE", "a JSON Schema: the reply is then JSON that fits it; not with --option"),
        "--chose": agent.Flag("TEXT", "what you decided; with --kind assumption"),
        "--wait": agent.Flag("SECONDS", "wait for the reply and print it, for ever or so long", optional=True),
        "--resume": agent.Flag("EVENT_ID", "wait for the reply to an earlier ask"),
        "--withdraw": agent.Flag("EVENT_ID", "take an earlier ask back"),
        "--next": agent.Flag("", "print the answers that nobody waited for, each until it is acknowledged"),
    },
    """Example:
  gemba-ask --kind question --role manager --text "Which database?" --option SQLite --option PostgreSQL --wait

Exit codes: 0 done or answered, 1 error or nobody has answered yet; of a wait also 10 answered by default,
11 expired, 12 declined, 13 withdrawn; of --next 14 when no answer waits. A call that is killed while it prints an
answer prints it again the next time. With --json a wait that ends without an answer prints the event id and the
outcome "waiting", and --next prints one object for each answer, or {"answers": []}.
Environment: GEMBA_SESSION_ID (required), GEMBA_INTERACTION_MODE (dangerous, balanced or cautious), GEMBA_ROLE,
GEMBA_AGENT_TYPE, GEMBA_WORKSPACE, GEMBA_HOME (default ~/.gemba).""",
)


def main(argv: list[str] | None = None) -> int:
    return COMMAND.run(ask, argv)


def ask(given: agent.Given, leftover: list[str]) -> int:
    if leftover:
        raise Refused(f"unexpected argument {agent.shown(leftover[0])}; allowed: flags alone, text goes behind --text")
    seconds = wait_seconds(given)
    if "--resume" in given:
        refuse_others(given, "--resume", "--wait")
        from gemba.cli import reply

        return reply.resume(COMMAND, given["--resume"][0], seconds, "--json" in given)
    if "--withdraw" in given:
        refuse_others(given, "--withdraw")
        from gemba.cli import reply

        return reply.withdraw(COMMAND, given["--withdraw"][0], "--json" in given)
    if "--next" in given:
        refuse_others(given, "--next")
        from gemba.cli import turns

        return turns.show_next(COMMAND, "--json" in given)

    refuse_misfits(given)
    session = speaker.Session.from_environment()
    mode = interaction_mode(given, session)
    payload = payload_of(given, mode, session, seconds)
    urgency = wire.urgency_of(given["--kind"][0], mode)
    if "--wait" in given:
        from gemba.cli import reply

        with reply.Wait(session) as wait:
            event_id = session.append("GembaAsk", payload)
            agent.tell(speaker.recorded(event_id, urgency))
            warn_if_unseen(session)
            agent.tell_of_turns(COMMAND, session)
            found = wait.reply(event_id, seconds, "--json" in given)
        return reply.deliver(COMMAND, session, found, "--json" in given)
    event_id = session.append("GembaAsk", payload)
    warn_if_unseen(session)
    line = speaker.recorded(event_id, urgency)
    if "--json" in given:
        line = wire.encode_json({"event_id": event_id, "urgency": urgency, "next": speaker.NEXT[urgency]})
    agent.say_recorded(event_id, line)
    agent.tell_of_turns(COMMAND, session)
    return 0


def warn_if_unseen(session: speaker.Session) -> None:
    if not session.has_operator():
        COMMAND.tell(f"warning: {speaker.NO_OPERATOR}")


def wait_seconds(given: agent.Given) -> float | None:
    """How long to wait, None for ever."""
    value = agent.value_of(given, "--wait")
    if not value:
        return None
    try:
        seconds = float(value) if value.isascii() else -1
    except ValueError:
        seconds = -1
    if not 0 <= seconds < float("inf"):  # false for NaN too
        raise Refused(f"--wait {agent.shown(value)} is unknown; allowed: seconds from 0, or no value to wait for ever")
    return seconds


def refuse_others(given: agent.Given, *names: str) -> None:
    allowed = (*names, "--json")
    for name in given:
        if name not in allowed:
            raise Refused(f"{name} does not go with {names[0]}; allowed: {', '.join(allowed)}")


def refuse_misfits(given: agent.Given) -> None:
    for name in ("--kind", "--role", "--text"):
        if name not in given:
            flag = COMMAND.flags[name]
            raise Refused(f"{name} is missing; allowed: {', '.join(flag.allowed) or flag.value}")
    if len(given.get("--option", [])) > wire.MAX_OPTIONS:
        raise Refused(f"--option is given {len(given['--option'])} times; allowed: up to {wire.MAX_OPTIONS}")
    speaker.refuse_repeated(given.get("--option", []), "--option")
    said = [name.removeprefix("--") for name in given]
    speaker.refuse_misfits(given["--kind"][0], said, lambda name: f"--{name}")


def interaction_mode(given: agent.Given, session: speaker.Session) -> str:
    """The session's mode, once role and kind are found to be allowed in it."""
    role = given["--role"][0]
    own_role = session.role or role
    if role != own_role:
        raise Refused(f"--role {role} is not this session's role; allowed: {agent.shown(own_role)} (GEMBA_ROLE)")
    mode = agent.interaction_mode(COMMAND, session)
    if reason := wire.refusal(given["--kind"][0], role, mode):
        raise Refused(reason)
    return mode


def payload_of(given: agent.Given, mode: str, session: speaker.Session, seconds: float | None) -> dict[str, object]:
    text = agent.value_of(given, "--text")
    return speaker.ask_payload(
        session,
        kind=agent.value_of(given, "--kind"),
        role=agent.value_of(given, "--role"),
        mode=mode,
        text=read_stdin() if text == "-" else text,
        title=agent.value_of(given, "--title"),
        bead_id=agent.value_of(given, "--bead"),
        options=given.get("--option"),
        schema=read_schema(given["--schema"][0]) if "--schema" in given else None,
        chose=agent.value_of(given, "--chose"),
        wait="--wait" in given,
        wait_seconds=seconds,
    )


def read_stdin() -> str:
    """The text on stdin without the line ends behind it, as `$(…)` in a shell would take it."""
    if sys.stdin is None:
        raise Refused("--text - reads stdin, which is closed")
    most = 4 * wire.MAX_TEXT + 2  # bytes of the longest text in UTF-8, and one line end
    data = sys.stdin.buffer.read(most + 1)
    if len(data) > most:
        raise Refused(f"--text on stdin has more than {most} bytes; allowed: up to {wire.MAX_TEXT} characters")
    return agent.checked("--text on stdin", data.decode("utf-8", "replace").rstrip("\r\n"), wire.MAX_TEXT)


def read_schema(path: str) -> dict[str, object]:
    """The JSON object in a file, once answers can be judged by it."""
    import json

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    try:
        data = wire.read_file(path, wire.MAX_SCHEMA)
    except OSError as error:
        raise Refused(f"--schema {agent.shown(path)}: {error.strerror}") from None
    try:
        schema = json.loads(data, parse_constant=refuse)
        wire.encode_json(schema)
    except (ValueError, TypeError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Refused(f"--schema {agent.shown(path)} is no JSON: {reason}") from None
    if not isinstance(schema, dict):
        raise Refused(f"--schema {agent.shown(path)} holds no JSON object; allowed: a JSON Schema, as an object")
    if not schema:
        raise Refused(f"--schema {agent.shown(path)} is empty and takes every answer; leave it out, or say more")
    speaker.refuse_schema(schema, f"--schema {agent.shown(path)}")
    return schema
