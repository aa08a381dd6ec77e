"""Personas, phases and purviews over HTTP and on the command line."""

import json
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from gemba.app import App
from gemba.doctor import diagnose
from gemba.handoff import audit
from gemba.personas.phases import project_phase
from tests.fixtures.advisors import text_of
from tests.fixtures.api import Api
from tests.fixtures.servers import BIN

PHASES = ["ideation", "design", "building", "validating", "shipping", "commercialization"]


def set_phase(api: Api, phase: str, **more: Any) -> Any:
    return api.request("PATCH", "/api/project/phase", {"phase": phase, **more})


def gemba(workspace: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([BIN / "gemba", *words], cwd=workspace, capture_output=True, text=True, check=False)


def test_a_new_project_is_in_its_first_phase(api: Api) -> None:
    assert api.get("/api/project/phase") == {"phase": "ideation", "changed_at": None, "changed_by": None}
    listed = api.get("/api/phases")
    assert [row["phase"] for row in listed["phases"]] == PHASES
    assert [row["phase"] for row in listed["phases"] if row["current"]] == ["ideation"] == [listed["current"]]


def test_a_change_of_phase_is_stored_told_and_audited_once(app: App, api: Api) -> None:
    assert set_phase(api, "building").json["phase"] == "building"
    assert set_phase(api, "building").status == 200

    assert api.get("/api/project/phase")["phase"] == "building"
    with app.database.read() as connection:
        told = [each for each in audit.entries(connection) if each.kind == "phase.changed"]
    assert [json.loads(each.body) for each in told] == [{"by": "operator", "from": "ideation", "to": "building"}]


def test_an_unknown_phase_and_one_that_is_not_expected_change_nothing(api: Api) -> None:
    assert set_phase(api, "resting").status == 422
    conflict = set_phase(api, "design", expected="building")

    assert (conflict.status, conflict.json["found"]) == (409, "ideation")
    assert api.get("/api/project/phase")["phase"] == "ideation"


def test_a_change_of_phase_wants_a_confirm_id(api: Api) -> None:
    assert api.request("PATCH", "/api/project/phase", {"phase": "design"}, X_GEMBA_Confirm="").status == 428


def test_a_project_is_in_one_phase_at_a_time_whoever_sets_it_at_once(app: App, api: Api) -> None:
    start = threading.Barrier(5)

    def run(phase: str) -> int:
        start.wait()
        status: int = set_phase(api, phase).status
        return status

    with ThreadPoolExecutor(5) as threads:
        assert set(threads.map(run, PHASES[1:])) == {200}
    listed = api.get("/api/phases")
    assert [row["phase"] for row in listed["phases"] if row["current"]] == [listed["current"]]
    with app.database.read() as connection:
        steps = [json.loads(each.body) for each in audit.entries(connection) if each.kind == "phase.changed"]
    assert [step["from"] for step in steps] == ["ideation", *(step["to"] for step in steps)][:-1]
    with pytest.raises(IntegrityError), app.database.transaction() as tx:
        tx.connection.execute(insert(project_phase), {"id": 2, "phase": "design"})


def test_personas_are_listed_without_their_prompts_and_shown_with_them(api: Api) -> None:
    listed = api.get("/api/personas")

    assert [row["id"] for row in listed["personas"]][:2] == ["project-manager", "architect"]
    assert listed["faults"] == []
    assert all("system_prompt" not in row for row in listed["personas"])
    pm = api.get("/api/personas/project-manager")
    assert pm["system_prompt"].startswith("You are the {{role}} of {{workspace_name}}.")
    assert pm["today"] == {"settled_dollars": 0.0, "reserved_dollars": 0.0, "left_dollars": 10.0, "day_dollars": 10.0}
    missing = api.request("GET", "/api/personas/nobody")
    assert missing.status == 404


def test_purviews_say_who_answers_for_what_now(api: Api) -> None:
    set_phase(api, "shipping")

    found = api.get("/api/purviews")

    assert (found["phase"], found["held"]) == ("shipping", [])
    assert {row["persona_id"]: (row["authority"], row["active"]) for row in found["purviews"]} == {
        "architect": ("strong", False),
        "security": ("blocking", False),
        "qa": ("blocking", True),
        "deployment-engineer": ("blocking", True),
        "documentarian": ("advisory", True),
    }


@pytest.mark.usefixtures("home")
def test_the_command_line_shows_personas_and_faults_and_sets_the_phase(workspace: Path) -> None:
    folder = workspace / ".gemba" / "personas"
    folder.mkdir(exist_ok=True)
    (folder / "data.toml").write_text(text_of())
    (folder / "broken.toml").write_text(text_of("colour = 1\n"))

    listed = gemba(workspace, "persona")
    assert listed.returncode == 0, listed.stderr
    assert "project-manager" in listed.stdout
    assert "broken.toml:6: unknown key" in listed.stdout
    found = json.loads(gemba(workspace, "persona", "list", "--json", "--limit", "2").stdout)
    assert (len(found["personas"]), len(found["faults"])) == (2, 1)
    shown = gemba(workspace, "persona", "show", "data")
    assert "purview: none" in " ".join(shown.stdout.split())
    unknown = gemba(workspace, "persona", "show", "broken")
    assert (unknown.returncode, "broken.toml:6" in unknown.stderr) == (1, True)

    assert gemba(workspace, "phase", "design").stdout == "ideation → design\n"
    assert json.loads(gemba(workspace, "phase", "--json").stdout)["phase"] == "design"
    assert "* " in gemba(workspace, "phase").stdout
    assert gemba(workspace, "phase", "born").returncode == 2


def test_the_doctor_names_a_broken_file_with_its_line(workspace: Path, home: Path) -> None:
    from gemba.config import Settings, Workspace

    folder = workspace / ".gemba" / "personas"
    folder.mkdir(exist_ok=True)
    (folder / "broken.toml").write_text(text_of("colour = 1\n"))
    app = App.open(Workspace(workspace), Settings(), home)
    try:
        (check,) = [check for check in diagnose(app).checks if check.id == "personas"]
    finally:
        app.close()

    assert check.status == "warn"
    assert check.detail.startswith("1 file has a fault: broken.toml:6: unknown key")
