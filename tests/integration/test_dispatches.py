"""Dispatches on both databases: work given to an agent once, in a folder of the workspace, with files for its hooks."""

import json
import os
import stat
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from gemba.app import App
from gemba.config import GateSettings
from gemba.errors import Conflict
from gemba.handoff import contracts, dispatches, memories
from gemba.handoff.dispatching import NewDispatch, create_dispatch, prepare
from gemba.handoff.entries import Update
from gemba.handoff.envelope import InputEnvelope, render
from gemba.handoff.status import PlanStatus, Progress
from gemba.testing import retry_until
from gemba.text import storable
from tests.fixtures.api import Api
from tests.fixtures.handed import envelope, wish
from tests.fixtures.hooks import SESSION, answer, hook
from tests.fixtures.operator import Operator
from tests.fixtures.servers import BIN, RunningServer

GOAL = "Cut the start-up time in half"
HOSTILE = "\x1b]0;gone\x07 \u202egnp.exe \0 ``` <img src=x> '; drop table dispatches; --"
CONTEXT = """
[section.api]
paths = ["src/api/**"]
writers = ["coder"]

[section.docs]
paths = ["docs/**"]
"""
S = PlanStatus


def give(api: Api, **wanted: Any) -> dict[str, Any]:
    made: dict[str, Any] = api.post("/api/dispatches", {"goal": GOAL, **wanted})
    return made


def refused(api: Api, **wanted: Any) -> Any:
    """The problem; nothing was given to anybody."""
    found = api.request("POST", "/api/dispatches", {"goal": GOAL, **wanted})
    assert found.status == 422, found
    assert api.get("/api/dispatches")["total"] == 0
    return found.json


