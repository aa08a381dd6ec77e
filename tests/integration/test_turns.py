"""Answers that nobody waited for: they lie as a session's next turn until it has read them, each once."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gemba import wire
from gemba.app import App
from gemba.escalations import delivery, inbox, verbs
from gemba.escalations.escalation import Delivery, Escalation, Reply, Respond
from gemba.escalations.store import get, settle
from tests.fixtures.api import Api

BIN = Path(sys.executable).parent
SESSION = "team/one"
AT = "2026-01-01T00:00:0{}.000000Z"


@pytest.fixture(autouse=True)
def _session(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".gemba").mkdir()
    monkeypatch.setenv("GEMBA_SESSION_ID", SESSION)
    monkeypatch.setenv("GEMBA_INTERACTION_MODE", "balanced")


def run(*arguments: str, command: str = "gemba-ask", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BIN / command, *arguments], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def lay(home: Path, number: int, session: str = SESSION, **more: object) -> str:
    """A turn where the server puts it."""
    event_id = f"01900000-0000-7000-8000-00000000000{number}"
    turn = {
        "event_id": event_id,
        "outcome": "answered",
        "text": f"answer {number}",
        "at": AT.format(number),
        "question": f"Question {number}?",
        "session_id": session,
        **more,
    }
    folder = Path(wire.turns_folder(str(home), session))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{event_id}.json").write_text(json.dumps(turn, separators=(",", ":")))
    return event_id


def left(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "turns/team_one").iterdir())


def read_frames(home: Path) -> list[Any]:
    log = Path(wire.log_path(str(home), SESSION))
    frames = [json.loads(line) for line in log.read_bytes().splitlines()] if log.exists() else []
    return [frame["payload"] for frame in frames if frame["hook"] == "GembaReplyRead"]


# ---- what waits -------------------------------------------------------------------------------------------------


def test_what_waits_is_printed_oldest_first_acknowledged_and_gone(home: Path) -> None:
    late = lay(home, 1, at=AT.format(5), late=True)
    first = lay(home, 2, question="Which\n  port?")

    done = run("--next")

    assert (done.returncode, done.stderr) == (0, "")
    assert (
        done.stdout == "Question: Which port?\nAnswered: answer 2\n\nQuestion: Question 1?\nAnswered late: answer 1\n"
    )
    assert read_frames(home) == [{"event_id": first, "at": AT.format(2)}, {"event_id": late, "at": AT.format(5)}]
    assert left(home) == []


def test_with_json_each_is_one_line(home: Path) -> None:
    ids = [lay(home, 1, value={"port": 80}, text='{"port":80}'), lay(home, 2)]

    lines = run("--next", "--json").stdout.splitlines()

    assert [json.loads(line)["event_id"] for line in lines] == ids
    assert json.loads(lines[0])["value"] == {"port": 80}


def test_nothing_waits_has_an_exit_code_of_its_own(home: Path) -> None:
    for _ in range(2):
        done = run("--next")
        assert (done.returncode, done.stdout, done.stderr) == (14, "", "gemba-ask: no answer waits for you\n")
        (home / "turns/team_one").mkdir(parents=True, exist_ok=True)
    assert "14 when no answer waits" in run("--help").stdout


def test_with_json_nothing_is_an_object_too(home: Path) -> None:
    for _ in range(2):
        done = run("--next", "--json")
        assert (done.returncode, json.loads(done.stdout)) == (14, {"answers": []})
        (home / "turns/team_one").mkdir(parents=True, exist_ok=True)


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ({"outcome": "default"}, "Answered by default, by no person: answer 1"),
        ({"outcome": "expired", "text": ""}, "Expired, its time ran out before anybody answered: (no words)"),
        ({"outcome": "declined", "text": "no"}, "Declined by the operator: no"),
        ({"text": "two\nlines"}, "Answered: two\nlines"),
        (
            {"outcome": "overturned", "commits": ["abc one", "def two"]},
            "Overturned, the operator decided otherwise: answer 1\n\nCommitted since that decision:\nabc one\ndef two",
        ),
    ],
)
def test_each_outcome_is_told_as_what_it_is(home: Path, more: dict[str, Any], shown: str) -> None:
    lay(home, 1, **more)

    noun = "Assumption" if more.get("outcome") == "overturned" else "Question"
    assert run("--next").stdout == f"{noun}: Question 1?\n{shown}\n"


def test_a_long_question_is_shortened_and_the_answer_is_not(home: Path) -> None:
    lay(home, 1, question="word " * 400, text="x" * 50_000)

    question, answer = run("--next").stdout.splitlines()

    assert len(question) < 320
    assert question.endswith("…")
    assert answer == "Answered: " + "x" * 50_000


def test_answers_of_another_session_with_the_same_folder_are_left_to_it(home: Path) -> None:
    mine = lay(home, 1)
    other = lay(home, 2, session="team_one")

    assert "answer 2" not in run("--next").stdout
    assert left(home) == [f"{other}.json"]
    assert run("--next").returncode == 14
    assert run("--next", GEMBA_SESSION_ID="team_one").stdout.endswith("Answered: answer 2\n")
    assert [payload["event_id"] for payload in read_frames(home)] == [mine, other]


def other_workspace(folder: Path) -> Path:
    (folder / ".gemba").mkdir(parents=True)
    return folder


def test_an_answer_of_another_workspace_is_left_to_the_session_of_that_name_there(home: Path, tmp_path: Path) -> None:
    other = other_workspace(tmp_path / "other")
    theirs = lay(home, 1, workspace=str(other))
    mine = lay(home, 2, workspace=str(tmp_path))

    told = run("working", command="gemba-state").stderr
    first = run("--next")

    assert told == "gemba-state: 1 answer waits for you: gemba-ask --next\n"
    assert (first.returncode, "answer 1" in first.stdout, "answer 2" in first.stdout) == (0, False, True)
    assert run("--next").returncode == 14
    assert run("working", command="gemba-state").stderr == ""
    assert left(home) == [f"{theirs}.json"]
    assert run("--next", GEMBA_WORKSPACE=str(other)).stdout.endswith("Answered: answer 1\n")
    assert [payload["event_id"] for payload in read_frames(home)] == [mine, theirs]


def test_the_workspace_is_the_same_through_a_link_and_in_a_worktree_of_a_session(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    worktree = other_workspace(tmp_path / ".gemba/worktrees/one")
    lay(home, 1, workspace=str(tmp_path))
    lay(home, 2, workspace=str(tmp_path))

    through_a_link = run("working", command="gemba-state", GEMBA_WORKSPACE=str(tmp_path / "link")).stderr
    monkeypatch.chdir(worktree)

    assert "2 answers wait" in through_a_link
    assert "2 answers wait" in run("working", command="gemba-state").stderr
    assert run("--next").stdout.count("Answered: ") == 2


def test_an_answer_of_a_workspace_that_is_not_there_any_more_is_found_by_its_session(
    home: Path, tmp_path: Path
) -> None:
    lay(home, 1, workspace=str(tmp_path / "moved"))

    assert "1 answer waits" in run("working", command="gemba-state").stderr
    assert run("--next").stdout.endswith("Answered: answer 1\n")


def test_a_reader_that_belongs_to_no_workspace_goes_by_its_session(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(home, 1, workspace=str(other_workspace(tmp_path / "other")))
    monkeypatch.chdir("/")

    assert run("--next").stdout.endswith("Answered: answer 1\n")


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"null", b'{"event_id": "another", "outcome": "answered", "text": "x"}', b"[" * 100_000]
)
def test_a_file_that_is_no_answer_is_told_and_keeps_nothing_else_back(home: Path, content: bytes) -> None:
    broken = Path(wire.turns_folder(str(home), SESSION)) / "broken.json"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(content)
    (broken.parent / ".hidden.json.partial").touch()

    alone = run("--next")
    lay(home, 1)
    beside = run("--next")

    assert (alone.returncode, alone.stdout) == (1, "")
    assert "broken.json' is no answer" in alone.stderr
    assert (beside.returncode, beside.stdout) == (0, "Question: Question 1?\nAnswered: answer 1\n")
    assert broken.exists()


@pytest.mark.parametrize("redirect", [">&-", ">/dev/full"])
def test_what_could_not_be_printed_goes_on_waiting(home: Path, redirect: str) -> None:
    event_id = lay(home, 1)

    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirect}', "sh", BIN / "gemba-ask", "--next"], capture_output=True, check=False
    )

    assert done.returncode == 1
    assert b"which goes on waiting" in done.stderr
    assert left(home) == [f"{event_id}.json"]
    assert read_frames(home) == []


def test_what_could_not_be_acknowledged_comes_again(home: Path) -> None:
    event_id = lay(home, 1)
    Path(wire.log_path(str(home), SESSION)).mkdir(parents=True)  # in the log's way

    for _ in range(2):
        done = run("--next")
        assert (done.returncode, done.stdout) == (0, "Question: Question 1?\nAnswered: answer 1\n")
        assert "could not be acknowledged" in done.stderr
        assert left(home) == [f"{event_id}.json"]


def test_of_two_calls_at_once_each_answer_is_printed_by_one(home: Path) -> None:
    ids = [lay(home, number) for number in range(1, 10)]

    calls = [
        subprocess.Popen([BIN / "gemba-ask", "--next", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(6)
    ]
    printed = [call.communicate(timeout=60)[0].splitlines() for call in calls]

    found = [json.loads(line) for lines in printed for line in lines]
    assert sorted(turn["event_id"] for turn in found if turn != {"answers": []}) == ids
    assert sorted(payload["event_id"] for payload in read_frames(home)) == ids
    assert {call.returncode for call in calls} <= {0, 14}


def test_next_goes_with_no_other_flag(home: Path) -> None:
    lay(home, 1)

    for more in ("--wait", "--kind=question", "--schema=x"):
        done = run("--next", more)
        assert done.returncode == 1
        assert "does not go with --next; allowed: --next, --json" in done.stderr
    assert len(left(home)) == 1


# ---- what is told of it -----------------------------------------------------------------------------------------

QUESTION = ("--kind", "question", "--role", "manager", "--text", "Which port?")


def test_every_other_call_says_how_many_answers_wait(home: Path) -> None:
    assert run(*QUESTION).stderr == ""
    lay(home, 1)
    lay(home, 2, session="team_one")  # not ours
    asked = run(*QUESTION)
    assert (asked.returncode, asked.stderr) == (0, "gemba-ask: 1 answer waits for you: gemba-ask --next\n")
    lay(home, 3)
    event_id = asked.stdout.split()[0]
    two = "2 answers wait for you: gemba-ask --next\n"
    assert run("working", command="gemba-state").stderr == f"gemba-state: {two}"
    assert run(*QUESTION, "--wait", "0").stderr.splitlines()[1] == f"gemba-ask: {two.rstrip()}"
    assert run("--withdraw", event_id).stderr == f"gemba-ask: {two}"
    run("--next")
    assert run("working", command="gemba-state").stderr == ""


def test_one_that_was_read_by_its_id_waits_no_longer(home: Path) -> None:
    event_id = run(*QUESTION).stdout.split()[0]
    turn = Path(wire.turns_folder(str(home), SESSION)) / f"{event_id}.json"
    turn.parent.mkdir(parents=True)
    reply = {"event_id": event_id, "outcome": "answered", "text": "8080", "at": AT.format(1), "late": True}
    turn.write_text(json.dumps({**reply, "session_id": SESSION}, separators=(",", ":")))
    (home / "replies").mkdir()
    (home / "replies" / f"{event_id}.json").write_text(json.dumps(reply))

    done = run("--resume", event_id)

    assert (done.returncode, done.stdout) == (0, "8080\n")
    assert done.stderr == f"gemba-ask: {event_id} answered late: the time for it had run out before\n"
    assert not turn.exists()


def test_a_wait_that_ends_says_how_the_answer_will_come_and_not_that_it_was_declined(home: Path) -> None:
    done = run(*QUESTION, "--wait", "0")

    asked, told = done.stderr.splitlines()
    assert done.returncode == 1
    assert told == (
        f"gemba-ask: nobody has answered yet; the question stays open, wait on with: gemba-ask --resume "
        f"{asked.split()[0]}; or go on, and look for the answer with: gemba-ask --next"
    )


# ---- with the server --------------------------------------------------------------------------------------------


class Asker:
    """An agent's session in the workspace of an App in which nothing runs by itself."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.app: App = api.app

    def run(self, *arguments: str, session: str = SESSION) -> subprocess.CompletedProcess[str]:
        """A command, and everything that it wrote taken in."""
        places = {"GEMBA_HOME": str(self.app.home), "GEMBA_WORKSPACE": str(self.app.workspace.root)}
        done = run(*arguments, GEMBA_SESSION_ID=session, **places)
        self.app.ingest.drain()
        self.app.write_replies()
        return done

    def ask(self, *more: str, session: str = SESSION) -> str:
        return self.run(*QUESTION, *more, session=session).stdout.split()[0]

    def settle(self, id: str, outcome: str) -> None:
        """What a policy does when the time has run out."""
        with self.app.database.transaction() as tx:
            event = "expired" if outcome == "expired" else "resolved"
            words = "" if outcome == "expired" else "the default"
            settle(tx, get(tx.connection, id), event, Reply(outcome, words, "policy"))  # type: ignore[arg-type]
        self.app.write_replies()

    def respond(self, id: str, text: str) -> None:
        with self.app.database.transaction() as tx:
            verbs.respond(tx, Respond(text=text), id=id)
        self.app.write_replies()

    def get(self, id: str) -> Escalation:
        with self.app.database.read() as connection:
            return inbox.get_escalation(connection, id)


