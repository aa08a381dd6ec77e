"""What the doctor says of flows, policies and notifications: each with what was found and what to do."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import insert, update

from gemba import clock, doctor
from gemba.app import App
from gemba.doctor import Check
from gemba.escalations.notices import notices
from gemba.escalations.policy_check import checked_settings
from gemba.flows.executors import Executors
from gemba.flows.wanted import Call, flows, want
from tests.fixtures.flowing import FlowFloor
from tests.fixtures.operator import Operator


def check(app: App, id: str) -> Check:
    (found,) = (check for check in doctor.diagnose(app).checks if check.id == id)
    assert (found.hint is None) is (found.status == "ok")
    return found


def wants(app: App, *ids: str) -> None:
    with app.database.transaction() as tx:
        want(tx, "watch", [Call(f"watch/{id}/1", {"id": id, "since": 1}) for id in ids])


def test_nobody_needs_to_run_flows_while_there_are_none(app: App) -> None:
    assert check(app, "executors").detail == "nobody, and nothing waits for it"
    assert check(app, "flows").detail == "none"
    assert doctor.diagnose(app).executors == []


def test_flows_that_nobody_runs_are_a_warning(app: App) -> None:
    wants(app, "a", "b")

    found = check(app, "executors")

    assert (found.status, found.detail) == ("warn", "nobody, and 2 wait for it")
    assert "gemba serve" in (found.hint or "")
    assert check(app, "flows").detail == "2 wait for their moment"


def test_executors_are_shown_with_host_process_and_when_they_were_heard(open_floor: Callable[..., FlowFloor]) -> None:
    floor = open_floor()
    floor.start()
    floor.commits.until(lambda: doctor.diagnose(floor.app).executors)

    found = doctor.diagnose(floor.app)

    (executor,) = found.executors
    assert executor.id.startswith(floor.app.origin)
    assert clock.parse(executor.heard_at) is not None
    shown = check(floor.app, "executors")
    assert (shown.status, found.counters["executors"]) == ("ok", 1)
    assert f"{executor.id} ({executor.where}, heard " in shown.detail


def test_an_executor_that_is_silent_is_a_warning(app: App) -> None:
    with app.database.transaction() as tx:
        Executors("gone.0", clock.SECOND).beat(tx)
        tx.connection.exec_driver_sql("update executors set beat_at = beat_at - 3600000000")

    found = check(app, "executors")

    assert found.status == "warn"
    assert found.detail.startswith("1 known, 1 silent: gone.0 (")
    assert "gemba worker" in (found.hint or "")


def test_a_flow_in_trouble_is_named(app: App) -> None:
    wants(app, "01934d5e-0000-7000-8000-0000003fa9c1", "b")
    with app.database.transaction() as tx:
        failed = update(flows).where(flows.c.id.like("%3fa9c1/1")).values(trouble="ValueError", run=3)
        tx.connection.execute(failed)

    found = check(app, "flows")

    named = "watch/01934d5e-0000-7000-8000-0000003fa9c1/1: ValueError"
    assert (found.status, found.detail) == ("warn", f"1 of 2 failed and are run again, among them {named}")
    assert "3fa9c1" in (found.hint or "")
    assert doctor.diagnose(app).counters["flows_troubled"] == 1


def test_notifications_that_failed_in_the_last_day_are_counted_and_the_last_is_told(app: App) -> None:
    assert check(app, "notifications").detail == "none failed in the last day"
    now = clock.now()
    told = [
        (now - 2 * clock.DAY, False, "phone: too old"),
        (now - 3 * clock.SECOND, False, "desk: an earlier one"),
        (now - 2 * clock.SECOND, False, "phone: the json service refused it with 500"),
        (now - clock.SECOND, True, None),
        (now, None, None),
    ]
    rows = [
        {"id": str(number), "escalation_id": "a", "number": 1, "channel": "phone", "at": at, "ok": ok, "note": note}
        for number, (at, ok, note) in enumerate(told)
    ]
    with app.database.transaction() as tx:
        tx.connection.execute(insert(notices), rows)

    found = check(app, "notifications")

    assert (found.status, found.detail) == (
        "warn",
        "2 did not arrive in the last day; the last: phone: the json service refused it with 500",
    )


# ---- the settings file -----------------------------------------------------------------------------------------------


def reopened(app: App, text: str) -> App:
    """The same workspace as a server would open it with this file."""
    app.workspace.settings_file.write_text(text)
    return App.open(app.workspace, checked_settings(app.workspace), app.home)


POLICY = '[[policy]]\nname = "p"\nexpire_after = "1h"\n'


def test_policies_are_counted(app: App) -> None:
    assert check(app, "policies").detail == "none: what nobody answers waits"
    again = reopened(app, POLICY)
    try:
        assert check(again, "policies").detail == "1 in use"
    finally:
        again.close()


@pytest.mark.parametrize(
    ("text", "status", "detail"),
    [
        (POLICY.replace("1h", "2h"), "warn", "workspace.toml was changed after the start"),
        (POLICY.replace("1h", "soon"), "fail", "workspace.toml:3"),
        ("[[policy]\n", "fail", "workspace.toml:1"),
    ],
)
def test_a_file_that_was_changed_after_the_start_is_told(app: App, text: str, status: str, detail: str) -> None:
    again = reopened(app, POLICY)
    try:
        app.workspace.settings_file.write_text(text)
        found = check(again, "policies")
    finally:
        again.close()

    assert found.status == status
    assert detail in found.detail


def test_a_check_that_cannot_be_run_is_broken_until_it_can(app: App) -> None:
    again = reopened(app, '[[policy]]\nname = "p"\nverify = { check = ["./check"] }\n')
    try:
        found = check(again, "policies")
        assert (found.status, found.detail) == ("fail", "the check of p cannot be run: no answer passes it")
        program = Path(app.workspace.root, "check")
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        assert check(again, "policies").status == "ok"
    finally:
        again.close()


def test_the_command_shows_them_all(alone: Operator) -> None:
    shown = alone.ok("doctor")

    for label in ("Running flows:", "Flows:", "Policies:", "Notifications:", "Notifications lately:"):
        assert label in shown
    assert json.loads(alone.ok("doctor", "--json"))["executors"] == []


# ---- the sections of project knowledge -------------------------------------------------------------------------------


def test_the_sections_of_project_knowledge_are_counted(app: App) -> None:
    file = app.workspace.folder / "context.toml"
    assert check(app, "context").detail == "no sections in context.toml"

    file.write_text('[section.api]\npaths = ["src/**"]\n')
    assert check(app, "context").detail == "1 section in context.toml"
    file.write_text("[section.api]\n[section.web]\n")
    assert check(app, "context").detail == "2 sections in context.toml"


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (
            '[section.api]\npath = ["src/**"]\n',
            'context.toml:2: section "api": unknown key "path"; did you mean paths?',
        ),
        ('[section.api]\npaths = ["/src"]\n', "it is not relative; allowed: a path from the workspace's folder on"),
        ("[section.api\n", "context.toml:1: "),
    ],
)
def test_a_file_of_sections_that_cannot_be_used_fails_with_its_line_and_what_is_allowed(
    app: App, text: str, detail: str
) -> None:
    (app.workspace.folder / "context.toml").write_text(text)

    found = check(app, "context")

    assert found.status == doctor.diagnose(app).status == "fail"
    assert str(app.workspace.folder / "context.toml") in found.detail
    assert detail in found.detail
    assert "no work is dispatched" in (found.hint or "")


# ---- agents.toml -----------------------------------------------------------------------------------------------------


def test_types_of_agents_that_can_be_used_are_told_from_those_that_cannot(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = app.workspace.root / "bin"
    programs.mkdir()
    for name in ("tmux", "codex", "sh"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))

    found = check(app, "agents")

    assert found.status == "ok"
    assert found.detail.startswith("usable: codex, shell, builtin; not usable: claude (claude is not on PATH), ")
    assert "command (no command is given: set one under [agent.command] in .gemba/agents.toml)" in found.detail


def test_a_type_of_the_workspaces_own_that_cannot_be_used_is_a_warning(app: App) -> None:
    file = app.workspace.folder / "agents.toml"
    file.write_text('[agent.own]\ncommand = "./own"\n')
    found = check(app, "agents")
    assert (found.status, found.hint) == ("warn", "your agents.toml names one that cannot be used here")
    assert "own (./own is not there, or cannot be run)" in found.detail

    file.write_text("[agent.own]\ncommmand = 'x'\n")
    found = check(app, "agents")
    assert found.status == "fail"
    assert found.detail == f'{file}:2: agent "own": unknown key "commmand"; did you mean command?'
