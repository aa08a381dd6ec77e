"""`gemba-bridge hook EVENT`: what an agent's client calls at each of its hooks.

Each call appends the client's own JSON to the session's log. Stop and SubagentStop are gates: they end in a decision
or, whatever goes wrong, in exit 2, which blocks; so are PreToolUse and PermissionRequest with --approvals. Every other
event lets the client go on, whatever goes wrong, and says so in `<home>/bridge.log`.

Standard library only, and what an event does not need is not loaded: the client waits for this process.
"""

import _signal  # type: ignore[import-not-found]  # what `signal` is made of, without its enumerations
import gc
import os
import sys
import time

from gemba import wire
from gemba.cli import agent
from gemba.wire import Refused

TYPE_CHECKING = False  # a type checker takes it for true; `typing` would have to be loaded for it
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

    from gemba.cli.hook_input import HookInput, HookSession, Payload

GATES = ("Stop", "SubagentStop")
APPROVALS = ("PreToolUse", "PermissionRequest")
ENDS = (*GATES, "SessionEnd")  # what was used until then is told
TELLING = ("SessionStart", "UserPromptSubmit")  # where the client takes words for its agent

COMMAND = agent.Command(
    "gemba-bridge",
    """Usage: gemba-bridge hook EVENT [flags] < JSON

Serve a hook of an agent's client: keep what it says in the session's log, and decide where there is something to
decide. `gemba install-bridge` puts it into the settings of Claude Code.""",
    {
        "--require": agent.Flag("", "every turn has to end in a handoff, not those of dispatches alone"),
        "--approvals": agent.Flag("", "commands that change something wait for the operator"),
        "--deadline": agent.Flag("SECONDS", "block when there is no decision by then; below the hook's own timeout"),
    },
    """Example:
  gemba-bridge hook Stop --deadline 20 || exit 2

Exit codes: 0 decided, or nothing to decide; 2 blocked, since no decision was reached; 1 wrong usage. At other events
than Stop, SubagentStop and, with --approvals, PreToolUse and PermissionRequest it is always 0, and
GEMBA_HOME/bridge.log tells what went wrong.
Environment: GEMBA_SESSION_ID (default: the client's own id), GEMBA_DISPATCH_ID, GEMBA_AGENT_TYPE (default claude),
GEMBA_WORKSPACE, GEMBA_HOME (default ~/.gemba).""",
)

del COMMAND.flags["--json"]  # what it prints is JSON, for the client

_ANSWERS = "Your operator has answered, through Gemba, what you asked:"
_GATE_SECONDS = 20.0
_APPROVAL_SECONDS = 590.0
_LONGEST_DEADLINE = 86_400.0
_LOG_BYTES = 256 * 1024
_LONGEST_LINE = 1_000


class DeadlinePassed(BaseException):
    """The time for a decision is over. Not an Exception: nothing on the way may take it for a fault of its own."""


def main() -> "NoReturn":
    """The process: nothing is collected and nothing tidied up in it, which would take as long as half of its work."""
    gc.disable()
    os._exit(run(sys.argv[1:]))


def run(words: list[str]) -> int:
    event = words[1] if len(words) > 1 and words[0] == "hook" else ""
    try:
        given, leftover = agent.parse(words, COMMAND.flags)
        if "--help" in given or "--version" in given or not event or event.startswith("-"):
            return COMMAND.run(_refuse_usage, words)
        seconds = _deadline(given, event)
        if leftover[2:]:
            raise Refused(f"unexpected argument {agent.shown(leftover[2])}; allowed: hook EVENT and flags")
        # Counted from here on, as the deadline is: loading what an event needs takes its time too.
        wait_until = time.monotonic() + seconds - min(5.0, seconds / 10)
        if _is_gate(words, event):
            _arm(seconds)
        answer = serve(event, given, wait_until)
        if answer is not None:
            agent.say(wire.encode_json(answer))
        _disarm()
    except (Exception, DeadlinePassed, KeyboardInterrupt) as error:  # noqa: BLE001 - a gate blocks, whatever it was
        _disarm()
        return _fail(event, _reason(error), is_gate=_is_gate(words, event))
    return 0


def serve(event: str, flags: agent.Given, wait_until: float) -> "Payload | None":
    """Keep what the client says, and decide; what to print, None for nothing. Waits for people until then."""
    from gemba.cli.hook_input import HookSession, read_stdin

    given = read_stdin()
    session = HookSession(given)
    if event in APPROVALS and "--approvals" in flags:
        from gemba.cli.hook_approval import approve

        return approve(event, given, session, wait_until)
    if event in ENDS:
        _tell_usage(event, given, session)
    session.keep(event, given)
    if event in GATES:
        from gemba.cli.gate import judge_turn

        return judge_turn(event, given, session, wait_until, require="--require" in flags)
    if event == "UserPromptSubmit":
        from gemba.cli.gate import start_turn

        start_turn(given, session)
    if event in TELLING:
        _tell(event, session)
    return None