@pytest.fixture
def asker(api: Api) -> Asker:
    return Asker(api)


@pytest.mark.parametrize(("outcome", "code"), [("expired", 11), ("default", 10)])
def test_an_answer_after_the_time_ran_out_is_the_next_turn_and_is_read_once(
    asker: Asker, outcome: str, code: int
) -> None:
    id = asker.ask()
    asker.settle(id, outcome)
    first = asker.run("--resume", id)
    assert (first.returncode, "declined" in first.stderr) == (code, False)

    asker.respond(id, "8080")
    assert (asker.get(id).delivery, asker.get(id).late) == (Delivery.PENDING, True)

    turn = asker.run("--next")
    assert (turn.returncode, turn.stdout) == (0, "Question: Which port?\nAnswered late: 8080\n")
    assert asker.get(id).delivery == Delivery.DELIVERED
    assert asker.run("--next").returncode == 14
    again = asker.run("--resume", id)
    assert (again.returncode, again.stdout) == (0, "8080\n")


def test_nobody_is_said_to_wait_whose_own_time_is_over_and_the_answer_is_its_next_turn(asker: Asker) -> None:
    done = asker.run(*QUESTION, "--wait", "0.01")
    id = done.stderr.split()[0]
    found = asker.get(id)
    assert (done.returncode, found.waiting) == (1, False)
    assert found.waiting_until is not None

    asker.respond(id, "8080")

    assert asker.run("--next").stdout == "Question: Which port?\nAnswered: 8080\n"


