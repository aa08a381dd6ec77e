"""Typed answers from end to end: the agent's schema, the operator's value, what is refused and what arrives."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gemba import wire
from gemba.testing import retry_until
from tests.fixtures.api import Api
from tests.fixtures.operator import Operator, suffix
from tests.fixtures.servers import BIN, RunningServer

QUESTION = ("--kind", "question", "--role", "manager", "--text", "Which port?")
SCHEMA = {
    "type": "object",
    "properties": {"port": {"type": "integer", "minimum": 1}, "host": {"type": "string"}},
    "required": ["port"],
    "additionalProperties": False,
}


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(SCHEMA, indent=2))
    return file


def ask(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    names = {"GEMBA_HOME": str(home), "GEMBA_SESSION_ID": "s", "GEMBA_INTERACTION_MODE": "balanced"}
    return subprocess.run(
        [BIN / "gemba-ask", *QUESTION, *arguments],
        env={**os.environ, **names, "GEMBA_WORKSPACE": str(home.parent)},
        capture_output=True,
        text=True,
        check=False,
    )


def payloads(home: Path) -> list[Any]:
    log = Path(wire.log_path(str(home), "s"))
    return [json.loads(line)["payload"] for line in log.read_bytes().splitlines()] if log.exists() else []


# ---- the agent --------------------------------------------------------------------------------------------------


def test_an_ask_carries_its_schema(home: Path, schema: Path) -> None:
    (home.parent / ".gemba").mkdir()
    done = ask(home, "--schema", str(schema))

    assert (done.returncode, done.stderr) == (0, "")
    assert [payload["schema"] for payload in payloads(home)] == [SCHEMA]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is no JSON"),
        (b"{", "is no JSON"),
        (b"\xff", "is no JSON"),
        (b'{"a": NaN}', "NaN is no JSON"),
        (b'{"a": 1e999}', "is no JSON"),
        (b"[" * 40_000, "nested too deeply"),
        (b'{"a":' * 5_000 + b"1" + b"}" * 5_000, "nested too deeply"),
        (b"[]", "holds no JSON object"),
        (b'"text"', "holds no JSON object"),
        (b"true", "holds no JSON object"),
        (b"{}", "is empty and takes every answer"),
        (b'{"a": "' + b"x" * 65_536 + b'"}', "larger than 65536 bytes"),
        (b'{"type": "objekt"}', "cannot be used: "),
        (b'{"pattern": "("}', "cannot be used: "),
        (b'{"$ref": "#"}', "cannot be used: a reference in it leads back to itself"),
        (b'{"$ref": "http://localhost/x"}', "cannot be used: a reference leads outside the schema"),
        (None, "No such file"),
    ],
)
def test_a_file_that_is_no_schema_is_refused_in_one_line(
    home: Path, tmp_path: Path, content: bytes | None, reason: str
) -> None:
    file = tmp_path / "schema.json"
    if content is not None:
        file.write_bytes(content)

    done = ask(home, "--schema", str(file))

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert reason in done.stderr
    assert str(file) in done.stderr
    assert payloads(home) == []


def test_a_pipe_or_a_folder_is_no_schema(home: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, "-"):
        done = ask(home, "--schema", str(path))
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert payloads(home) == []


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (("--option", "80"), "--schema does not go with --option"),
        (("--schema", "other"), "--schema is given twice"),
    ],
)
def test_what_does_not_go_with_a_schema_is_refused(
    home: Path, schema: Path, more: tuple[str, ...], reason: str
) -> None:
    assert reason in ask(home, "--schema", str(schema), *more).stderr
    assert payloads(home) == []


def test_an_assumption_has_no_schema(home: Path, schema: Path) -> None:
    names = {"GEMBA_HOME": str(home), "GEMBA_SESSION_ID": "s", "GEMBA_INTERACTION_MODE": "balanced"}
    assume = ("--kind", "assumption", "--role", "coach", "--text", "x", "--chose", "y", "--schema", str(schema))
    done = subprocess.run(
        [BIN / "gemba-ask", *assume], env={**os.environ, **names}, capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert "--schema does not go with --kind assumption, which nobody answers" in done.stderr


# ---- the API ----------------------------------------------------------------------------------------------------


def respond(api: Api, id: str, body: dict[str, Any]) -> Any:
    return api.request("POST", f"/api/escalations/{id}/respond", body)


def reply(api: Api, id: str) -> Any:
    api.app.write_replies()
    return json.loads(Path(wire.reply_path(str(api.app.home), id)).read_bytes())


def test_an_escalation_shows_its_schema_and_takes_a_value(api: Api) -> None:
    id = api.ask(schema=SCHEMA)
    assert api.get(f"/api/escalations/{id}")["schema"] == SCHEMA

    answered = respond(api, id, {"value": {"port": 8080}}).json

    assert (answered["state"], answered["resolution"]["value"]) == ("resolved", {"port": 8080})
    assert answered["resolution"]["text"] == '{"port":8080}'
    assert (reply(api, id)["value"], reply(api, id)["text"]) == ({"port": 8080}, '{"port":8080}')


def test_null_is_a_value(api: Api) -> None:
    id = api.ask(schema={"type": ["null", "string"]})

    assert respond(api, id, {}).status == 422
    answered = respond(api, id, {"value": None}).json

    assert (answered["state"], answered["resolution"]["text"]) == ("resolved", "null")
    assert "value" in reply(api, id)
    assert reply(api, id)["value"] is None


@pytest.mark.parametrize("body", [{"value": {"port": 0}}, {"text": '{"port": 0}'}])
def test_a_value_that_does_not_fit_is_refused_and_changes_nothing(api: Api, body: dict[str, Any]) -> None:
    id = api.ask(schema=SCHEMA)
    before = api.get(f"/api/escalations/{id}")

    refused = respond(api, id, body)

    told = refused.json
    assert (refused.status, told["code"], told["found"], told["allowed"]) == (422, "does_not_fit", "0", "at least 1")
    assert told["detail"] == "port of the answer is 0; allowed: at least 1"
    assert told["pointer"] == ("/value/port" if "value" in body else "/text")
    assert told["findings"] == [{"pointer": "/port", "found": "0", "allowed": "at least 1"}]
    assert api.get(f"/api/escalations/{id}") == before


def test_other_words_than_an_option_are_refused_and_declining_is_the_way_out(api: Api) -> None:
    id = api.ask(options=["red", "green"])

    refused = respond(api, id, {"text": "blue"})
    assert (refused.status, refused.json["code"], refused.json["allowed"]) == (422, "does_not_fit", ["red", "green"])
    declined = api.post(f"/api/escalations/{id}/dismiss", {"text": "none of these: blue"})

    assert (declined["state"], reply(api, id)["outcome"]) == ("dismissed", "declined")
    assert reply(api, id)["text"] == "none of these: blue"


def test_a_text_that_names_an_option_chooses_it(api: Api) -> None:
    id = api.ask(options=["red", "green"])

    answered = respond(api, id, {"text": " Green "}).json

    assert (answered["resolution"]["option"], reply(api, id)["text"]) == (2, "green")


def test_one_value_for_many_answers_those_it_fits(api: Api) -> None:
    fitting, other, free = api.ask(schema=SCHEMA), api.ask(schema={"type": "string"}), api.ask()

    done = api.post("/api/escalations/respond", {"ids": [fitting, other, free], "value": {"port": 1}})

    assert [item["id"] for item in done["answered"]] == [fitting]
    assert {(item["id"], item["code"]) for item in done["refused"]} == {
        (other, "does_not_fit"),
        (free, "unexpected_field"),
    }


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"$ref": "http://127.0.0.1:9/x"}, "a reference leads outside the schema"),
        ({"type": "integr"}, "integr"),
        ({"$ref": "#"}, "leads back to itself"),
        ("text", "it is no JSON object"),
    ],
)
def test_a_question_is_never_lost_for_its_schema(api: Api, bad: Any, reason: str) -> None:
    id = api.ask(schema=bad)

    shown = api.get(f"/api/escalations/{id}")

    assert shown["schema"] is None
    assert shown["text"].startswith("Which port?\n\n(Its schema for the answer could not be used: ")
    assert reason in shown["text"]
    assert respond(api, id, {"text": "8080"}).json["state"] == "resolved"


def test_what_was_typed_in_the_pane_is_kept_as_it_is(api: Api) -> None:
    id = api.ask(schema=SCHEMA)
    api.take("UserPromptSubmit", {"prompt": "8080, I think"})

    resolution = api.get(f"/api/escalations/{id}")["resolution"]

    assert (resolution["by"], resolution["text"], resolution["value"]) == ("pane", "8080, I think", None)


# ---- the operator's terminal ------------------------------------------------------------------------------------


def test_a_waiting_ask_prints_the_value_as_json(server: RunningServer, schema: Path) -> None:
    stream = server.events()
    asker = server.ask(*QUESTION, "--schema", str(schema), "--wait")
    id = stream.until("escalation_opened")["data"]["ref"]

    refused = server.gemba("answer", id[-6:], "--value", '{"port": "x"}')
    assert (refused.returncode, refused.stderr) == (
        1,
        'gemba: port of the answer is "x"; allowed: a whole number\n',
    )
    assert server.gemba("answer", id[-6:], "--value", '{"port": 8080, "host": "é"}').returncode == 0

    stdout, stderr = asker.communicate(timeout=30)
    assert (json.loads(stdout), asker.returncode) == ({"port": 8080, "host": "é"}, 0), stderr


def test_the_terminal_shows_the_schema_and_takes_values_of_it(operator: Operator) -> None:
    id = operator.ask(schema=SCHEMA)

    shown = operator.ok("inbox", suffix(id))
    assert "answer with --value JSON that fits:" in shown
    assert '"required":["port"]' in "".join(shown.split())
    assert shown.endswith("\nAnswer with: gemba answer ID --value JSON\n")
    assert "--value is no JSON" in operator.refused("answer", suffix(id), "--value", "{port", code=2)
    assert "allowed: an object" in operator.refused("answer", suffix(id), "--value", "[]")
    assert "allowed: at least 1" in operator.refused("answer", suffix(id), '{"port": 0}')
    answered = operator.ok("answer", suffix(id), '{"port": 1}')
    assert answered.startswith(f'answered {id}: {{"port":1}}\n')


def test_an_answer_is_held_back_and_undone(operator: Operator) -> None:
    first, second = operator.ask(session="a"), operator.ask(session="b")

    held = operator.ok("answer", suffix(first), "8080", "--hold", "60")
    assert f"gemba undo {suffix(first)}" in held
    operator.ok("answer", suffix(second), "8080")
    undone = json.loads(operator.ok("undo", first, second, "--json"))
    assert [item["id"] for item in undone["reopened"]] == [first]
    assert [item["id"] for item in undone["refused"]] == [second]
    assert not Path(wire.reply_path(str(operator.home), first)).exists()
    nothing = operator.run("undo", second)
    assert (nothing.returncode, nothing.stderr) == (1, "")
    assert nothing.stdout.startswith(f"not undone {second}: it is resolved by the operator")


def test_a_whole_group_is_answered_at_once(operator: Operator) -> None:
    ids = [operator.ask(session=f"worker-{n}") for n in range(3)]
    other = operator.ask(session="worker-9", text="May I delete the old migrations folder?")

    done = json.loads(operator.ok("answer", suffix(ids[1]), "8080", "--group", "--json"))

    assert (sorted(item["id"] for item in done["answered"]), done["refused"]) == (sorted(ids), [])
    assert "delete the old" in operator.ok("inbox", suffix(other))


def test_a_reply_that_did_not_arrive_is_sent_another_way(operator: Operator) -> None:
    id = operator.ask()
    assert "it waits" not in operator.ok("answer", suffix(id), "8080")
    operator.say("SessionEnd", {"reason": "exit"})
    assert "no session has the id nobody" in operator.refused("reroute", id, "--to", "session", "--session", "nobody")
    operator.say("SessionStart", {}, session="worker-2")

    told = operator.ok("reroute", suffix(id), "--to", "session", "--session", "worker-2")
    assert told == f"{id}: sent to session worker-2, as its next turn\n"
    turn = Path(wire.turns_folder(str(operator.home), "worker-2"), f"{id}.json")
    retry_until(turn.exists)
    refused = operator.refused("reroute", suffix(id), "--to", "hand")
    assert "its reply is not undelivered but pending" in refused
    assert "go together" in operator.refused("reroute", suffix(id), "--to", "session", code=2)
    assert "go together" in operator.refused("reroute", suffix(id), "--to", "hand", "--session", "x", code=2)


def test_what_nobody_proposed_is_neither_confirmed_nor_rejected(operator: Operator) -> None:
    id = operator.ask()

    for command in (("confirm", suffix(id)), ("reject", suffix(id), "no")):
        assert "no proposed answer waits to be verified" in operator.refused(*command)


def test_a_second_person_confirms_or_rejects_what_was_proposed(alone: Operator) -> None:
    (alone.workspace / ".gemba/workspace.toml").write_text('[[policy]]\nname = "two"\nverify = { person = true }\n')
    alone.ok("operator", "add", "maria")
    id = alone.ask(schema=SCHEMA)

    proposed = alone.ok("answer", suffix(id), "--value", '{"port": 1}')
    assert proposed.startswith(
        f'proposed for {id}: {{"port":1}}\nIt is not given yet: a second person must agree first'
    )
    assert "proposed by operator, waits for a second person" in alone.ok("inbox")
    assert "somebody else must agree to it" in alone.refused("confirm", suffix(id))
    rejected = alone.ok("reject", suffix(id), "that one is taken", GEMBA_OPERATOR="maria")
    assert rejected == f"refused what was proposed for {id}; it waits for another answer\n"
    assert "proposed by operator, refused (maria: that one is taken): " in alone.ok("inbox", suffix(id))
    alone.ok("answer", suffix(id), "--value", '{"port": 2}')
    confirmed = json.loads(alone.ok("confirm", suffix(id), "--json", GEMBA_OPERATOR="maria"))

    assert (confirmed["state"], confirmed["resolution"]["value"]) == ("resolved", {"port": 2})
    assert confirmed["resolution"]["who"] == "operator"
    assert json.loads(Path(wire.reply_path(str(alone.home), id)).read_bytes())["value"] == {"port": 2}


def test_the_terminal_says_how_far_the_code_moved(operator: Operator) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=operator.workspace, check=True)

    head, branch, worktree = wire.git_place(str(operator.workspace))
    id = operator.ask(commit=head, branch=branch, worktree=worktree, cwd=worktree)
    (operator.workspace / "new").write_text("1\n2\n")
    git("add", "new")
    git("commit", "-q", "-m", "two lines")
    assert "the code moved since: 1 file, +2 -0 on main\n" in operator.ok("inbox", suffix(id))
    git("switch", "-qc", "feature")
    assert "the code moved since: 1 file, +2 -0 on feature, asked on main\n" in operator.ok("inbox", suffix(id))
    assert "the code moved since" in operator.ok("inbox")