def _tell_usage(event: str, given: "HookInput", session: "HookSession") -> None:
    """What the turn took, from the transcript: all since what the session's log tells of, so that nothing is told twice
    and what a client wrote down late comes with the next turn. That it cannot be told keeps no turn from ending."""
    path = given.word("agent_transcript_path" if event == "SubagentStop" else "transcript_path")
    if not path:
        return
    from gemba.cli.transcript import last_told, usage_since

    name = os.path.basename(path)  # noqa: PTH119  pathlib is slow
    used = usage_since(path, last_told(wire.log_path(session.home, session.id), name))
    if used is None:
        return
    id = f"usage-{wire.safe_id(str(used['last_message']))[:100]}"
    try:
        session.append("GembaUsage", {**used, "transcript": name}, event_id=id)
    except (OSError, Refused):  # what follows says so, if it is the log that cannot be written
        return


def _tell(event: str, session: "HookSession") -> None:
    """Tell the agent what it does not know: its dispatch when its session starts, and answers that wait for it."""
    briefing = _briefing(session) if event == "SessionStart" else ""
    if not os.path.isdir(wire.turns_folder(session.home, session.id)):  # noqa: PTH112  pathlib is slow
        _say_to_agent(event, [briefing])
        return
    from gemba.cli.turns import handed_out

    with handed_out(COMMAND, session) as answers:
        _say_to_agent(event, [briefing, *([_ANSWERS, *answers] if answers else [])])


def _say_to_agent(event: str, parts: list[str]) -> None:
    told = "\n\n".join(part for part in parts if part)
    if told:
        context = {"hookEventName": event, "additionalContext": told}
        agent.say(wire.encode_json({"hookSpecificOutput": context}))


def _briefing(session: "HookSession") -> str:
    """What the agent of a dispatch is told when its session starts, or goes on with a shortened memory."""
    if not session.dispatch_id:
        return ""
    try:
        told = wire.read_file(wire.envelope_path(session.home, session.dispatch_id, ".md"), wire.MAX_TEXT)
    except FileNotFoundError:
        return ""
    return told.decode("utf-8", "replace")


# -- deadline and failure ----------------------------------------------------------------------------------------------


def _is_gate(words: list[str], event: str) -> bool:
    """Judged by the words as they are: a flag that is misspelt must not open a gate."""
    return event in GATES or (event in APPROVALS and "--approvals" in words)


def _deadline(given: agent.Given, event: str) -> float:
    value = agent.value_of(given, "--deadline")
    if not value:
        return _APPROVAL_SECONDS if event in APPROVALS else _GATE_SECONDS
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _LONGEST_DEADLINE:  # false for NaN too
        raise Refused(f"--deadline {agent.shown(value)} is unknown; allowed: seconds, up to {_LONGEST_DEADLINE:.0f}")
    return seconds


def _arm(seconds: float) -> None:
    def passed(_number: int, _frame: "FrameType | None") -> None:
        raise DeadlinePassed(f"there was no decision within {seconds:g} s")

    _signal.signal(_signal.SIGALRM, passed)
    # Once more every second: the first may be raised where Python can only print an exception and go on.
    _signal.setitimer(_signal.ITIMER_REAL, seconds, 1.0)


def _disarm() -> None:
    _signal.setitimer(_signal.ITIMER_REAL, 0)


def _refuse_usage(_given: agent.Given, leftover: list[str]) -> int:
    raise Refused(f"unknown words {agent.shown(' '.join(leftover))}; allowed: hook EVENT, such as: hook Stop")


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError):
        return agent.explain(error)
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    said = " ".join(str(error).split())
    is_readable = isinstance(error, Refused | DeadlinePassed) or hasattr(error, "message")  # as all of ours have
    return said if is_readable else f"{type(error).__name__}: {said}"


def _fail(event: str, reason: str, *, is_gate: bool) -> int:
    if not event:
        COMMAND.tell(reason)
        return 1
    line = f"{event[:100]}: {reason[:_LONGEST_LINE]}"
    try:  # noqa: SIM105  contextlib is not loaded for this
        _log(line)
    except (OSError, Refused):  # nobody is left to tell
        pass
    if not is_gate:
        return 0
    COMMAND.tell(f"blocked at {line}. It is the gate that failed: tell your operator, and try again.")
    return 2


def _log(line: str) -> None:
    """One line more in a log that stays small: the lines before are kept once, in a second file."""
    home = wire.home()
    path = f"{home}/bridge.log"
    os.makedirs(home, 0o700, exist_ok=True)  # noqa: PTH103  pathlib is slow
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        if os.fstat(fd).st_size > _LOG_BYTES:
            os.rename(path, f"{path}.1")  # noqa: PTH104  pathlib is slow
        os.write(fd, f"{wire.timestamp()} {wire.valid_unicode(line)}\n".encode())
    finally:
        os.close(fd)


if __name__ == "__main__":
    main()