def one(api: Api, id: str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/api/dispatches/{id}")
    return found


def move(app: App, id: str, progress: Progress, **changes: Any) -> None:
    with app.database.transaction() as tx:
        dispatches.save(tx, dispatches.get_locked(tx, id), progress, **changes)


def start_turn(app: App, id: str, *, by_person: bool) -> None:
    with app.database.transaction() as tx:
        dispatches.start_turn(tx, dispatches.get_locked(tx, id), by_person=by_person)


def row_of(app: App, id: str) -> Any:
    with app.database.read() as connection:
        return dispatches.get(connection, id)


def files_of(home: Path, id: str) -> tuple[Path, Path]:
    return home / f"envelopes/{id}.json", home / f"envelopes/{id}.md"


def told_of(app: App, name: str) -> list[dict[str, Any]]:
    with app.database.read() as connection:
        query = "select payload from events where name = '" + name + "' order by id"
        return [json.loads(payload) for payload in connection.exec_driver_sql(query).scalars()]


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


# ---- giving work -----------------------------------------------------------------------------------------------------


def test_work_is_given_with_ids_of_its_own_and_is_found_again(api: Api, app: App) -> None:
    made = give(api, acceptance_criteria=["it starts in 0.1 s"], targets=["src/**"], role="coder", task_id="T-7")

    assert one(api, made["id"]) == made
    assert (made["status"], made["turn"], made["repairs"], made["completed_at"]) == (None, 1, [], None)
    assert (made["role"], made["task_id"], made["provider"], made["session_id"]) == ("coder", "T-7", "claude", None)
    assert made["folder"] == str(app.workspace.root)
    asked = made["envelope"]["agent_contract_handoff"]
    assert (asked["goal"], asked["acceptance_criteria"], asked["scope"]) == (GOAL, ["it starts in 0.1 s"], ["src/**"])
    ids = made["envelope"]["metadata"]
    assert (ids["dispatch_id"], ids["agent_id"], ids["task_id"]) == (made["id"], made["agent_id"], "T-7")
    assert told_of(app, "dispatch.created") == [
        {"agent_id": made["agent_id"], "role": "coder", "task_id": "T-7", "turn": 1}
    ]


def test_its_files_are_the_envelope_and_what_the_agent_is_told_of_it_for_this_user_alone(api: Api, home: Path) -> None:
    made = give(api, goal=HOSTILE, scope=[HOSTILE])

    given, told = files_of(home, made["id"])
    envelope = msgspec.convert(json.loads(given.read_text()), InputEnvelope)
    assert envelope == msgspec.convert(made["envelope"], InputEnvelope)
    assert envelope.agent_contract_handoff.goal == HOSTILE
    assert told.read_bytes() == render(envelope).encode()
    assert [stat.S_IMODE(file.stat().st_mode) for file in (given, told, given.parent)] == [0o600, 0o600, 0o700]
    assert sorted(file.name for file in given.parent.iterdir()) == [given.name, told.name]


def test_what_is_known_and_remembered_is_given_and_what_the_role_may_write(api: Api, app: App) -> None:
    (app.workspace.folder / "context.toml").write_text(CONTEXT)
    with app.database.transaction() as tx:
        sections = tx.surroundings["sections"]()
        updates = [Update("api", {"port": 8000}), Update("docs", {"tool": "mdbook"})]
        contracts.apply(tx, updates, sections, source="operator", by="operator")
        found = {"memory_suggestions": ["port 8000 is the proxy's"]}
        (memory,) = memories.suggest(tx, found, source="h-1", surfaces=["api"])
    api.post(f"/api/memories/{memory}/accept", {})

    made = give(api, role="coder", targets=["src/api/main.py", "docs/index.md"], upstream_roles=["a", "b"], reviews="a")

    known = made["envelope"]["project_knowledge"]
    assert known["sections"] == {"api": {"port": 8000}, "docs": {"tool": "mdbook"}}
    assert [each["body"] for each in known["memory"]] == ["port 8000 is the proxy's"]
    assert made["envelope"]["write_permissions"] == {"writable_sections": ["api"]}
    routing = made["envelope"]["surface_routing"]
    assert (routing["surfaces"], routing["multi_surface"], routing["role"]) == (["api", "docs"], True, "primary")
    asked = made["envelope"]["agent_contract_handoff"]
    assert (asked["consolidation_required"], asked["cross_check_required"]) == (True, True)


def test_the_folder_is_kept_as_it_was_before_the_agent_touched_it(api: Api, app: App) -> None:
    root = app.workspace.root
    (root / "draft.txt").write_text("one\n")
    made = give(api)
    (root / "draft.txt").write_text("two\n")

    snapshot = dispatches.snapshot_of(row_of(app, made["id"]))

    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True).stdout.strip()
    assert (snapshot.repository, snapshot.commit, snapshot.branch) == (True, head, "main")
    draft = snapshot.files["draft.txt"]
    assert draft is not None
    assert draft.size == len("one\n")


def test_the_same_request_twice_is_one_dispatch(api: Api) -> None:
    headers = {"X-GEMBA-Confirm": "dispatch-1"}
    first, again = (api.request("POST", "/api/dispatches", {"goal": GOAL}, **headers) for _ in range(2))

    assert first.json == again.json
    assert again.headers["x-gemba-replayed"] == "true"
    assert api.get("/api/dispatches")["total"] == 1


def test_what_is_rolled_back_leaves_no_files(app: App, home: Path) -> None:
    prepared = prepare(app.database.surroundings, NewDispatch(goal=GOAL))

    def give_and_fail() -> None:
        with app.database.transaction() as tx:
            create_dispatch(tx, prepared)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        give_and_fail()
    assert not (home / "envelopes").exists()


# ---- where -----------------------------------------------------------------------------------------------------------


