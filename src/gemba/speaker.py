"""The session that a call speaks for, and the rules for what it says: shared by `gemba-ask`, `gemba-state` and MCP.

Whoever speaks, the same is refused in the same words, and a frame has the same fields. Standard library only, and only
what the interpreter has loaded anyway: an agent pays for this import on every call.
"""

import os
import time
from _collections_abc import Callable, Collection  # `collections.abc` is the same, at the price of `collections`

from gemba import wire
from gemba.wire import Refused

_CHECK_SECONDS = 20.0
_ENDLESS = 1e9  # seconds, thirty years

NEXT = {"blocking": "stop and wait for the reply", "advisory": "go on", None: "go on"}
NO_SESSION = (
    "GEMBA_SESSION_ID is not set: it names the session that this call belongs to; "
    "start the agent with one, as in: GEMBA_SESSION_ID=importer-1 claude"
)
NO_OPERATOR = "no workspace here, so nobody sees it: set GEMBA_WORKSPACE, or make one with gemba init"


class Session:
    """The session that a call speaks for. `role` and `mode` are "" where nobody has said them."""

    def __init__(
        self,
        id: str,
        *,
        home: str,
        workspace: str,
        cwd: str,
        agent_type: str = "",
        role: str = "",
        mode: str = "",
        dispatch_id: str = "",
    ) -> None:
        self.id = id
        self.home = home
        self.workspace = workspace
        self.cwd = cwd
        self.agent_type = agent_type
        self.role = role
        self.mode = mode
        self._started_with = dispatch_id

    @property
    def dispatch_id(self) -> str:
        """Looked up each time: a session that lives on is given one after the other."""
        return wire.dispatch_of(self.home, self.id, self._started_with)

    @dispatch_id.setter
    def dispatch_id(self, id: str) -> None:
        self._started_with = id

    @classmethod
    def from_environment(cls) -> "Session":
        """The one that this process belongs to."""
        id = os.environ.get("GEMBA_SESSION_ID", "")
        if not id.strip():
            raise Refused(NO_SESSION)
        checked("GEMBA_SESSION_ID", id, wire.MAX_SESSION_ID)
        home = wire.home()
        try:
            cwd = os.getcwd()  # noqa: PTH109  pathlib costs a third of a whole ask
        except OSError:  # the folder was deleted under the agent, which may ask all the same
            cwd = ""
        return cls(
            id,
            home=home,
            workspace=wire.find_workspace(cwd),
            cwd=cwd,
            agent_type=os.environ.get("GEMBA_AGENT_TYPE", ""),
            role=os.environ.get("GEMBA_ROLE", ""),
            mode=os.environ.get("GEMBA_INTERACTION_MODE", ""),
            dispatch_id=os.environ.get("GEMBA_DISPATCH_ID", "").strip(),
        )

    def interaction_mode(self) -> str:
        """The mode that an ask is made in; the default where nobody has said one."""
        if self.mode and self.mode not in wire.MODES:
            raise Refused(f"GEMBA_INTERACTION_MODE {shown(self.mode)} is unknown; allowed: {', '.join(wire.MODES)}")
        return self.mode or wire.DEFAULT_MODE

    def has_operator(self) -> bool:
        """Whether there is a workspace whose server would take this session's frames in."""
        return bool(self.workspace) and os.path.isdir(f"{self.workspace}/.gemba")  # noqa: PTH112  pathlib is slow

    def append(self, hook: str, payload: dict[str, object]) -> str:
        """Append one frame to the session's log, less what is empty in the payload; returns its event id."""
        event_id = wire.new_event_id()
        line = wire.encode_frame(
            hook,
            {key: value for key, value in payload.items() if value},
            session_id=self.id,
            workspace=self.workspace,
            agent_type=self.agent_type,
            event_id=event_id,
        )
        wire.append_frame(self.home, self.id, line)
        return event_id

    def turns(self) -> int:
        """How many answers wait for this session as its next turn."""
        folder = wire.turns_folder(self.home, self.id)
        try:
            names = os.listdir(folder)  # noqa: PTH208  pathlib is slow
        except OSError:
            return 0
        count = 0
        for name in names:
            if name.endswith(".json") and not name.startswith("."):
                try:
                    count += self._is_mine(wire.read_file(f"{folder}/{name}", wire.MAX_REPLY))
                except OSError:  # taken back, or nothing to read
                    continue
        return count

    def _is_mine(self, turn: bytes) -> bool:
        """Another session may have the same folder, and one of another workspace the same id. Looked for, not parsed:
        `json` costs more than the whole call, and is loaded for what seems to be another workspace's alone."""
        _, found, rest = turn.partition(f'"session_id":{wire.encode_json(self.id)}'.encode())
        named = b',"workspace":'
        if not found or not rest.startswith(named):
            return bool(found)
        if rest.startswith(named + wire.encode_json(self.workspace).encode()):
            return True
        import json

        try:
            return not is_of_another(self.workspace, json.loads(turn).get("workspace"))
        except (ValueError, RecursionError, AttributeError):
            return False


