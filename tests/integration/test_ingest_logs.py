"""What the tailer makes of logs: every frame once, in order, whatever else is in them and whatever is done to them."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import update
from structlog.testing import capture_logs

from gemba import clock, wire
from gemba.app import App
from gemba.config import Settings, Workspace
from gemba.event import Draft
from gemba.sessions.ingest import Ingest
from gemba.sessions.store import strays
from gemba.store.database import Transaction
from tests.fixtures.logs import Logs, ToldOnce


def reopened(app: App) -> Logs:
    """The same workspace in another App, as after a restart; the caller closes it."""
    return Logs(App.open(app.workspace, app.settings, app.home))


# ---- lines ------------------------------------------------------------------------------------------------------


def test_lines_that_are_no_frames_are_counted_and_keep_nobody_out(logs: Logs) -> None:
    garbage = [
        b"\n",
        b"   \n",
        b"not json\n",
        b"[]\n",
        b'"text"\n',
        b"{}\n",
        random.Random(1).randbytes(3_000).replace(b"\n", b"") + b"\n",
        b"\xff\xfe\x00\n",
        b"[" * 100_000 + b"\n",
        b'{"session_id": 7, "hook": "GembaAsk", "event_id": "e", "payload": {}}\n',
        logs.frame("GembaAsk", {}, event_id="../../etc/passwd"),
        logs.frame("GembaAsk", {}, event_id=""),
        logs.frame("GembaAsk", {}, session_id=""),
        logs.frame("GembaAsk", {}, session_id="x" * 513),
        logs.frame("", {}),
    ]
    logs.take(*(part for line in garbage for part in (line, logs.ask("between"))))

    assert logs.asked() == ["between"] * len(garbage)
    assert logs.counters()["frames_unreadable"] == len(garbage) - 2
    dropped = logs.told("frame_dropped")
    assert [json.loads(bytes(event.payload))["lines"] for event in dropped] == [len(garbage) - 2]
    assert logs.check("frames").status == "warn"


def test_a_torn_frame_is_taken_when_the_rest_of_it_comes(logs: Logs) -> None:
    line = logs.ask("Größe?")
    for cut in range(0, len(line) - 1, 7):
        assert logs.take(line[cut : cut + 7][: len(line) - 1 - cut]) == 0
    assert logs.take(line[-1:]) == 1
    assert logs.asked() == ["Größe?"]


def test_a_torn_frame_that_the_next_writer_ended_spoils_only_itself(logs: Logs) -> None:
    logs.take(logs.ask("first"), logs.ask("torn")[:-20])
    wire.append_frame(str(logs.app.home), "s", logs.ask("second"))
    logs.app.ingest.drain()

    assert logs.asked() == ["first", "second"]
    assert logs.counters()["frames_unreadable"] == 1


def test_the_longest_frame_is_taken_and_a_longer_line_is_passed_over(logs: Logs) -> None:
    filling = wire.MAX_LINE - len(logs.ask(""))
    longest = logs.ask("x" * filling)
    assert len(longest) == wire.MAX_LINE

    logs.take(logs.ask("first"), longest, b"y" * 5_000_000 + b"\n", logs.ask("last"))

    long, first, last = sorted(logs.asked(), key=len, reverse=True)
    assert (first, last) == ("first", "last")
    assert long.startswith("x" * wire.MAX_TEXT)
    assert f"{filling:,} characters" in long
    assert logs.counters()["frames_unreadable"] == 1


def test_an_empty_payload_and_unknown_hooks_are_kept(logs: Logs) -> None:
    logs.take(logs.frame("Tomorrow", {"deep": [[{}]]}), logs.frame("Stop", None, payload_raw="not json"))

    assert [event.name for event in logs.told("unknown_hook", "turn_ended")] == ["unknown_hook", "turn_ended"]


@pytest.mark.parametrize(
    "number", ["1e400", "-1e400", "1" * 5_000, "123456789012345678901234567890", "NaN", "Infinity", "-0", "1e-400"]
)
def test_numbers_that_no_machine_holds_stop_nobody(logs: Logs, number: str) -> None:
    for hook in ("Tomorrow", "PreToolUse", "PermissionRequest", "GembaHandoff", "Notification"):
        line = logs.frame(hook, {"tool_name": "Bash", "tool_input": {"n": 1}, "n": "NUMBER", "mode": "NUMBER"})
        logs.write(line.replace(b'"NUMBER"', number.encode()))
    logs.take(logs.ask("after"))

    assert "after" in logs.asked()
    for event in logs.told("unknown_hook", "tool_use", "handoff_received"):
        json.loads(bytes(event.payload))


# ---- the same frame again ---------------------------------------------------------------------------------------


def test_a_frame_is_taken_once_however_often_its_line_is_there(logs: Logs) -> None:
    line = logs.ask("once", event_id="e-1")
    logs.take(line, line)
    logs.take(line)
    logs.take(line, log="other.jsonl")
    logs.take(logs.ask("with the same id", event_id="e-1"))
    again = reopened(logs.app)
    again.take(line, log="third.jsonl")
    again.app.close()

    assert logs.asked() == ["once"]
    assert len(logs.told("escalation_opened")) == 1
    assert logs.counters() == {"frames_ingested": 1, "frames_duplicate": 5}


def test_a_second_app_reads_on_where_the_first_one_stopped(logs: Logs) -> None:
    logs.take(logs.ask("first"))
    again = reopened(logs.app)
    taken = again.take(logs.ask("second"))
    again.app.close()

    assert taken == 1
    assert logs.asked() == ["first", "second"]
    assert "frames_duplicate" not in logs.counters()


def test_two_apps_that_read_the_same_logs_take_each_frame_once(logs: Logs) -> None:
    other = reopened(logs.app)
    lines = [logs.ask(str(number)) for number in range(20)]
    for number, line in enumerate(lines):
        logs.write(line)
        (logs, other)[number % 2].app.ingest.drain()
    logs.app.ingest.drain()
    other.app.ingest.drain()
    other.app.close()

    assert logs.asked() == [str(number) for number in range(20)]
    assert len(logs.told("escalation_opened")) == 20


# ---- files ------------------------------------------------------------------------------------------------------


def test_a_truncated_log_loses_nothing_that_is_written_after(logs: Logs) -> None:
    path = logs.write(logs.ask("first"), logs.ask("second"))
    logs.app.ingest.drain()
    path.write_bytes(logs.ask("third"))
    logs.app.ingest.drain()
    inode = path.stat().st_ino
    path.write_bytes(logs.ask("fourth") + logs.ask("fifth"))  # longer than what was read, in the same file
    logs.app.ingest.drain()

    assert path.stat().st_ino == inode
    assert logs.asked() == ["first", "second", "third", "fourth", "fifth"]


def test_a_replaced_log_is_read_whole_and_old_frames_are_known(logs: Logs) -> None:
    first = logs.ask("first")
    path = logs.write(first)
    logs.app.ingest.drain()
    other = path.with_name("saved")
    other.write_bytes(first + logs.ask("second"))
    other.replace(path)
    logs.app.ingest.drain()

    assert logs.asked() == ["first", "second"]
    assert logs.counters() == {"frames_ingested": 2, "frames_duplicate": 1}


def test_a_rotated_log_is_read_on_and_before_what_follows_it(logs: Logs) -> None:
    path = logs.write(logs.ask("first"), b"garbage\n")
    logs.app.ingest.drain()
    logs.write(logs.ask("unread"), logs.frame("SessionEnd", {}))
    path.rename(f"{path}.1")
    logs.write(logs.frame("SessionStart", {}), logs.ask("last"))
    logs.app.ingest.drain()

    assert logs.asked() == ["first", "unread", "last"]
    assert [logs.state(text) for text in ("first", "unread", "last")] == ["withdrawn", "withdrawn", "open"]
    assert logs.counters() == {"frames_ingested": 5, "frames_unreadable": 1}


def test_logs_rotated_several_times_while_nobody_looked_are_read_in_order(logs: Logs) -> None:
    path = logs.write(logs.ask("0"))
    logs.app.ingest.drain()
    for number in range(1, 12):
        logs.write(logs.ask(str(number)), logs.frame("SessionEnd", {}))
        for rotation in range(12, 0, -1):
            if (older := Path(f"{path}.{rotation}")).exists():
                older.rename(f"{path}.{rotation + 1}")
        path.rename(f"{path}.1")
    logs.write(logs.frame("SessionStart", {}), logs.ask("last"))
    logs.app.ingest.drain()

    assert logs.asked() == [*map(str, range(12)), "last"]
    assert logs.state("last") == "open"
    assert logs.counters()["frames_ingested"] == 25
    # Only the eldest is unknown under any of the names it may have had, and is read again.
    assert logs.counters().get("frames_duplicate", 0) <= 1


def test_a_log_that_is_rotated_while_its_change_is_looked_at_is_read_in_order(logs: Logs) -> None:
    """The tailer was told of the log alone, and finds another file there."""
    path = logs.write(logs.ask("first"))
    logs.app.ingest.drain()
    logs.write(logs.ask("unread"), logs.frame("SessionEnd", {}))
    path.rename(f"{path}.1")
    logs.write(logs.frame("SessionStart", {}), logs.ask("last"))

    told = ToldOnce("s.jsonl")
    logs.app.ingest.follow(told)  # type: ignore[arg-type]
    logs.app.ingest.follow(told)  # type: ignore[arg-type]

    assert logs.asked() == ["first", "unread", "last"]
    assert logs.state("last") == "open"


def test_a_deleted_log_takes_nothing_with_it_and_may_come_back(logs: Logs) -> None:
    path = logs.write(logs.ask("first"))
    logs.app.ingest.drain()
    path.unlink()
    logs.app.ingest.drain()
    logs.app.prune()
    logs.take(logs.ask("second"))

    assert logs.asked() == ["first", "second"]


def test_a_sessions_folder_that_is_deleted_is_nothing_new(logs: Logs) -> None:
    logs.write(logs.ask("first")).unlink()
    logs.folder.rmdir()

    assert logs.app.ingest.drain() == 0
    logs.app.prune()
    wire.append_frame(str(logs.app.home), "s", logs.ask("second"))
    assert logs.app.ingest.drain() == 1


def test_what_is_no_file_is_named_by_the_doctor_and_keeps_nobody_out(logs: Logs, tmp_path: Path) -> None:
    (logs.folder / "a-folder.jsonl").mkdir()
    (tmp_path / "secret").write_bytes(logs.ask("from elsewhere"))
    (logs.folder / "b-link.jsonl").symlink_to(tmp_path / "secret")
    os.mkfifo(logs.folder / "c-pipe.jsonl")
    logs.take(logs.ask("mine"))

    assert logs.asked() == ["mine"]
    check = logs.check("ingest")
    assert check.status == "warn"
    assert "3 session logs cannot be read" in check.detail
    assert "a-folder.jsonl: not a regular file" in check.detail

    (logs.folder / "a-folder.jsonl").rmdir()
    (logs.folder / "b-link.jsonl").unlink()
    (logs.folder / "c-pipe.jsonl").unlink()
    logs.take(logs.ask("now a file"), log="a-folder.jsonl")
    assert logs.asked() == ["mine", "now a file"]
    assert logs.check("ingest").status == "ok"


def test_files_that_are_no_logs_are_left_alone(logs: Logs) -> None:
    for name in ("notes.txt", "s.jsonl.gz", "s.jsonl~", ".jsonl", os.fsdecode(b"\xff.jsonl")):
        logs.write(logs.ask(name), log=name)

    assert logs.app.ingest.drain() == 0


def test_a_log_with_the_longest_name_and_a_strange_one_are_logs(logs: Logs) -> None:
    logs.take(logs.ask("long"), log="x" * 247 + ".jsonl.1")
    logs.take(logs.ask("strange"), log="a\nb'\"; drop table logs; --\x1b[2J\N{WATER BUFFALO}.jsonl")

    assert logs.asked() == ["long", "strange"]


def test_thousands_of_small_logs(logs: Logs) -> None:
    for number in range(2_000):
        logs.write(logs.ask(f"{number:04}", session_id=f"s-{number}"), log=f"s-{number}.jsonl")

    assert logs.app.ingest.drain() == 2_000
    assert sorted(logs.asked()) == [f"{number:04}" for number in range(2_000)]


def test_a_long_log_does_not_keep_the_others_waiting(logs: Logs) -> None:
    batch = b"".join(logs.frame("GembaState", {"state": "working"}) for _ in range(3_000))
    for _ in range(8):
        logs.write(batch, log="a-flood.jsonl")
    ingest = logs.app.ingest
    ingest.take_batch()
    logs.write(logs.ask("quick", session_id="z"), log="z.jsonl")

    told = ToldOnce("z.jsonl")
    rounds = 0
    while "quick" not in logs.asked():
        ingest.follow(told)  # type: ignore[arg-type]
        rounds += 1

    assert rounds <= 2


# ---- hostile frames ---------------------------------------------------------------------------------------------


def hostile_sessions() -> list[str]:
    return [
        "../../etc/passwd",
        "/etc/passwd",
        "..",
        "'; drop table sessions; --",
        "%s %(x)s {0} \\",
        "\x1b]0;title\x07\x1b[2J",
        "line\nline\ttab\r",
        "\u202eevil\u2066",
        "".join(map(chr, random.Random(7).choices(range(0x10000, 0x10FFFF), k=512))),
    ]


def test_a_session_may_have_any_name(logs: Logs) -> None:
    names = hostile_sessions()
    for number, name in enumerate(names):
        logs.write(logs.ask(str(number), session_id=name), logs.frame("SessionStart", {}, session_id=name))
    logs.app.ingest.drain()

    assert logs.asked() == [str(number) for number in range(len(names))]
    assert [event.session_id for event in logs.told("escalation_opened")] == names


def test_a_session_id_that_is_a_path_stays_in_the_folder(logs: Logs) -> None:
    environment = {
        **os.environ,
        "GEMBA_SESSION_ID": "../../etc/passwd",
        "GEMBA_HOME": str(logs.app.home),
        "GEMBA_WORKSPACE": str(logs.app.workspace.root),
    }
    command = [Path(sys.executable).parent / "gemba-ask", "--kind", "question", "--role", "coach", "--text", "Where?"]
    subprocess.run([*map(str, command)], env=environment, check=True, capture_output=True)
    logs.app.ingest.drain()

    assert [path.name for path in logs.folder.iterdir()] == [".._.._etc_passwd.jsonl"]
    assert [event.session_id for event in logs.told("escalation_opened")] == ["../../etc/passwd"]


def test_a_frame_on_which_a_part_of_gemba_fails_is_dropped_alone(logs: Logs) -> None:
    def project(tx: Transaction, drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            tx.emit(Draft("seen", {}, ref=draft.ref))
            if "poison" in draft.payload.get("text", ""):
                raise ZeroDivisionError

    app = logs.app
    app.ingest = Ingest(
        app.database, logs.folder, app.origin, app.workspace.root, [*app.ingest._projections[1:], project]
    )
    with capture_logs() as logged:
        taken = logs.take(logs.ask("one"), logs.ask("poison", event_id="bad"), logs.ask("two"))

    assert taken == 3
    assert [entry.get("event_id") for entry in logged] == [None, "bad"]
    assert logs.asked() == ["one", "two"]
    (dropped,) = logs.told("frame_dropped")
    assert (dropped.ref, json.loads(bytes(dropped.payload))["reason"]) == (
        "bad",
        "Gemba failed on it: ZeroDivisionError",
    )
    assert len(logs.told("seen")) == 2
    assert logs.counters() == {"frames_ingested": 3, "frames_dropped": 1}
    assert app.ingest.drain() == 0


# ---- whose frames -----------------------------------------------------------------------------------------------


def test_one_home_serves_two_workspaces_and_each_takes_its_own(logs: Logs, tmp_path: Path) -> None:
    """Even if somebody gave both the same database, neither moves the other one's place in a log."""
    (tmp_path / "other/.gemba").mkdir(parents=True)
    other = Logs(App.open(Workspace(tmp_path / "other"), Settings(), logs.app.home))
    for round_ in range(3):
        logs.write(logs.ask(f"mine {round_}"), other.ask(f"theirs {round_}"))
        assert logs.app.ingest.drain() == 1
    assert logs.asked() == ["mine 0", "mine 1", "mine 2"]

    assert other.app.ingest.drain() == 3
    other.app.close()
    assert logs.check("strays").status == "ok"


