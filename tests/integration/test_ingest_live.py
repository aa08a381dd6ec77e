"""A running server and logs that change under it: an ask is seen at once, whatever was done to its log or folder."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fixtures.servers import RunningServer, Stream

ASK = {"kind": "question", "role": "coach", "mode": "balanced"}


def ask(server: RunningServer, stream: Stream, text: str, session: str = "s") -> None:
    """Append an ask, and see it on the stream as the next one."""
    server.append("GembaAsk", {**ASK, "text": text}, session)
    assert stream.until("escalation_opened")["data"]["payload"]["text"] == text


def rotate(log: Path) -> None:
    log.rename(f"{log}.1")


def replace(log: Path) -> None:
    other = log.with_name("other")
    other.write_bytes(log.read_bytes())
    other.replace(log)


def remove_the_folder(log: Path) -> None:
    shutil.rmtree(log.parent)


def move_the_home_and_back(log: Path) -> None:
    home = log.parent.parent
    home.rename(f"{home}-away")
    Path(f"{home}-away").rename(home)


CHANGES: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "truncated": lambda log: log.write_bytes(b""),
    "rotated": rotate,
    "replaced": replace,
    "torn": lambda log: log.write_bytes(log.read_bytes()[:-9]),
    "folder deleted": remove_the_folder,
    "home moved": move_the_home_and_back,
}


@pytest.mark.parametrize("change", CHANGES)
def test_asks_are_seen_before_and_after_a_log_was(sqlite_server: RunningServer, change: str) -> None:
    stream = sqlite_server.events("?name=escalation_opened")
    for number in range(3):
        ask(sqlite_server, stream, f"before {number}")
    CHANGES[change](sqlite_server.home / "sessions/s.jsonl")
    for number in range(3):
        ask(sqlite_server, stream, f"after {number}")

    assert sqlite_server.get("/api/escalations")["total"] == 6


def test_a_frame_is_seen_when_its_last_byte_is_there(server: RunningServer) -> None:
    stream = server.events("?name=escalation_opened")
    log = server.home / "sessions/s.jsonl"
    ask(server, stream, "first")
    line = log.read_bytes().replace(b"first", b"torn").replace(b'"event_id": "', b'"event_id": "x')
    with log.open("ab", buffering=0) as file:
        for byte in line[:-1]:
            file.write(bytes([byte]))
    ask(server, stream, "of another", session="other")
    with log.open("ab", buffering=0) as file:
        file.write(line[-1:])

    assert stream.next()["data"]["payload"]["text"] == "torn"


def test_what_was_asked_while_no_server_ran_is_there_when_one_does(server: RunningServer) -> None:
    assert server.stop()[0] == 0
    for number in range(5):
        server.append("GembaAsk", {**ASK, "text": str(number)}, f"s-{number}")
    server.start()
    stream = server.events("?name=escalation_opened", after=0)

    assert {stream.next()["data"]["payload"]["text"] for _ in range(5)} == set("01234")


def test_two_servers_of_one_home_take_exactly_their_own(sqlite_server: RunningServer, tmp_path: Path) -> None:
    (tmp_path / "other/.gemba").mkdir(parents=True)
    other = RunningServer(tmp_path / "other", sqlite_server.home, "")
    try:
        streams = {one: one.events("?name=escalation_opened") for one in (sqlite_server, other)}
        for number in range(3):
            for one, stream in streams.items():
                ask(one, stream, f"{one.workspace.name} {number}")  # in the same log
        for one in streams:
            page = one.get("/api/escalations")
            assert [item["text"] for item in page["escalations"]] == [f"{one.workspace.name} {n}" for n in range(3)]
            assert "frames belong to no workspace" not in str(one.get("/api/doctor"))
    finally:
        assert other.stop() == (0, "")