def is_of_another(own: str, named: object) -> bool:
    """Whether a turn names another workspace than the reader's own, both by their real paths. Where one of them is not
    known, or the one that is named is none any more, as when its folder was moved, the session's id alone decides."""
    if not own or not isinstance(named, str) or not named or named == wire.valid_unicode(own):
        return False
    return os.path.isdir(f"{named}/.gemba")  # noqa: PTH112  pathlib is slow


def refuse_schema(schema: dict[str, object], named: str) -> None:
    """Refused where no answer can be judged by the schema. That is judged by another process, since what does so is not
    of the standard library; where that is not to be had the server judges, and leaves out what it cannot use."""
    import subprocess
    import sys

    command = [sys.executable, "-m", "gemba.cli.schema_check"]
    given = wire.encode_json(schema).encode()
    try:
        done = subprocess.run(command, input=given, capture_output=True, timeout=_CHECK_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return
    if reason := done.stdout.decode("utf-8", "replace"):
        raise Refused(f"{named} cannot be used: {reason}")


# -- rules -------------------------------------------------------------------------------------------------------------


def refuse_misfits(kind: str, given: Collection[str], named: Callable[[str], str]) -> None:
    """Refused for what does not go together. `given` holds `option`, `schema`, `chose`, `wait` as far as they are
    given, `named` says how the caller spells them."""
    if "schema" in given and "option" in given:
        raise Refused(f"{named('schema')} does not go with {named('option')}: one of them says what the answer may be")
    if kind != "assumption":
        if "chose" in given:
            raise Refused(
                f"{named('chose')} does not go with {named('kind')} {kind}; allowed: {named('kind')} assumption"
            )
        return
    if "chose" not in given:
        raise Refused(f"{named('chose')} is missing: an assumption tells what you decided")
    for name in ("option", "schema", "wait"):
        if name in given:
            raise Refused(f"{named(name)} does not go with {named('kind')} assumption, which nobody answers")


def refuse_repeated(options: list[str], named: str) -> None:
    """Refused for an answer that is offered twice: nobody could tell which of the two was chosen."""
    seen: set[str] = set()
    for option in map(str.strip, options):
        if option in seen:
            raise Refused(f"{named} {shown(option)} is given twice; allowed: each answer once")
        seen.add(option)


def ask_payload(
    session: Session,
    *,
    kind: str,
    role: str,
    mode: str,
    text: str,
    title: str = "",
    bead_id: str = "",
    options: list[str] | None = None,
    schema: dict[str, object] | None = None,
    chose: str = "",
    wait: bool = False,
    wait_seconds: float | None = None,
) -> dict[str, object]:
    """What a `GembaAsk` frame holds: the ask, and where the code stood when it was made."""
    commit, branch, worktree = wire.git_place(session.cwd)
    return {
        "kind": kind,
        "role": role,
        "text": text,
        "mode": mode,
        "bead_id": bead_id,
        "title": title,
        "options": options,
        "schema": schema,
        "chose": chose,
        "cwd": session.cwd,
        "commit": commit,
        "branch": branch,
        "worktree": worktree,
        "wait": wait,
        "wait_until": _until(wait_seconds) if wait and wait_seconds is not None else None,
    }


def _until(seconds: float) -> str:
    """When a wait that begins now is over by itself; "" when nobody lives to see it."""
    return wire.timestamp(time.time_ns() + int(seconds * 1e9)) if seconds < _ENDLESS else ""


def recorded(event_id: str, urgency: str | None) -> str:
    """What an asker is told of its ask: the id, and whether to stop or to go on."""
    return f"{event_id} {urgency or 'recorded'}: {NEXT[urgency]}"


def told_of_turns(count: int) -> str:
    return f"{'1 answer waits' if count == 1 else f'{count} answers wait'} for you: gemba-ask --next"


# -- words -------------------------------------------------------------------------------------------------------------


def checked(name: str, text: str, most: int) -> str:
    """The text, if it has something to say and not too much."""
    if not text.strip():
        raise Refused(f"{name} is empty; allowed: up to {most} characters")
    if len(text) > most:
        raise Refused(f"{name} has {len(text)} characters; allowed: up to {most}")
    return text


def explain(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{shown(error.filename)}: {reason}" if isinstance(error.filename, str) else reason


def shown(value: str) -> str:
    """The value as found, quoted, on one line and not by the page."""
    return repr(value if len(value) <= 200 else value[:199] + "…")
