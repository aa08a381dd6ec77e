"""Sessions that Gemba starts: real agents, kept as they are wanted, on both databases."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from sqlalchemy import func, select

from gemba.app import App
from gemba.errors import Conflict, GembaError, Invalid, NotFound, Unusable
from gemba.escalations import delivery
from gemba.escalations.store import escalations
from gemba.handoff import dispatches, envelope_files
from gemba.handoff.status import PlanStatus, Progress
from gemba.programs import NAMES
from gemba.sessions import inputs
from gemba.sessions.backends.backend import RunFolder, run_folder
from gemba.sessions.backends.process import ProcessBackend
from gemba.sessions.backends.run_folder import read_keeper
from gemba.store import events
from gemba.testing import retry_until
from tests.fixtures.floor import Floor, git_init, stop_runs

# A shell that runs its task; the preamble stands in a file, where it disturbs nobody.
AGENTS = """
[agent.worker]
command = ["sh"]
prompt = "stdin"
instructions = "CLAUDE.md"
max_parallel = 2

[agent.worker.limits]
runs_per_hour = 3

[agent.listener]
command = ["sh", "-c", 'trap "echo interrupted" INT; while read -r line || :; do echo "heard: $line"; done']
prompt = "argument"
terminal = "pty"
hooks = "claude"

[agent.driven]
command = ["sh"]
prompt = "none"
terminal = "pty"

