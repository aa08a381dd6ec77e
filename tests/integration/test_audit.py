"""The audit log: what was decided is in it, and whatever is done to it afterwards is found, on both databases."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, delete, insert, update

from gemba.app import App
from gemba.cli.door import open_door
from gemba.handoff.anchors import Anchors
from gemba.handoff.audit import audit, entries
from gemba.handoff.chain import BEGINNING, Anchor, entry_after, hash_entry
from tests.fixtures.api import Api
from tests.fixtures.operator import Operator

Spoil = Callable[[Connection], object]


@pytest.fixture
def decided(api: Api) -> Api:
    """Six entries: two requests, one refused, one approved and used; the last entry is how it ended."""
    for number in (1, 2):
        body = {"command": f"rm {number}", "cwd": "/srv", "tool": "Bash", "requester": "r", "session_id": "s"}
        id = api.post("/api/approvals", body)["id"]
        if number == 1:
            api.post(f"/api/approvals/{id}/refuse", {"reason": "no"})
        else:
            api.post(f"/api/approvals/{id}/approve", {})
            api.post(f"/api/approvals/{id}/use", body)
            api.post(f"/api/approvals/{id}/outcome", {"outcome": "succeeded"})
    return api


def verdict(api: Api) -> dict[str, Any]:
    found: dict[str, Any] = api.get("/api/audit/verdict")
    return found


def spoil(api: Api, *changes: Spoil) -> None:
    with api.app.database.transaction() as tx:
        for change in changes:
            change(tx.connection)


def rewrite(connection: Connection, after: int, skip: int | None = None) -> None:
    """The whole chain behind an entry written anew by somebody who knows how, with other words in it."""
    old = list(entries(connection))
    connection.execute(delete(audit).where(audit.c.number > after))
    head = BEGINNING if after == 0 else old[after - 1].anchor
    for entry in old[after:]:
        if entry.number == skip:
            continue
        made = entry_after(head, at=entry.at, kind=entry.kind, actor="somebody else", ref=entry.ref, body=entry.body)
        connection.execute(insert(audit), made._asdict())
        head = made.anchor


def test_every_decision_and_use_is_an_entry(decided: Api) -> None:
    found = decided.get("/api/audit")
    assert [(entry["number"], entry["kind"], entry["actor"]) for entry in found["entries"]] == [
        (1, "approval.requested", "r"),
        (2, "approval.decided", "operator"),
        (3, "approval.requested", "r"),
        (4, "approval.decided", "operator"),
        (5, "approval.used", "r"),
        (6, "approval.ended", "r"),
    ]
    assert json.loads(found["entries"][1]["body"])["decision_reason"] == "no"
    found = verdict(decided)
    assert (found["ok"], found["entries"], found["anchors"]) == (True, 6, 6)
    assert [found[name] for name in ("number", "what", "detail", "hint", "begun")] == [None] * 5
    assert [entry["number"] for entry in decided.get("/api/audit?after=4")["entries"]] == [5, 6]


COLUMNS = {"at": 1, "kind": "x", "actor": "x", "ref": "x", "body": "x", "previous": "0" * 64, "hash": "0" * 64}


@pytest.mark.parametrize("column", COLUMNS)
def test_an_entry_that_was_edited_is_named(decided: Api, column: str) -> None:
    spoil(decided, lambda c: c.execute(update(audit).where(audit.c.number == 3).values({column: COLUMNS[column]})))

    found = verdict(decided)
    assert (found["ok"], found["number"], found["what"]) == (False, 3, "edited")


def test_one_byte_is_enough(decided: Api) -> None:
    with decided.app.database.read() as connection:
        body = list(entries(connection))[4].body
    spoil(
        decided, lambda c: c.execute(update(audit).where(audit.c.number == 5).values(body=body.replace("rm", "rM", 1)))
    )

    assert (verdict(decided)["number"], verdict(decided)["what"]) == (5, "edited")


def test_an_entry_that_was_deleted_is_missed(decided: Api) -> None:
    spoil(decided, lambda c: c.execute(delete(audit).where(audit.c.number == 3)))

    assert (verdict(decided)["number"], verdict(decided)["what"]) == (3, "missing")


def test_a_tail_that_was_cut_off_is_missed(decided: Api) -> None:
    spoil(decided, lambda c: c.execute(delete(audit).where(audit.c.number > 4)))

    assert (verdict(decided)["number"], verdict(decided)["what"]) == (5, "truncated")


def test_an_empty_table_is_a_tail_that_was_cut_off(decided: Api) -> None:
    spoil(decided, lambda c: c.execute(delete(audit)))

    assert (verdict(decided)["number"], verdict(decided)["what"]) == (1, "truncated")


def test_entries_that_changed_places_are_found(decided: Api) -> None:
    number = audit.c.number
    spoil(
        decided,
        lambda c: c.execute(update(audit).where(number == 3).values(number=99)),
        lambda c: c.execute(update(audit).where(number == 4).values(number=3)),
        lambda c: c.execute(update(audit).where(number == 99).values(number=4)),
    )

    assert (verdict(decided)["number"], verdict(decided)["what"]) == (3, "edited")


def test_an_entry_that_was_put_in_with_a_good_hash_is_found(decided: Api) -> None:
    def put_in(connection: Connection) -> None:
        connection.execute(update(audit).where(audit.c.number == 6).values(number=7))
        fifth = list(entries(connection))[4]
        made = entry_after(fifth.anchor, at=1, kind="approval.used", actor="x", ref="x", body="{}")
        connection.execute(insert(audit), made._asdict())

    spoil(decided, put_in)
    assert (verdict(decided)["ok"], verdict(decided)["number"]) == (False, 6)


@pytest.mark.parametrize("after", [0, 2, 5])
def test_a_chain_that_was_written_anew_is_found_where_it_departs(decided: Api, after: int) -> None:
    spoil(decided, lambda c: rewrite(c, after))

    assert (verdict(decided)["number"], verdict(decided)["what"]) == (after + 1, "rewritten")


def test_a_chain_that_was_written_anew_without_one_of_its_entries_is_found(decided: Api) -> None:
    spoil(decided, lambda c: rewrite(c, 0, skip=2))

    assert (verdict(decided)["ok"], verdict(decided)["number"]) == (False, 1)


def test_the_anchors_lie_in_the_home_and_not_in_the_workspace(decided: Api) -> None:
    file = decided.app.anchors.file
    assert file.is_relative_to(decided.home)
    assert not file.is_relative_to(decided.workspace / ".gemba")
    assert file.stat().st_mode & 0o077 == 0
    with decided.app.database.read() as connection:
        assert decided.app.anchors.read().anchors == [entry.anchor for entry in entries(connection)]


def test_an_anchor_that_a_crash_left_out_or_torn_harms_nothing(decided: Api) -> None:
    lines = decided.app.anchors.file.read_text().splitlines(keepends=True)
    decided.app.anchors.file.write_text("".join(lines[:-2]) + lines[-2][:20])
    assert verdict(decided)["ok"]

    decided.app.anchors.keep(Anchor(6, lines[-1].split()[1]))
    assert [anchor.number for anchor in decided.app.anchors.read().anchors] == [1, 2, 3, 4, 6]
    assert verdict(decided)["ok"]


def test_a_start_checks_the_tail(decided: Api, capsys: pytest.CaptureFixture[str]) -> None:
    spoil(decided, lambda c: c.execute(delete(audit).where(audit.c.number == 6)))
    app = decided.app
    App.open(app.workspace, app.settings, app.home).close()

    assert "the audit log is not as it was written" in "".join(capsys.readouterr())


def test_what_is_rolled_back_leaves_no_entry(api: Api) -> None:
    refused = api.request("POST", "/api/approvals/none/approve", {})
    assert refused.status == 404
    assert verdict(api)["entries"] == 0


# ---- a new log ------------------------------------------------------------------------------------------------------


def test_a_log_that_is_gone_is_told_from_one_that_was_changed(decided: Api) -> None:
    spoil(decided, lambda c: c.execute(delete(audit).where(audit.c.number > 4)))
    assert "find out who changed the log" in verdict(decided)["hint"]

    spoil(decided, lambda c: c.execute(delete(audit)))
    found = verdict(decided)
    assert "nothing is here of the log whose 6 entries" in found["hint"]
    assert str(decided.app.anchors.file) in found["hint"]
    assert "gemba audit begin" in found["hint"]


def test_a_new_log_begins_where_the_old_one_is_gone_and_says_so(decided: Api) -> None:
    before = decided.app.anchors.file.read_text()
    spoil(decided, lambda c: c.execute(delete(audit)))
    request_one(decided, "rm 3")
    assert (verdict(decided)["number"], verdict(decided)["what"]) == (1, "rewritten")

    begun = decided.post("/api/audit/begin", {"reason": "cloned anew"})

    assert (begun["number"], begun["by"], begun["reason"]) == (2, "operator", "cloned anew")
    found = verdict(decided)
    assert (found["ok"], found["entries"], found["anchors"]) == (True, 2, 1)
    assert found["begun"] == begun
    first, entry = decided.get("/api/audit")["entries"]
    assert (first["number"], first["kind"]) == (1, "approval.requested")  # it is kept
    body = json.loads(entry["body"])
    assert (entry["kind"], entry["actor"], body["reason"]) == ("audit.begun", "operator", "cloned anew")
    assert body["found"]["what"] == "rewritten"
    assert body["before"]["number"] == 6
    assert decided.app.anchors.file.read_text().startswith(before)

    request_one(decided, "rm 4")
    assert verdict(decided)["ok"]
    spoil(decided, lambda c: c.execute(delete(audit).where(audit.c.number > 2)))
    assert (verdict(decided)["number"], verdict(decided)["what"]) == (3, "truncated")
    spoil(decided, lambda c: c.execute(delete(audit).where(audit.c.number > 1)))
    assert (verdict(decided)["number"], verdict(decided)["what"]) == (2, "truncated")


def test_after_an_edit_a_new_log_begins_behind_what_is_there(decided: Api) -> None:
    spoil(decided, lambda c: c.execute(update(audit).where(audit.c.number == 3).values(actor="x")))

    assert decided.post("/api/audit/begin", {"reason": "somebody was here"})["number"] == 7
    assert verdict(decided)["ok"]
    assert len(decided.get("/api/audit")["entries"]) == 7

    spoil(decided, lambda c: c.execute(update(audit).where(audit.c.number == 7).values(actor="x")))
    assert (verdict(decided)["number"], verdict(decided)["what"]) == (7, "edited")


def test_a_log_that_is_right_is_not_begun_anew(decided: Api) -> None:
    refused = decided.request("POST", "/api/audit/begin", {"reason": "because"})
    assert (refused.status, refused.json["code"]) == (409, "audit_intact")
    assert decided.request("POST", "/api/audit/begin", {"reason": "  "}).status == 422
    assert verdict(decided)["entries"] == 6


def test_a_beginning_that_was_not_anchored_in_time_is_none(decided: Api) -> None:
    spoil(decided, lambda c: c.execute(delete(audit)))
    decided.post("/api/audit/begin", {"reason": "cloned anew"})
    lines = decided.app.anchors.file.read_text().splitlines(keepends=True)
    decided.app.anchors.file.write_text("".join(lines[:-1]))

    assert not verdict(decided)["ok"]
    decided.post("/api/audit/begin", {"reason": "once more"})
    assert verdict(decided)["begun"]["reason"] == "once more"


def test_the_doctor_looks_at_the_end_of_the_log(decided: Api) -> None:
    assert audit_check(decided) == ("ok", "6 entries, and the end is as it was written")
    spoil(decided, lambda c: c.execute(delete(audit).where(audit.c.number == 6)))
    status, detail = audit_check(decided)
    assert (status, detail) == ("fail", "entry 6 is bad (truncated): the chain ends with entry 5; entry 6 was there")
    spoil(decided, lambda c: c.execute(delete(audit)))
    assert audit_check(decided)[1].endswith("the chain ends with entry 0; entry 6 was there")
    decided.app.anchors.file.unlink()
    request_one(decided, "rm 3")
    decided.app.anchors.file.unlink()
    assert audit_check(decided) == ("warn", "1 entries, and nothing remembered of them")


def audit_check(api: Api) -> tuple[str, str]:
    (found,) = [check for check in api.get("/api/doctor")["checks"] if check["id"] == "audit"]
    return found["status"], found["detail"]


def request_one(api: Api, command: str) -> None:
    api.post("/api/approvals", {"command": command, "cwd": "/srv", "tool": "Bash", "requester": "r", "session_id": "s"})


# ---- the command ----------------------------------------------------------------------------------------------------


def test_the_command_verifies_and_exports(operator: Operator, workspace: Path) -> None:
    request(operator)
    assert operator.ok("audit", "verify") == "1 entries, checked against 1 anchors: all as they were written\n"
    (line,) = operator.ok("audit", "export").splitlines()
    entry = json.loads(line)
    assert (entry["number"], entry["kind"], entry["previous"]) == (1, "approval.requested", BEGINNING.hash)


def request(operator: Operator, command: str = "rm -rf build") -> dict[str, Any]:
    """Through the same door as the command."""
    body = {"command": command, "cwd": "/srv", "tool": "Bash", "requester": "r", "session_id": "s", "risk": "T3"}
    with open_door(str(operator.workspace)) as door:
        made: dict[str, Any] = door.post("/api/approvals", body)
    return made


def test_the_command_names_the_bad_entry_and_fails(alone: Operator, workspace: Path) -> None:
    made = request(alone)
    alone.ok("approval", "approve", made["id"])
    with closing(sqlite3.connect(workspace / ".gemba/gemba.db")) as database, database:
        database.execute("update audit set actor = 'somebody' where number = 2")

    done = alone.run("audit", "verify")
    assert done.returncode == 1
    first, hint = done.stdout.splitlines()
    assert first == "entry 2 is bad (edited): entry 2 is not what its hash was made of"
    assert hint.startswith("→ keep a copy of the database")
    assert json.loads(alone.run("audit", "verify", "--json").stdout)["number"] == 2


def test_after_the_workspace_folder_was_deleted_the_command_says_so_and_begins_anew(
    alone: Operator, workspace: Path
) -> None:
    request(alone)
    for file in (workspace / ".gemba").glob("gemba.db*"):
        file.unlink()

    done = alone.run("audit", "verify")
    assert done.returncode == 1
    assert "nothing is here of the log" in done.stdout
    assert "begins with entry 1" in alone.run("audit", "begin", "--reason", "deleted by mistake").stdout
    first, second = alone.ok("audit", "verify").splitlines()
    assert first == "1 entries, checked against 1 anchors: all as they were written"
    assert second.startswith("This log began anew with entry 1, by operator at ")
    assert second.endswith(": deleted by mistake.")
    assert "there is no reason to begin another" in alone.refused("audit", "begin", "--reason", "again")


def test_approvals_at_the_command_line(operator: Operator) -> None:
    first = request(operator)
    listed = operator.ok("approval")
    assert "rm -rf build" in listed
    assert "1 waiting" in listed
    assert "seal:" in operator.ok("approval", "show", first["id"][-8:])
    edited = json.loads(operator.ok("approval", "edit", first["id"][-8:], "rm -rf build/cache", "--json"))
    assert (edited["state"], edited["command"]) == ("approved", "rm -rf build/cache")
    assert operator.ok("approval", "list") == "Nothing waits for approval.\n"
    assert first["id"][-6:] in operator.ok("approval", "list", "--all")

    second = request(operator)
    assert operator.ok("approval", "show", second["id"]).count("edited:") == 1  # the answer that nobody had got yet
    third = request(operator)
    assert "refused" in operator.ok("approval", "refuse", third["id"], "not on a Friday")
    assert "not on a Friday" in operator.ok("approval", "show", third["id"])
    assert "illegal" not in operator.refused("approval", "approve", third["id"])


FORGED = "ls build &&\\\nin: /tmp/scratch\nrisk: ls only reads\nrequester: operator\n\nrm -rf $HOME "


@pytest.mark.parametrize("shown", [("approval", "list"), ("approval", "show"), ("inbox",), ("inbox", "ID")])
def test_a_command_can_forge_no_line_of_its_card_at_the_command_line(alone: Operator, shown: tuple[str, ...]) -> None:
    made = request(alone, FORGED)
    words = [made["escalation_id"] if word == "ID" else word for word in shown]
    lines = alone.ok(*words, *([made["id"]] if shown[-1] == "show" else [])).splitlines()

    start = lines.index("    command:")
    assert lines[start + 1 : start + 7] == [
        "    │ ls build &&\\↵",
        "    │ in: /tmp/scratch↵",
        "    │ risk: ls only reads↵",
        "    │ requester: operator↵",
        "    │ ↵",
        "    │ rm -rf $HOME·",
    ]
    for real in ("in: /srv", "risk: T3", "requester: r"):
        name = real.split()[0]
        assert [line for line in lines if line.lstrip().startswith(name)] == [f"    {real}"]
        assert lines.index(f"    {real}") < start
    assert not any("rm -rf" in line for line in lines[:start] + lines[start + 7 :])


def test_a_long_command_is_cut_in_the_inbox_alone_and_the_cut_is_told(alone: Operator) -> None:
    made = request(alone, "\n".join(f"echo {number}" for number in range(40)) + "\nrm\u202e x")
    listed = alone.ok("inbox")
    assert "│ echo 11↵\n    … 29 more lines of it, not shown here: gemba approval show " + made["id"][-12:] in listed
    assert "echo 12" not in listed
    for words in (("inbox", made["escalation_id"]), ("approval", "list")):
        assert "    │ rm⟨U+202E⟩ x\n" in alone.ok(*words)


def test_a_plan_is_shown_at_the_command_line_before_it_is_approved(operator: Operator) -> None:
    steps = [{"command": command, "cwd": "/srv", "tool": "Bash", "risk": "T3"} for command in ("rm one", "rm two")]
    with open_door(str(operator.workspace)) as door:
        made = door.post("/api/approvals/sets", {"steps": steps, "session_id": "s", "requester": "r"})["approvals"]
    id = made[1]["id"]

    told = operator.run("approval", "approve", id, stdin="n\n")
    assert told.returncode == 1
    assert told.stderr.index("rm one") < told.stderr.index("rm two") < told.stderr.index("Approve these 2 commands")
    assert operator.run("approval", "approve", id).returncode == 1
    assert "not what was shown" in operator.refused("approval", "approve", id, "--seal", made[1]["hash"])
    assert "2 waiting" in operator.ok("approval")
    done = operator.run("approval", "approve", id, "--json", stdin="y\n")
    assert json.loads(done.stdout)["state"] == "approved"
    assert operator.ok("approval", "list") == "Nothing waits for approval.\n"


def test_an_approval_is_decided_by_the_id_of_its_card_too_and_an_answer_in_words_says_how(operator: Operator) -> None:
    made = request(operator)
    short, card = made["id"][-6:], made["escalation_id"][-6:]
    how = (
        f"it asks for approval, decided with `gemba approval approve {short}`, `gemba approval edit {short} COMMAND` "
        f"or `gemba approval refuse {short} REASON`"
    )
    assert operator.ok("inbox").endswith("Answer with: gemba approval approve|edit|refuse ID\n")
    assert operator.refused("answer", card, "go on") == f"gemba: decision is missing; allowed: yes, no, modify; {how}"
    assert operator.refused("answer", card, code=2).startswith(f"gemba answer: {how}. Try ")

    assert made["id"] in operator.ok("approval", "show", card)
    edited = json.loads(operator.ok("approval", "edit", made["escalation_id"], "rm -rf build/cache", "--json"))
    assert (edited["state"], edited["command"]) == ("approved", "rm -rf build/cache")
    assert edited["id"] in operator.ok("approval", "show", card)
    assert "already" in operator.refused("answer", card, "go on")

    asked = operator.ask()
    missing = f"gemba: no approval has an id that begins or ends with {asked[-6:]}"
    assert operator.refused("approval", "approve", asked[-6:]) == missing


def test_a_card_that_stands_for_a_plan_decides_all_of_it_and_edits_none(operator: Operator) -> None:
    steps = [{"command": command, "cwd": "/srv", "tool": "Bash", "risk": "T3"} for command in ("rm one", "rm two")]
    with open_door(str(operator.workspace)) as door:
        made = door.post("/api/approvals/sets", {"steps": steps, "session_id": "s", "requester": "r"})["approvals"]
    first, second = (step["id"][-6:] for step in made)
    card = made[0]["escalation_id"][-6:]

    told = f"gemba: {card} asks about a plan of 2; allowed: the id of one of its steps, {first}, {second}"
    assert operator.refused("approval", "edit", card, "rm three") == told
    assert operator.refused("approval", "show", card) == told
    said = operator.refused("answer", card, "--decision", "yes")
    assert f"`gemba approval approve {first}`, `gemba approval edit {first}|{second} COMMAND`" in said
    assert "Approve these 2 commands" in operator.run("approval", "approve", card, stdin="n\n").stderr
    assert "refused" in operator.ok("approval", "refuse", card, "not on a Friday")
    assert operator.ok("approval", "list") == "Nothing waits for approval.\n"


def test_a_hash_is_of_the_stored_text(decided: Api) -> None:
    with decided.app.database.read() as connection:
        assert all(entry.hash == hash_entry(entry) for entry in entries(connection))


def test_two_processes_keep_anchors_in_one_file(tmp_path: Path) -> None:
    one, other = Anchors(tmp_path / "a/x"), Anchors(tmp_path / "a/x")
    one.keep(Anchor(2, "b" * 64))
    other.keep(Anchor(1, "a" * 64))
    assert sorted(one.read().anchors) == [Anchor(1, "a" * 64), Anchor(2, "b" * 64)]


def test_a_command_is_classed_at_the_command_line_by_the_rules_of_the_workspace(
    alone: Operator, workspace: Path
) -> None:
    assert alone.ok("approval", "risk", "ls -l") == "T0: ls only reads; it is not asked about\n"
    assert "unknown" in alone.ok("approval", "risk", "make deploy")
    template = resources.files("gemba") / "template/approvals.toml"
    lines = template.read_text().splitlines()
    rules = [line.removeprefix("# ") for line in lines[lines.index("# [[rule]]") :]]
    (workspace / ".gemba/approvals.toml").write_text("\n".join(rules))

    assert alone.ok("approval", "risk", "./scripts/lint src && make deploy").splitlines() == [
        "T3: a rule of the workspace: make deploy is T3; it waits for approval",
        "  T1      ./scripts/lint src",
        "  T3      make deploy",
    ]
    found = json.loads(alone.ok("approval", "risk", "./scripts/lint", "--json"))
    assert (found["level"], found["waits"], len(found["parts"])) == ("T1", False, 1)
    (workspace / ".gemba/approvals.toml").write_text('[[rule]]\nprogram = "make"\nclass = "T9"\n')
    assert "approvals.toml:3: rule 1: class is 'T9'" in alone.refused("approval", "risk", "make")
    (check,) = [one for one in json.loads(alone.run("doctor", "--json").stdout)["checks"] if one["id"] == "risk_rules"]
    assert check["status"] == "fail"
    assert "approvals.toml:3" in check["detail"]