def test_how_long_an_asker_said_that_it_waits_is_on_its_card(asker: Asker) -> None:
    def asked(**more: Any) -> Escalation:
        return asker.get(asker.api.ask(wait=True, **more))

    until = wire.timestamp(time.time_ns() + 60_000_000_000)
    assert (asked(wait_until=until).waiting, asked(wait_until=until).waiting_until) == (True, until)
    for unknown in ("", "soon", 5, None):
        found = asked(wait_until=unknown)
        assert (found.waiting, found.waiting_until) == (True, None)
    shown = subprocess.run(
        [BIN / "gemba", "inbox"], cwd=asker.app.workspace.root, capture_output=True, text=True, check=True
    ).stdout
    assert shown.count("waits until ") == 2
    assert shown.count("said to wait") == 4


def test_one_who_read_that_it_expired_has_not_read_the_late_answer(asker: Asker) -> None:
    id = asker.ask()
    asker.settle(id, "expired")
    # The acknowledgement of "expired" is taken in only after the late answer was given.
    places = {"GEMBA_HOME": str(asker.app.home), "GEMBA_WORKSPACE": str(asker.app.workspace.root)}
    assert run("--resume", id, **places).returncode == 11
    asker.respond(id, "8080")
    asker.app.ingest.drain()
    asker.app.write_replies()

    assert asker.get(id).delivery == Delivery.PENDING
    assert asker.run("--next").stdout.endswith("Answered late: 8080\n")
    assert asker.get(id).delivery == Delivery.DELIVERED