[agent.client]
command = ["sh", "-c", 'for option; do stat -c "%a %n" "${option#*=}"; done', "sh", "{hooks}"]
hooks = "claude"
"""


@pytest.fixture
def floor(app: App, workspace: Path) -> Iterator[Floor]:
    (workspace / ".gemba" / "agents.toml").write_text(AGENTS)
    git_init(workspace)
    yield Floor(app)
    stop_runs(app.home)


def test_an_agent_works_in_a_tree_of_its_own_and_its_end_is_written_down(floor: Floor, workspace: Path) -> None:
    id = floor.start("run: echo hello\nrun: git branch --show-current", "builtin", role="manager", bead_id="B-1")
    assert (floor.get(id).lifecycle, floor.get(id).role, floor.get(id).bead_id) == ("starting", "manager", "B-1")

    ended = floor.until(id, "completed")

    assert ended.run is not None
    assert (ended.close_reason, ended.run.code, ended.run.wanted) == ("provider_exit", 0, False)
    assert ended.run.folder == str(workspace / ".gemba" / "worktrees" / id)
    assert ended.run.branch == f"gemba/{id}"
    shown = floor.app.keeping.transcript(id, 50)
    assert "hello" in shown.text
    assert f"gemba/{id}" in shown.text
    assert shown.attach is None
    assert floor.transitions(id)[-1:] == ["completed"]


@pytest.mark.parametrize(("task", "lifecycle", "code"), [("exit 3", "failed", 3), ("exit 0", "completed", 0)])
def test_an_agent_that_speaks_no_frames_is_judged_by_its_exit(
    floor: Floor, task: str, lifecycle: str, code: int
) -> None:
    id = floor.start(task)

    ended = floor.until(id, lifecycle)

    assert ended.run is not None
    assert (ended.run.code, ended.run.signal) == (code, None)
    assert floor.transitions(id) == ["running", lifecycle]


def test_an_agent_finds_the_commands_and_its_own_names(floor: Floor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("GEMBA_DISPATCH_ID", "of the server's own surroundings")
    id = floor.start("env | grep ^GEMBA_ | cut -d= -f1 | sort; gemba-ask --version > /dev/null && echo found")
    floor.until(id, "completed")
    names = ["AGENT_TYPE", "HOME", "INTERACTION_MODE", "RUN_ID", "SESSION_ID", "WORKSPACE"]
    assert floor.app.keeping.transcript(id, 50).text.splitlines() == [*(f"GEMBA_{name}" for name in names), "found"]


def test_an_agent_is_not_given_the_programs_that_gemba_needs_itself(
    floor: Floor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    id = floor.start(f'echo "$PATH" > {tmp_path}/path', worktree=False)
    floor.until(id, "completed")

    folders = (tmp_path / "path").read_text().strip().split(":")

    assert folders[:2] == ["/usr/bin", "/bin"]
    added = {program.name for folder in folders[2:] for program in Path(folder).iterdir()}
    assert added == set(NAMES)


def test_a_stop_ends_everything_that_the_agent_started_and_is_the_operators(floor: Floor, tmp_path: Path) -> None:
    left = tmp_path / "left"
    id = floor.start(f"(setsid sleep 1000 & echo $! > {left}); trap '' TERM; sleep 1000", worktree=False)
    floor.until(id, "running")
    child = int(retry_until(lambda: left.exists() and left.read_text().strip(), timeout=60))

    floor.stop(id)
    ended = floor.until(id, "stopped")
    floor.stop(id)  # again is no other

    assert ended.close_reason == "operator_stop"
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert floor.transitions(id) == ["running", "stopped"]


def test_a_client_is_handed_its_hooks_and_tools_in_private_files_outside_of_the_repository(floor: Floor) -> None:
    id = floor.start("Look.", "client")

    ended = floor.until(id, "completed")

    assert ended.run is not None
    folder = run_folder(floor.app.home, floor.app.workspace.root, id).path
    given = [f"600 {folder / name}" for name in ("claude-settings.json", "mcp.json")]
    assert floor.app.keeping.transcript(id, 50).text.split("\n")[:2] == given
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ended.run.folder, capture_output=True, text=True, check=True
    )
    assert status.stdout == ""


def test_what_is_stopped_before_it_started_never_starts(floor: Floor) -> None:
    id = floor.start("echo never")
    floor.stop(id)

    ended = floor.until(id, "stopped")

    assert ended.run is not None
    assert ended.run.started_at is None
    assert not run_folder(floor.app.home, floor.app.workspace.root, id).path.exists()


@pytest.mark.parametrize("victim", ["agent", "keeper"])
def test_an_agent_that_is_killed_has_failed(floor: Floor, victim: str) -> None:
    id = floor.start("kill -9 $$" if victim == "agent" else "sleep 1000")
    if victim == "keeper":
        floor.until(id, "running")
        keeper = read_keeper(run_folder(floor.app.home, floor.app.workspace.root, id))
        assert keeper is not None
        os.kill(keeper.process[0], signal.SIGKILL)

    assert floor.until(id, "failed").close_reason == "killed"


def test_a_start_that_nobody_lived_to_write_down_is_found(floor: Floor, monkeypatch: pytest.MonkeyPatch) -> None:
    id = floor.start("sleep 1000")
    with monkeypatch.context() as patch:
        patch.setattr(floor.app.keeping, "_came_up", lambda _row: None)
        floor.app.keeping.keep()
    assert floor.get(id).lifecycle == "starting"
    before = read_keeper(run_folder(floor.app.home, floor.app.workspace.root, id))

    floor.until(id, "running")

    assert read_keeper(run_folder(floor.app.home, floor.app.workspace.root, id)) == before
    assert floor.transitions(id) == ["running"]


def test_who_comes_late_to_start_what_another_process_started_and_saw_end_does_nothing(
    floor: Floor, tmp_path: Path, workspace: Path
) -> None:
    count = tmp_path / "count"
    id = floor.start(f"echo began >> {count}")
    (seen_before,) = floor.app.keeping._rows()
    floor.ended(id)
    released = floor.act("/api/sessions/{id}/release", {}, id=id)

    floor.app.keeping._start(seen_before)

    assert count.read_text() == "began\n"
    assert released is not None
    assert not (workspace / ".gemba" / "worktrees" / id).exists()
    assert floor.get(id).lifecycle == "completed"


def test_the_preamble_stands_in_the_clients_file_while_the_agent_lives(floor: Floor, workspace: Path) -> None:
    (workspace / "CLAUDE.md").write_text("Mine.\n")
    id = floor.start("cat CLAUDE.md; until [ -e go ]; do :; done", worktree=False)
    floor.until(id, "running")
    retry_until(lambda: "gemba-ask" in floor.app.keeping.transcript(id, 500).text, timeout=60)

    (workspace / "go").touch()
    floor.until(id, "completed")

    assert (workspace / "CLAUDE.md").read_text() == "Mine.\n"


def test_a_start_that_fails_leaves_nothing_in_the_clients_file(floor: Floor, workspace: Path) -> None:
    (workspace / "CLAUDE.md").write_text("Mine.\n")
    program = workspace / "gone"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o700)
    (workspace / ".gemba" / "agents.toml").write_text(AGENTS.replace('["sh"]', '["./gone"]'))
    id = floor.start("anything", worktree=False)

    ended = floor.until(id, "failed")

    assert ended.run is not None
    assert (ended.close_reason, bool(ended.run.trouble)) == ("not_started", True)
    assert (workspace / "CLAUDE.md").read_text() == "Mine.\n"


def test_one_session_that_cannot_be_kept_is_no_others_trouble(floor: Floor, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = floor.listener()
    floor.stop(stuck)
    stop = ProcessBackend.stop

    def cannot(backend: ProcessBackend, run: RunFolder, grace: float) -> None:
        if run.session_id == stuck:
            raise Unusable("a process cannot be ended", code="process_stays")
        stop(backend, run, grace)

    with monkeypatch.context() as patch:
        patch.setattr(ProcessBackend, "stop", cannot)
        floor.until(floor.start("exit 0"), "completed")
        assert floor.get(stuck).lifecycle == "running"
    floor.until(stuck, "stopped")


@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        ({"agent": "nobody"}, NotFound, "no agent type is called"),
        ({"agent": "codex", "task": "x"}, Unusable, "codex is not on PATH"),
        ({"agent": "worker", "task": " \n"}, Invalid, "the task is empty"),
        ({"agent": "command", "task": "x"}, Unusable, "no command is given"),
        ({"agent": "driven", "task": "x"}, Invalid, "a person drives driven, and nothing there would read a task"),
        ({"agent": "worker", "task": "x", "dispatch_id": "d-1"}, NotFound, "no dispatch has the id d-1"),
        *(
            ({"agent": "worker", "task": "x", "id": id}, Invalid, "allowed: 1 to 200 letters, digits")
            for id in ("a/b", "a b", "..", "é", "x" * 201, "a\n")
        ),
    ],
)
def test_what_cannot_run_is_refused_and_nothing_changes(
    floor: Floor, body: dict[str, Any], error: type[GembaError], words: str
) -> None:
    with pytest.raises(error, match=words):
        floor.act("/api/sessions", body)
    with floor.app.database.read() as connection:
        assert events.last_id(connection) == 0


def test_nobody_is_started_for_a_dispatch_that_is_complete(floor: Floor) -> None:
    made: Any = floor.act("/api/dispatches", {"goal": "Cut it in half"})
    floor.start("exit 0", dispatch_id=made.id)
    with floor.app.database.transaction() as tx:
        dispatches.save(tx, dispatches.get_locked(tx, made.id), Progress(PlanStatus.COMPLETE))

    with pytest.raises(Conflict, match=f"the dispatch {made.id} is complete"):
        floor.start("exit 0", dispatch_id=made.id)


def test_an_agent_finds_the_input_of_its_dispatch_though_whoever_made_that_was_killed_before_it_was_written(
    floor: Floor,
) -> None:
    made: Any = floor.act("/api/dispatches", {"goal": "Cut it in half"})
    inputs = [envelope_files.place(floor.app.home, made.id, suffix) for suffix in (".json", ".md")]
    for file in inputs:
        file.unlink()

    id = floor.start(f"test -s {inputs[0]} && test -s {inputs[1]}", dispatch_id=made.id)

    assert floor.until(id, "completed").close_reason == "provider_exit"


def test_no_more_run_than_their_type_allows(floor: Floor) -> None:
    first = floor.start("exit 0")
    floor.start("exit 0")
    with pytest.raises(Conflict, match="2 run at once; allowed: 2"):
        floor.start("exit 0")
    floor.until(first, "completed")
    floor.until(floor.start("exit 0"), "completed")
    with pytest.raises(Conflict, match="3 were started within the hour; allowed: 3"):
        floor.start("exit 0")


def test_an_id_is_given_once(floor: Floor) -> None:
    floor.start("exit 0", id="mine")
    with pytest.raises(Conflict, match="there is a session mine already"):
        floor.start("exit 0", id="mine")


# ---- what is typed --------------------------------------------------------------------------------------------------


def test_what_is_sent_is_typed_to_the_letter_in_order_and_read_once_the_client_says_so(floor: Floor) -> None:
    id = floor.listener()
    first = floor.send(id, "  $(reboot); `x` 'y' \x03\x1b[A ä\n")
    second = floor.send(id, "and then")

    floor.hears(id, "heard: and then")
    heard = [line for line in floor.app.keeping.transcript(id, 50).text.splitlines() if line.startswith("heard")]
    assert heard == ["heard: $(reboot); `x` 'y' [A ä", "heard: and then"]
    assert [floor.input(each) for each in (first, second)] == [("typed", None)] * 2
    floor.say(id, "GembaAsk", kind="question", role="manager", text="Which port?", mode="balanced")
    floor.say(id, "UserPromptSubmit", prompt="and then")
    assert floor.input(second)[0] == "read"
    with floor.app.database.read() as connection:
        query = select(func.count()).select_from(escalations).where(~escalations.c.resolved)
        assert connection.execute(query).scalar_one() == 1  # our own words answer no question


def test_nothing_is_typed_while_a_dialog_is_open(floor: Floor) -> None:
    id = floor.listener()
    call = {"tool_name": "Bash", "tool_input": {"command": "make"}}
    floor.say(id, "PermissionRequest", **call)
    sent = floor.send(id, "no, use port 2")
    floor.app.keeping.keep()
    assert floor.input(sent) == ("waiting", None)

    floor.say(id, "PostToolUse", **call)

    floor.hears(id, "heard: no, use port 2")


def test_what_was_being_typed_when_the_server_died_is_never_typed_again(floor: Floor) -> None:
    id = floor.listener()
    sent = floor.send(id, "once")
    with floor.app.database.transaction() as tx:
        inputs.move(tx, inputs.get(tx.connection, sent), inputs.InputState.TYPING)

    floor.send(id, "next")
    floor.hears(id, "heard: next")

    state, trouble = floor.input(sent)
    assert (state, "killed while it typed" in (trouble or "")) == ("typed", True)
    assert "once" not in floor.app.keeping.transcript(id, 50).text


def test_an_interrupt_reaches_the_agent(floor: Floor) -> None:
    id = floor.listener()
    floor.act("/api/sessions/{id}/interrupt", {}, id=id)
    floor.hears(id, "interrupted")


def test_nobody_types_to_what_takes_one_prompt_or_is_over(floor: Floor) -> None:
    headless = floor.start("sleep 1000", worktree=False)
    with pytest.raises(Conflict, match="takes one prompt and ends"):
        floor.send(headless, "more")
    id = floor.listener()
    floor.say(id, "PermissionRequest", tool_name="Bash", tool_input={"command": "make"})
    late = floor.send(id, "too late")
    floor.stop(id)
    with pytest.raises(Conflict, match="is being stopped"):
        floor.send(id, "more")
    floor.until(id, "stopped")
    assert floor.input(late) == ("not_typed", "the session was over before it could be typed")
    with pytest.raises(Conflict, match="is over"):
        floor.send(id, "more")


def answered_question(floor: Floor, id: str, **answer: Any) -> str:
    """The id of a question that the session does not wait for, answered."""
    floor.say(id, "GembaAsk", kind="question", role="manager", text="Which port?", mode="balanced")
    with floor.app.database.read() as connection:
        found = select(escalations.c.id).where(escalations.c.session_id == id, escalations.c.kind == "question")
        asked: str = connection.execute(found).scalar_one()
    floor.act("/api/escalations/{id}/respond", answer, id=asked)
    return asked


def delivery_of(floor: Floor, id: str) -> tuple[str, str | None]:
    with floor.app.database.read() as connection:
        row = connection.execute(select(escalations).where(escalations.c.id == id)).one()
    return row.delivery, row.delivery_note


def test_an_answer_is_typed_as_the_next_prompt_and_delivered_once_it_is_read(floor: Floor) -> None:
    id = floor.listener()
    asked = answered_question(floor, id, text="8080")

    floor.hears(id, "heard: 8080")
    floor.app.write_replies()
    assert delivery_of(floor, asked) == ("pending", None)
    assert not (floor.app.home / "turns").exists()  # it is not told a second time

    floor.say(id, "UserPromptSubmit", prompt="8080")
    assert delivery_of(floor, asked)[0] == "delivered"


@pytest.mark.parametrize(
    ("text", "typed"), [("!reboot", "Reply: !reboot"), ("/clear it", "Reply: /clear it"), ("C:\\", "C:\\ .")]
)
def test_an_answer_is_words_to_its_client_and_never_a_command(floor: Floor, text: str, typed: str) -> None:
    id = floor.listener()
    asked = answered_question(floor, id, text=text)
    floor.hears(id, f"heard: {typed}")
    floor.say(id, "UserPromptSubmit", prompt=typed)
    assert delivery_of(floor, asked)[0] == "delivered"


def test_an_answer_is_never_typed_to_what_a_person_drives(floor: Floor, tmp_path: Path) -> None:
    id = floor.start("", "driven", worktree=False)
    floor.until(id, "running")
    asked = answered_question(floor, id, text=f"touch {tmp_path}/run")
    floor.app.write_replies()

    assert [file.name for file in (floor.app.home / "turns").glob("*/*")] == [f"{asked}.json"]
    sent = floor.send(id, f"touch {tmp_path}/sent")  # what a person sends there is theirs
    floor.app.keeping.keep()
    assert floor.input(sent)[0] == "typed"
    retry_until((tmp_path / "sent").exists, timeout=30)
    assert not (tmp_path / "run").exists()


def test_an_answer_that_its_client_never_confirms_stays_in_sight_and_is_not_told_twice(floor: Floor) -> None:
    id = floor.listener()
    asked = answered_question(floor, id, text="8080")
    floor.hears(id, "heard: 8080")

    give_up_waiting(floor, asked)

    assert delivery_of(floor, asked) == ("undelivered", delivery.TYPED_UNREAD)
    assert not (floor.app.home / "turns").exists()


def test_an_answer_that_could_not_be_typed_in_time_waits_as_the_next_turn(floor: Floor) -> None:
    id = floor.listener()
    call = {"tool_name": "Bash", "tool_input": {"command": "make"}}
    floor.say(id, "PermissionRequest", **call)
    asked = answered_question(floor, id, text="8080")
    floor.app.keeping.keep()

    give_up_waiting(floor, asked)
    floor.say(id, "PostToolUse", **call)
    floor.app.keeping.keep()

    assert delivery_of(floor, asked) == ("undelivered", delivery.UNREAD)
    assert [file.name for file in (floor.app.home / "turns").glob("*/*")] == [f"{asked}.json"]
    assert "8080" not in floor.app.keeping.transcript(id, 50).text


def give_up_waiting(floor: Floor, id: str) -> None:
    with floor.app.database.transaction() as tx:
        since = tx.connection.execute(select(escalations.c.delivery_since).where(escalations.c.id == id)).scalar_one()
        assert delivery.give_up_waiting(tx, id, since)
    floor.app.write_replies()


# ---- silence --------------------------------------------------------------------------------------------------------


def stalled_card(floor: Floor) -> Any:
    floor.app.look_for_stalls()
    with floor.app.database.read() as connection:
        open_ones = select(escalations).where(escalations.c.kind == "stalled", ~escalations.c.resolved)
        return connection.execute(open_ones).one_or_none()


@pytest.fixture
def silent(floor: Floor) -> Iterator[str]:
    """A session that said that it works, a quarter of an hour ago."""
    id = floor.listener()
    floor.say(id, "GembaState", state="working", note="Running the tests")
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=16)):
        yield id


def test_who_works_and_is_not_heard_of_is_asked_about_once_until_it_is_heard_again(floor: Floor, silent: str) -> None:
    card = stalled_card(floor)
    assert (card.channel, card.urgency, json.loads(card.options)) == (
        "system",
        "advisory",
        ["wait", "interrupt", "stop"],
    )
    assert card.text == (
        "It says that it works, and nothing was heard of it for 16 minutes.\n\nIts last words: Running the tests"
    )
    assert floor.get(silent).reported_state == "stalled"
    assert stalled_card(floor).id == card.id

    floor.say(silent, "PostToolUse", tool_name="Bash", tool_input={"command": "make"})

    assert stalled_card(floor) is None
    assert floor.get(silent).reported_state == "working"


def test_what_is_chosen_on_its_card_is_done(floor: Floor, silent: str) -> None:
    floor.act("/api/escalations/{id}/respond", {"action": "wait"}, id=stalled_card(floor).id)
    assert (floor.get(silent).reported_state, stalled_card(floor)) == ("working", None)

    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=16)):
        floor.act("/api/escalations/{id}/respond", {"action": "stop"}, id=stalled_card(floor).id)
        floor.until(silent, "stopped")
        assert stalled_card(floor) is None