def test_a_folder_of_the_workspace_or_of_a_worktree_of_its_repository_is_taken(api: Api, tmp_path: Path) -> None:
    root = api.app.workspace.root
    (root / "src").mkdir()
    git(root, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    (tmp_path / "tree/deep").mkdir()
    (tmp_path / "link").symlink_to(root / "src")

    taken = {
        "src": root / "src",
        str(root / "src/.."): root,
        str(tmp_path / "link"): root / "src",
        str(tmp_path / "tree"): tmp_path / "tree",
        str(tmp_path / "tree/deep"): tmp_path / "tree/deep",
    }
    assert [give(api, folder=given)["folder"] for given in taken] == [str(folder) for folder in taken.values()]


def test_another_folder_is_refused_and_nothing_changes(api: Api, tmp_path: Path) -> None:
    root = api.app.workspace.root
    (tmp_path / "other").mkdir()
    git(tmp_path / "other", "init", "--quiet")
    (root / "way-out").symlink_to(tmp_path / "other")
    (root / "loop").symlink_to(root / "loop")
    (root / "file").write_text("")

    for folder in (
        "/",
        "..",
        str(tmp_path),
        str(tmp_path / "other"),
        "way-out",
        "loop",
        "file",
        "missing",
        "x" * 5_000,
        "nul\0",
    ):
        problem = refused(api, folder=folder)
        assert (problem["code"], problem["pointer"]) == ("invalid_value", "/folder"), folder
        assert str(root) in problem["detail"]
    assert not (api.home / "envelopes").exists()


# ---- what is taken, and what is not ----------------------------------------------------------------------------------


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no words": ({"goal": " \n"}, "/goal"),
    "unknown field": ({"gaol": "x"}, "/gaol"),
    "one text for a list": ({"targets": "src/**"}, "/targets"),
    "too many lines": ({"scope": ["x"] * 201}, "/scope"),
    "an empty role": ({"role": ""}, "/role"),
    "a provider that is a command line": ({"provider": "claude; rm -rf /"}, "/provider"),
    "a provider with a newline": ({"provider": "claude\n"}, "/provider"),
    "a long session": ({"session_id": "x" * 513}, "/session_id"),
    "unknown check": ({"gate": {"vibes": "require"}}, "/gate"),
    "unknown need": ({"gate": {"uncommitted": "maybe"}}, "/gate/uncommitted"),
    "a need that is no text": ({"gate": {"uncommitted": True}}, "/gate"),
}


@pytest.mark.parametrize(("wanted", "pointer"), BAD.values(), ids=BAD)
def test_bad_input_is_refused_with_its_place_and_nothing_changes(
    api: Api, wanted: dict[str, Any], pointer: str
) -> None:
    assert refused(api, **wanted)["pointer"].startswith(pointer)


def test_more_than_a_hook_reads_is_refused(api: Api) -> None:
    problem = refused(api, goal="é" * 60_000)

    assert (problem["code"], problem["allowed"]) == ("briefing_too_large", 100_000)
    assert not (api.home / "envelopes").exists()


def test_a_context_file_that_cannot_be_read_is_told_with_its_line(api: Api) -> None:
    (api.app.workspace.folder / "context.toml").write_text("strict = maybe\n")

    assert "context.toml:1" in refused(api)["detail"]


def test_the_gate_is_the_workspaces_but_for_what_a_dispatch_says(api: Api) -> None:
    usual = GateSettings(files_produced="require", unpushed="off")
    api.app.database.surroundings["gate"] = usual

    made = give(api, gate={"commands_run": "require", "files_produced": "report"})

    wanted = msgspec.structs.replace(usual, commands_run="require", files_produced="report")
    assert made["policy"] == msgspec.to_builtins(wanted)
    assert dispatches.policy_of(row_of(api.app, made["id"])) == wanted


# ---- moving ----------------------------------------------------------------------------------------------------------