def test_a_reply_that_nobody_waited_for_is_laid_down_and_taken_away_when_it_was_read(asker: Asker) -> None:
    id = asker.ask()
    asker.respond(id, "8080")
    since = _delivery_since(asker.app, id)
    with asker.app.database.transaction() as tx:
        delivery.give_up_waiting(tx, id, since)
    asker.app.write_replies()
    assert asker.get(id).delivery == Delivery.UNDELIVERED
    turn = Path(wire.turns_folder(str(asker.app.home), SESSION), f"{id}.json")
    assert json.loads(turn.read_bytes())["session_id"] == SESSION

    assert asker.run("--resume", id).stdout == "8080\n"

    assert asker.get(id).delivery == Delivery.DELIVERED
    assert not turn.exists()


def test_an_answer_is_not_read_by_the_session_of_the_same_name_in_another_workspace(
    asker: Asker, tmp_path: Path
) -> None:
    id = asker.ask()
    asker.respond(id, "8080")
    with asker.app.database.transaction() as tx:
        delivery.give_up_waiting(tx, id, _delivery_since(asker.app, id))
    asker.app.write_replies()

    elsewhere = run("--next", GEMBA_HOME=str(asker.app.home), GEMBA_WORKSPACE=str(tmp_path))

    assert (elsewhere.returncode, elsewhere.stdout) == (14, "")
    assert asker.get(id).delivery == Delivery.UNDELIVERED
    assert asker.run("--next").stdout == "Question: Which port?\nAnswered: 8080\n"
    assert asker.get(id).delivery == Delivery.DELIVERED