def test_a_workspace_named_through_a_link_is_the_same(logs: Logs, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(logs.app.workspace.root)
    logs.take(logs.ask("mine", workspace=str(tmp_path / "link")))

    assert logs.asked() == ["mine"]


def test_a_frame_of_no_workspace_is_shown_for_a_day(logs: Logs) -> None:
    logs.take(logs.ask("stray", workspace=""))
    shown = logs.check("strays")
    assert (shown.status, shown.detail.partition(";")[0]) == ("warn", "1 frame belongs to no workspace")
    assert "when a day has passed" in (shown.hint or "")

    with logs.app.database.transaction() as tx:
        tx.connection.execute(update(strays).values(last_at=strays.c.last_at - clock.DAY))

    assert logs.check("strays").status == "ok"


@pytest.mark.parametrize(
    "named",
    [
        "",
        None,
        "relative",
        ".",
        "/nowhere/at/all",
        "/nul\0byte",
        "/lone\ud800surrogate",
        "/" + "x" * 5_000,
        "/" + "".join(map(chr, random.Random(3).choices(range(0x10000, 0x10FFFF), k=3_000))),
    ],
    ids=["empty", "null", "relative", "dot", "unknown", "nul", "surrogate", "long", "longest"],
)
def test_a_frame_of_no_workspace_is_shown_by_the_doctor(
    logs: Logs, named: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(logs.app.workspace.root)
    logs.take(logs.ask("mine"), *(logs.ask("stray", workspace=named) for _ in range(3)))

    assert logs.asked() == ["mine"]
    check = logs.check("strays")
    assert check.status == "warn"
    assert check.detail.startswith("3 frames belong to no workspace")


def test_the_logs_of_one_session_are_taken_in_alone_and_the_others_are_not_forgotten(logs: Logs) -> None:
    logs.take(logs.ask("Before?"))
    logs.write(logs.ask("Of another?", session_id="other"), log="other.jsonl")
    logs.write(logs.ask("Of this one?"))

    assert logs.app.ingest.drain("s") == 1
    assert logs.app.ingest.drain("s", "nobody") == 0
    assert logs.app.ingest.drain() == 1