def test_a_move_is_kept_and_told(api: Api, app: App) -> None:
    id = give(api)["id"]
    with app.database.transaction() as tx:
        moved = {"repairs": [["AGENT_ID"], ["AGENT_ID", "NEXT_ACTION"]], "accepted_id": "h-1", "session_id": "s-1"}
        dispatches.save(tx, dispatches.get_locked(tx, id), Progress(S.COMPLETE), completed_at=tx.now, **moved)
        now = tx.now

    row, shown = row_of(app, id), one(api, id)
    assert dispatches.progress_of(row) == Progress(S.COMPLETE, 0)
    assert dispatches.repairs_of(row) == shown["repairs"] == moved["repairs"]
    assert (shown["status"], shown["accepted_id"], shown["session_id"]) == ("COMPLETE", "h-1", "s-1")
    assert row.completed_at == row.changed_at == now
    assert told_of(app, "dispatch.moved") == [{"id": id, "status": "COMPLETE", "turn": 1}]


def test_a_move_that_was_decided_on_what_no_longer_stands_changes_nothing(api: Api, app: App) -> None:
    id = give(api)["id"]
    stale = row_of(app, id)
    move(app, id, Progress(S.BLOCKED))

    with pytest.raises(Conflict, match="BLOCKED in its turn 1") as error, app.database.transaction() as tx:
        dispatches.save(tx, stale, Progress(S.COMPLETE))

    assert error.value.code == "changed_meanwhile"
    assert one(api, id)["status"] == "BLOCKED"


def test_of_many_moves_at_once_one_wins(api: Api, app: App) -> None:
    id = give(api)["id"]
    stale = row_of(app, id)
    start = threading.Barrier(8)

    def attempt(_number: int) -> bool:
        start.wait()
        try:
            with app.database.transaction() as tx:
                dispatches.save(tx, stale, Progress(S.COMPLETE))
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(attempt, range(8))) == [False] * 7 + [True]
    assert len(told_of(app, "dispatch.moved")) == 1


def test_the_runtime_starts_the_next_turn_of_a_dispatch_that_was_complete(api: Api, app: App) -> None:
    id = give(api, session_id="s-1")["id"]
    move(app, id, Progress(S.COMPLETE), repairs=[["AGENT_ID"]], completed_at=1)

    moved = api.post(f"/api/dispatches/{id}/turn", {"reason": "the gate wants it again"})

    assert (moved["status"], moved["turn"], moved["repairs"], moved["completed_at"]) == ("IN_PROGRESS", 2, [], None)
    assert told_of(app, "dispatch.moved")[-1] == {
        "id": id,
        "status": "IN_PROGRESS",
        "turn": 2,
        "reason": "the gate wants it again",
    }


def test_only_a_person_starts_the_count_of_in_progress_anew(api: Api, app: App) -> None:
    id = give(api)["id"]
    move(app, id, Progress(S.IN_PROGRESS, 2))

    start_turn(app, id, by_person=False)
    assert dispatches.progress_of(row_of(app, id)) == Progress(S.IN_PROGRESS, 2)
    start_turn(app, id, by_person=True)
    assert dispatches.progress_of(row_of(app, id)) == Progress(S.IN_PROGRESS, 0)
    assert one(api, id)["turn"] == 3


def stop(api: Api, dispatch: dict[str, Any], document: dict[str, Any], session: str = "s1") -> None:
    """The frame of a client's hook at the end of a turn."""
    ids = {"dispatch_id": dispatch["id"], "agent_id": dispatch["agent_id"], "event": "Stop"}
    api.take("GembaHandoff", {**ids, "envelope": document}, session)


def test_a_hook_that_tells_late_of_what_its_agent_handed_over_ends_no_later_turn(api: Api) -> None:
    dispatch = api.post("/api/dispatches", wish(session_id="s1"))
    document = envelope(dispatch)
    body = {"envelope": document, "dispatch_id": dispatch["id"]}
    first = api.post("/api/handoffs", body)
    api.post(f"/api/dispatches/{dispatch['id']}/turn", {"reason": "revise"})
    stop(api, dispatch, document, "s0")

    after = one(api, dispatch["id"])
    assert (after["status"], after["turn"], after["completed_at"]) == ("IN_PROGRESS", 2, None)
    assert (after["accepted_id"], after["session_id"]) == (first["id"], "s1")
    (only,) = api.get("/api/handoffs")["handoffs"]
    assert (only["id"], only["event"]) == (first["id"], "Stop")