def test_a_reply_sent_to_another_session_is_that_ones_next_turn(asker: Asker) -> None:
    id = asker.ask()
    asker.ask(session="team_one")  # another one, with the same folder
    asker.respond(id, "8080")
    since = _delivery_since(asker.app, id)
    with asker.app.database.transaction() as tx:
        delivery.give_up_waiting(tx, id, since)
        verbs.reroute(tx, verbs.Reroute("session", "team_one"), id=id)
    asker.app.write_replies()

    assert asker.run("--next").returncode == 14
    assert asker.run("--next", session="team_one").stdout == "Question: Which port?\nAnswered: 8080\n"
    assert asker.get(id).delivery == Delivery.DELIVERED


def test_an_overturned_assumption_is_the_next_turn_with_the_commits_since(
    asker: Asker, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assume = ("--kind", "assumption", "--role", "coach", "--text", "Which port?", "--chose", "80")
    monkeypatch.chdir(workspace)
    id = asker.run(*assume).stdout.split()[0]
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "listen on 80"], cwd=workspace, check=True)
    asker.api.post(f"/api/assumptions/{id}/overturn", {"text": "use 8080"})
    asker.app.write_replies()

    told = asker.run("--next").stdout

    assert told.startswith("Assumption: Which port?\nOverturned, the operator decided otherwise: use 8080\n")
    assert told.endswith(" listen on 80\n")
    assert asker.api.get("/api/assumptions")["assumptions"][0]["delivery"] == "delivered"
    assert asker.run("--next").returncode == 14


def _delivery_since(app: App, id: str) -> int:
    with app.database.read() as connection:
        since: int = get(connection, id).delivery_since
    return since


# ---- an agent that only knows its dispatch -----------------------------------------------------------------------


def test_an_agent_that_only_knows_its_dispatch_reads_what_waits_for_it(home: Path) -> None:
    event_id = lay(home, 1)
    envelope = Path(wire.envelope_path(str(home), "d-1"))
    envelope.parent.mkdir(parents=True)
    envelope.write_text(json.dumps({"metadata": {"agent_id": SESSION}}))

    done = run("--next", GEMBA_SESSION_ID="", GEMBA_DISPATCH_ID="d-1")

    assert (done.returncode, "answer 1" in done.stdout) == (0, True)
    assert [payload["event_id"] for payload in read_frames(home)] == [event_id]


@pytest.mark.parametrize(
    ("envelope", "said"),
    [
        (None, "no dispatch here has this id"),
        ("{", "is no JSON"),
        ('{"metadata": []}', "GEMBA_SESSION_ID is not set"),
        ('{"metadata": {"agent_id": ""}}', "GEMBA_SESSION_ID is not set"),
    ],
)
def test_a_dispatch_that_names_no_agent_is_refused(home: Path, envelope: str | None, said: str) -> None:
    if envelope is not None:
        path = Path(wire.envelope_path(str(home), "d-1"))
        path.parent.mkdir(parents=True)
        path.write_text(envelope)

    done = run("--next", GEMBA_SESSION_ID="", GEMBA_DISPATCH_ID="d-1")

    assert done.returncode == 1
    assert said in done.stderr
