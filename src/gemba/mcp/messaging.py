"""The verb of `team_msg`: what those who take part in a team run tell each other. Standard library only.

The bus is in the server's database, so every operation needs the workspace's server, and says so where none runs. Who
speaks is the session: its name in the run is the server's to say, and so is what it may not do.
"""

from gemba import wire
from gemba.mcp.tool import Answer, NoServer
from gemba.speaker import Session, shown
from gemba.wire import Refused

TYPE_CHECKING = False  # a type checker takes it for true; `typing` would have to be loaded for it
if TYPE_CHECKING:
    from gemba.mcp.tool import Document, Server

MOST = 500
BIGGEST = 2**31 - 1

# operation → (what it has to be given, what it may be given), beside the run.
OPERATIONS = {
    "log": ((), ("type", "summary", "data", "from", "to", "messages")),
    "broadcast": (("type", "summary"), ("data", "from")),
    "list": ((), ("from", "to", "type", "since", "limit")),
    "read": (("id",), ()),
    "status": ((), ()),
    "get_state": ((), ("task_id", "limit")),
    "ack": ((), ("recipient", "up_to")),
}
_WHOLE = ("since", "limit", "id", "up_to")  # JSON has one kind of number; these are whole


def team_msg(session: Session, given: "Document", server: "Server") -> Answer:
    given = dict(given)
    operation, run = given.pop("operation"), given.pop("session_id")
    _check(operation, given)
    for name in _WHOLE:
        if name in given:
            given[name] = _whole(name, given[name])
    try:
        wire.encode_json(given)
    except TypeError as error:  # a number too large for a float
        raise Refused(f"the arguments cannot be kept: {error}") from None
    try:
        return _DONE[operation](session, run, given, server)
    except NoServer as reason:
        raise Refused(f"messages of a team run need the workspace's server: {reason}") from None


def _check(operation: str, given: "Document") -> None:
    wanted, possible = OPERATIONS[operation]
    for name in given:
        if name not in wanted and name not in possible:
            allowed = ", ".join(wanted + possible) or "none"
            raise Refused(f"{name} does not go with {operation}; allowed: {allowed}")
    for name in wanted:
        if name not in given:
            raise Refused(f"{name} is missing: {operation} wants it")


def _whole(name: str, value: "int | float") -> int:
    if value != int(value):
        raise Refused(f"{name} is {value}; allowed: a whole number")
    return int(value)


def _post(session: Session, run: str, verb: str, body: "Document", server: "Server") -> "Document":
    return server.post_to_team(run, verb, {**body, "session_id": session.id})


def _log(session: Session, run: str, given: "Document", server: "Server") -> Answer:
    return _posted(_post(session, run, "", given, server))


def _broadcast(session: Session, run: str, given: "Document", server: "Server") -> Answer:
    return _posted(_post(session, run, "broadcast", given, server))


def _posted(made: "Document") -> Answer:
    first, last = made["first"], made["last"]
    said = f"posted as message {last}" if first == last else f"posted as messages {first} to {last}"
    unknown = f"; no schema is known for {', '.join(made['unknown_types'])}" if made["unknown_types"] else ""
    return Answer(f"{said}{unknown}", made)


def _list(_session: Session, run: str, given: "Document", server: "Server") -> Answer:
    page = server.read_of_team(run, "", given)
    lines = [_line(message) for message in page["messages"]]
    more = "more: list again with since" if "since" in given else "there are earlier ones"
    end = f"The last message of the run is {page['last']}{f'; {more}' if page['more'] else ''}."
    return Answer("\n".join([*lines, end]), page)


def _read(_session: Session, run: str, given: "Document", server: "Server") -> Answer:
    message = server.read_of_team(run, str(given["id"]), {})
    return Answer(f"{_line(message)}\n{wire.encode_json(message['data'])}", message)


def _status(_session: Session, run: str, _given: "Document", server: "Server") -> Answer:
    found = server.read_of_team(run, "status", {})
    lines = [f"{each['name']}: {each['unread']} unread, read up to {each['seen']}" for each in found["recipients"]]
    lines += [f"{each['name']} said last: {_line(each['last'])}" for each in found["senders"]]
    return Answer("\n".join([*lines, f"The last message of the run is {found['last']}."]), found)


def _get_state(_session: Session, run: str, given: "Document", server: "Server") -> Answer:
    found = server.read_of_team(run, "state", given)
    lines = [wire.encode_json(each) for each in found["states"]]
    return Answer("\n".join(lines) or "Nothing was reported yet.", found)


def _ack(session: Session, run: str, given: "Document", server: "Server") -> Answer:
    cursor = _post(session, run, "ack", given, server)
    return Answer(f"{cursor['name']} has read up to {cursor['seen']}; {cursor['unread']} unread", cursor)


def _line(message: "Document") -> str:
    return f"{message['id']} {message['from']} to {message['to']}, {message['type']}: {message['summary']}"


_DONE = {
    "log": _log,
    "broadcast": _broadcast,
    "list": _list,
    "read": _read,
    "status": _status,
    "get_state": _get_state,
    "ack": _ack,
}


def run_segment(run: str) -> str:
    """A run's id as it stands in a path; what could be one itself is refused."""
    if not wire.valid_event_id(run):
        raise Refused(f"session_id {shown(run)} is no id of a team run; allowed: team- and twelve hexadecimal digits")
    return run