@pytest.mark.parametrize("first_told_by", ["its agent", "a hook", "both"])
def test_an_agent_that_ends_the_next_turn_in_the_same_words_is_heard(api: Api, first_told_by: str) -> None:
    dispatch = api.post("/api/dispatches", wish(session_id="s1"))
    body = {"envelope": envelope(dispatch), "dispatch_id": dispatch["id"]}
    if first_told_by != "a hook":
        api.post("/api/handoffs", body)
    if first_told_by != "its agent":
        stop(api, dispatch, body["envelope"])
    assert api.get("/api/handoffs")["total"] == 1
    api.post(f"/api/dispatches/{dispatch['id']}/turn", {"reason": "revise"})
    if first_told_by == "its agent":
        api.post("/api/handoffs", body)
    else:
        stop(api, dispatch, body["envelope"])

    after = one(api, dispatch["id"])
    assert (after["status"], after["turn"], api.get("/api/handoffs")["total"]) == ("COMPLETE", 2, 2)


def test_its_session_is_the_one_that_spoke_last_which_an_answer_goes_to(api: Api) -> None:
    dispatch = api.post("/api/dispatches", wish())
    stop(api, dispatch, envelope(dispatch, "IN_PROGRESS", "more to do"), "first")
    stop(api, dispatch, envelope(dispatch, "NEEDS_INPUT", "A or B?"), "second")

    assert one(api, dispatch["id"])["session_id"] == "second"
    (asked,) = api.get("/api/escalations?kind=needs_input")["escalations"]
    assert asked["session_id"] == "second"


def test_a_dispatch_that_is_not_there_has_no_turns(api: Api) -> None:
    for method, path in (("GET", "/api/dispatches/none"), ("POST", "/api/dispatches/none/turn")):
        found = api.request(method, path, {} if method == "POST" else None)
        assert (found.status, found.json["code"]) == (404, "not_found")


# ---- finding ---------------------------------------------------------------------------------------------------------


def test_the_second_dispatch_of_a_session_stands_beside_the_first(api: Api, app: App, home: Path) -> None:
    first, second = (give(api, session_id="s-1", goal=goal) for goal in ("one", "two"))
    give(api, session_id="s-2")

    move(app, first["id"], Progress(S.COMPLETE))

    found = api.get("/api/dispatches?session=s-1")
    assert [(each["goal"], each["status"]) for each in found["dispatches"]] == [("two", None), ("one", "COMPLETE")]
    assert found["total"] == 2
    assert first["agent_id"] != second["agent_id"]
    assert all(file.exists() for made in (first, second) for file in files_of(home, made["id"]))


def test_pages_hold_every_dispatch_once_newest_first_without_envelopes(api: Api) -> None:
    made = [give(api, goal=str(number))["id"] for number in range(5)]

    found: list[str] = []
    cursor = ""
    while True:
        page = api.get(f"/api/dispatches?limit=2{cursor}")
        assert page["total"] == 5
        assert all(each["envelope"] is None for each in page["dispatches"])
        found += [each["id"] for each in page["dispatches"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"

    assert found == made[::-1]


# ---- files that are missing ------------------------------------------------------------------------------------------


def test_files_that_a_crash_kept_from_being_written_are_there_once_a_server_has_started(server: RunningServer) -> None:
    open_, done = (server.post("/api/dispatches", {"goal": goal})["id"] for goal in ("open", "done"))
    server.kill()
    contents = {file: file.read_bytes() for file in files_of(server.home, open_)}
    for file in (*contents, *files_of(server.home, done)[:1]):
        file.unlink()

    server.start()

    assert retry_until(lambda: all(file.exists() for file in contents), timeout=30)
    assert {file: file.read_bytes() for file in contents} == contents


def test_only_the_files_of_what_is_not_complete_and_of_this_home_are_written_again(
    api: Api, app: App, home: Path
) -> None:
    open_, done, elsewhere = (give(api, goal=goal)["id"] for goal in ("open", "done", "elsewhere"))
    move(app, done, Progress(S.COMPLETE), completed_at=1)
    with app.database.transaction() as tx:
        moved = dispatches.dispatches.update().where(dispatches.dispatches.c.id == elsewhere)
        tx.connection.execute(moved.values(origin="another-home"))
    for id in (open_, done, elsewhere):
        files_of(home, id)[1].unlink()

    app.lay_down_envelopes()

    assert [files_of(home, id)[1].exists() for id in (open_, done, elsewhere)] == [True, False, False]
    start_turn(app, done, by_person=True)
    assert files_of(home, done)[1].exists()


def test_a_dispatch_whose_files_cannot_be_written_is_there_and_they_are_written_later(
    api: Api, app: App, home: Path
) -> None:
    (home / "envelopes").write_text("in the way")

    with capture_logs() as logged:
        id = give(api)["id"]

    assert one(api, id)["turn"] == 1
    assert [(line["event"], line["dispatch"]) for line in logged if line["log_level"] == "error"] == [
        ("a dispatch's envelope could not be written", id)
    ]
    (home / "envelopes").unlink()
    app.lay_down_envelopes()
    assert all(file.exists() for file in files_of(home, id))


# ---- at the command line, and in a client's hooks --------------------------------------------------------------------


def test_the_command_line_gives_work_and_says_how_to_run_its_agent(operator: Operator, tmp_path: Path) -> None:
    git(operator.workspace, "worktree", "add", "--quiet", "-b", "tree", str(tmp_path / "a tree"))
    words = ("--target", "src/**", "--done-when", "it is fast", "--gate", "uncommitted=require", "--session", "s-1")

    shown = operator.ok("handoff", "dispatch", GOAL, *words, "--folder", "../a tree", "--role", "coder")

    (made,) = json.loads(operator.ok("handoff", "dispatches", "--json"))["dispatches"]
    assert (made["goal"], made["folder"], made["role"]) == (GOAL, str(tmp_path / "a tree"), "coder")
    assert made["policy"]["uncommitted"] == "require"
    assert made["agent_id"] in shown
    line = f"cd '{tmp_path}/a tree' && GEMBA_DISPATCH_ID={made['id']} GEMBA_SESSION_ID=s-1 "
    assert f"    {line}GEMBA_WORKSPACE={operator.workspace} claude\n" in shown
    one = operator.ok("handoff", "dispatches", made["id"][-6:])
    assert all(words in one for words in (GOAL, "done when: it is fast", "scope: src/**", "required: uncommitted"))
    assert "1 in all." in operator.ok("handoff", "dispatches", "--session", "s-1")
    assert "No work was given" in operator.ok("handoff", "dispatches", "--session", "s-2")


def test_whoever_requires_what_only_hooks_record_is_warned(alone: Operator) -> None:
    recorded = ("handoff", "dispatch", "x", "--gate", "commands_run=require", "--gate", "tool_calls=require")

    shown = alone.ok(*recorded, "--provider", "own-agent")

    assert "\nwarning: commands_run and tool_calls are required, and only a client with Gemba's hooks records " in shown
    assert "\nown-agent is not on PATH: put the command of your agent in its place.\n" in shown
    assert "warning: " not in alone.ok("handoff", "dispatch", "x", "--gate", "rerun_verification=require")
    alone.ok("install-bridge")
    assert "warning: " not in alone.ok(*recorded)


def test_the_command_line_takes_a_goal_from_standard_input_and_shows_hostile_ones_harmlessly(alone: Operator) -> None:
    made = json.loads(alone.ok("handoff", "dispatch", "-", "--json", stdin=HOSTILE))

    assert made["envelope"]["agent_contract_handoff"]["goal"] == storable(HOSTILE)
    for shown in (alone.ok("handoff", "dispatches"), alone.ok("handoff", "dispatches", made["id"])):
        assert "\x1b" not in shown
        assert "\u202e" not in shown


def test_the_command_line_refuses_what_cannot_be_with_one_line(alone: Operator) -> None:
    assert "--gate nothing is not CHECK=NEED" in alone.refused("handoff", "dispatch", "x", "--gate", "nothing", code=2)
    assert "allowed: off, report, require" in alone.refused("handoff", "dispatch", "x", "--gate", "unpushed=no")
    assert "files_produced, artifacts_written" in alone.refused("handoff", "dispatch", "x", "--gate", "vibes=off")
    assert "folder is '/'" in alone.refused("handoff", "dispatch", "x", "--folder", "/")
    assert "no dispatch has an id" in alone.refused("handoff", "dispatches", "abcdef")


def test_a_settings_file_says_what_the_gate_requires(alone: Operator) -> None:
    settings = alone.workspace / ".gemba/workspace.toml"
    settings.write_text('[handoff.gate]\nfiles_modified = "require"\n')
    assert json.loads(alone.ok("handoff", "dispatch", "x", "--json"))["policy"]["files_modified"] == "require"

    settings.write_text('[handoff.gate]\nfiles_modified = "perhaps"\n')
    line = alone.refused("handoff", "dispatch", "x")
    assert '.gemba/workspace.toml:2: [handoff.gate] files_modified is "perhaps"' in line


def test_the_hooks_of_an_agents_client_brief_it_and_hold_it_to_its_handoff(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = json.loads(operator.ok("handoff", "dispatch", GOAL, "--json"))
    monkeypatch.setenv("GEMBA_DISPATCH_ID", made["id"])
    monkeypatch.setenv("GEMBA_SESSION_ID", SESSION)

    told = answer(hook("SessionStart"))["hookSpecificOutput"]["additionalContext"]
    assert f"> {GOAL}" in told
    assert told == render(msgspec.convert(made["envelope"], InputEnvelope))
    assert answer(hook("Stop", {"last_assistant_message": "Done!"}))["decision"] == "block"
    template = (BIN / "gemba", "handoff", "template", "--input", files_of(operator.home, made["id"])[0])
    text = subprocess.run(template, capture_output=True, text=True, check=True, env={**os.environ}).stdout
    other = text.replace(made["agent_id"], "a0000000000000000")
    assert "agent_status.agent_id is" in answer(hook("Stop", {"last_assistant_message": other}))["reason"]
    assert answer(hook("Stop", {"last_assistant_message": text})) is None


def test_a_hook_that_misses_the_files_still_asks_for_a_handoff(
    alone: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = json.loads(alone.ok("handoff", "dispatch", GOAL, "--json"))
    for file in files_of(alone.home, made["id"]):
        file.unlink()
    monkeypatch.setenv("GEMBA_DISPATCH_ID", made["id"])
    monkeypatch.setenv("GEMBA_SESSION_ID", SESSION)

    assert answer(hook("SessionStart")) is None
    assert answer(hook("Stop", {"last_assistant_message": "Done!"}))["decision"] == "block"


def test_a_dispatch_of_a_team_carries_what_the_team_knows(app: App) -> None:
    known = {"upstream": [{"task": "DESIGN-001", "key_findings": ["three tables"]}]}
    wanted = prepare(app.database.surroundings, NewDispatch(goal=GOAL, task_id="IMPL-001"))
    with app.database.transaction() as tx:
        made = create_dispatch(tx, wanted, team=known)

    assert made.envelope is not None
    assert made.envelope.project_knowledge.team == known
    files = app.home / "envelopes" / f"{made.id}.json", app.home / "envelopes" / f"{made.id}.md"
    assert json.loads(files[0].read_text())["project_knowledge"]["team"] == known
    assert "> upstream: task: DESIGN-001; key_findings: three tables" in files[1].read_text()
