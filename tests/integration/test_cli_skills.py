"""Skills at the command line, over HTTP, in the doctor's words and in the log of a server that starts."""

import json
import subprocess
from pathlib import Path

from tests.fixtures.api import Api
from tests.fixtures.operator import Operator
from tests.fixtures.servers import BIN

BROKEN = """---
skill_id: shop.ask
variety: coach
description: Ask.
---
gemba-ask --kind \\
  blocker --role coach --text x
"""
HINT = "a coach asks with --kind question; what has to stop the work is a manager's to raise"


def write(workspace: Path, name: str, text: str) -> Path:
    file = workspace / ".gemba" / "skills" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


def test_a_skill_is_begun_listed_shown_and_linted(alone: Operator) -> None:
    made = json.loads(alone.ok("skills", "new", "shop.release", "--variety", "manager", "--json"))

    assert made == {
        "skill_id": "shop.release",
        "file": str(alone.workspace / ".gemba" / "skills" / "shop.release.md"),
    }
    listed = json.loads(alone.ok("skills", "list", "--json"))
    assert [(row["skill_id"], row["source"]) for row in listed["skills"]] == [
        ("coach.walk", "bundled"),
        ("manager.escalation", "bundled"),
        ("pm.stage_epics", "bundled"),
        ("shop.release", "workspace"),
    ]
    assert not any("body" in row for row in listed["skills"])
    assert "shop.release  manager · .gemba/skills\n    Say in one sentence" in alone.ok("skills")
    shown = alone.ok("skills", "show", "shop.release")
    assert "file: .gemba/skills/shop.release.md" in shown
    assert "\n# Release\n" in shown
    assert "gemba-ask --kind blocker --role manager" in shown
    assert alone.ok("skills", "lint") == "4 skills can be used, bundled ones among them: no errors, no warnings\n"


def test_a_bundled_skill_is_copied_to_be_changed(alone: Operator) -> None:
    file = alone.workspace / ".gemba" / "skills" / "coach.walk.md"
    assert str(file) in alone.ok("skills", "new", "coach.walk")
    file.write_text(file.read_text().replace("# Walk\n", "# Our walk\n"))

    told = alone.ok("skills", "lint")

    assert told.startswith(".gemba/skills/coach.walk.md:2: note: this is used in the place of the bundled coach.walk")
    assert "# Our walk" in alone.ok("skills", "show", "coach.walk")
    assert "coach.walk  coach · .gemba/skills · in the place of a bundled one" in alone.ok("skills", "list")


def test_what_is_there_already_is_not_written_over(alone: Operator) -> None:
    file = write(alone.workspace, "mine.md", BROKEN.replace("blocker", "question"))
    other = write(alone.workspace, "shop.other.md", "mine")

    assert alone.refused("skills", "new", "shop.ask") == "gemba: .gemba/skills/mine.md has this skill_id already"
    assert alone.refused("skills", "new", "shop.other").endswith("/shop.other.md is there already")

    assert (file.read_text(), other.read_text()) == (BROKEN.replace("blocker", "question"), "mine")


def test_a_wrong_command_line_says_what_is_allowed(alone: Operator) -> None:
    for arguments, message in (
        (["new", "Release"], 'SKILL_ID is "Release"; allowed: area.name'),
        (["new", "../x.y"], 'SKILL_ID is "../x.y"; allowed: area.name'),
        (["new", "a.b", "--description", "two\nlines"], "--description is one line of up to 500 characters."),
        (["new", "coach.walk", "--variety", "manager"], "coach.walk is bundled, and copied as it is;"),
        (["new", "a.b", "--variety", "boss"], "'boss' is not one of 'coach', 'manager'"),
        (["lint", "nowhere"], "Path 'nowhere' does not exist."),
        (["lint", "--json", "--format", "github"], "--json does not go with --format github."),
    ):
        assert message in alone.refused("skills", *arguments, code=2)
    assert alone.refused("skills", "show", "coach.wolk") == (
        'gemba: no skill is called "coach.wolk"; did you mean coach.walk?'
    )
    assert list((alone.workspace / ".gemba").glob("skills/*.md")) == []


def test_findings_are_told_to_people_to_programs_and_to_github(alone: Operator) -> None:
    write(alone.workspace, "ask.md", BROKEN)

    shown = alone.run("skills", "lint")
    as_json = alone.run("skills", "lint", "--format", "json")
    at_github = alone.run("skills", "lint", ".gemba/skills", "--format", "github")

    assert (shown.returncode, as_json.returncode, at_github.returncode) == (1, 1, 1)
    assert shown.stdout == (
        ".gemba/skills/ask.md:6: error: a coach raises a blocker: --kind blocker [coach-blocker]\n"
        f"    → {HINT}\n"
        "3 skills can be used, bundled ones among them: 1 error, no warnings\n"
    )
    found = json.loads(as_json.stdout)
    assert found["ok"] is False
    assert found["findings"] == [
        {
            "file": ".gemba/skills/ask.md",
            "line": 6,
            "rule": "coach-blocker",
            "severity": "error",
            "message": "a coach raises a blocker: --kind blocker",
            "hint": HINT,
        }
    ]
    assert at_github.stdout == (
        "::error file=.gemba/skills/ask.md,line=6,title=coach-blocker::"
        f"a coach raises a blocker: --kind blocker ({HINT})\n"
    )


def test_warnings_alone_are_no_failure(alone: Operator) -> None:
    text = BROKEN.replace("coach", "manager").replace("blocker", "question") + "\nMind the guardrails.\n"
    write(alone.workspace, "ask.md", text)

    done = alone.run("skills", "lint", "--format", "github")

    assert done.returncode == 0
    assert done.stdout.startswith("::warning file=.gemba/skills/ask.md,line=9,title=guardrail-without-blocker::")


def test_a_path_is_linted_without_a_workspace_and_hostile_text_drives_no_terminal(home: Path, tmp_path: Path) -> None:
    outside = Operator(tmp_path, home)
    file = tmp_path / "a\x1b[2J\n.md"
    file.write_text('---\nskill_id: "x\\e]0;y"\nva\u202eriety: coach\n---\n')

    done = outside.run("skills", "lint", ".")

    assert done.returncode == 1
    assert "[key-not-text]" in done.stdout
    assert not {"\x1b", "\u202e"} & set(done.stdout)
    assert all(line.startswith(("a\\x1b[2J", "    →", "3 skills")) for line in done.stdout.splitlines())
    assert "there is no workspace here: name a PATH" in outside.refused("skills", "lint", code=2)
    assert "pm.stage_epics" in outside.ok("skills", "list")


def test_a_disk_without_room_leaves_no_half_of_a_skill(alone: Operator) -> None:
    folder = alone.workspace / ".gemba" / "skills"
    folder.mkdir(exist_ok=True)
    limited = f"ulimit -f 0; exec {BIN / 'gemba'} skills new shop.release"

    done = subprocess.run(
        ["bash", "-c", f"trap '' XFSZ; {limited}"],
        cwd=alone.workspace,
        env={**alone.environment, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("shop.release.md: File too large\n")
    assert list(folder.glob("*.md")) == []


# ---- the server ------------------------------------------------------------------------------------------------------


def test_skills_are_read_over_http_as_they_are_now(api: Api) -> None:
    root = api.app.workspace.root
    write(root, "broken.md", BROKEN)
    write(root, "walk.md", BROKEN.replace("blocker", "question").replace("shop.ask", "coach.walk"))

    listed = api.get("/api/agent-skills")

    assert [row["skill_id"] for row in listed["skills"]] == ["coach.walk", "manager.escalation", "pm.stage_epics"]
    assert listed["skills"][0] == {
        "skill_id": "coach.walk",
        "variety": "coach",
        "description": "Ask.",
        "source": "workspace",
        "file": ".gemba/skills/walk.md",
        "overrides": True,
        "body": None,
    }
    assert [(each["rule"], each["severity"]) for each in listed["findings"]] == [
        ("coach-blocker", "error"),
        ("skill-id-overrides", "note"),
    ]
    assert api.get("/api/agent-skills/coach.walk")["body"].startswith("gemba-ask --kind \\\n  question")
    missing = api.request("GET", "/api/agent-skills/shop.ask")
    assert (missing.status, missing.json["code"]) == (404, "not_found")


def test_the_doctor_names_the_first_fault(alone: Operator) -> None:
    def told() -> dict[str, str]:
        (check,) = [each for each in json.loads(alone.ok("doctor", "--json"))["checks"] if each["id"] == "skills"]
        return dict(check)

    assert (told()["status"], told()["detail"]) == ("ok", "3 bundled, none of your own")
    write(alone.workspace, "ask.md", BROKEN)
    write(alone.workspace, "none.md", "")

    found = told()

    assert found["status"] == "warn"
    assert found["detail"] == ".gemba/skills/ask.md:6: a coach raises a blocker: --kind blocker (and 1 more)"
    assert "gemba skills lint" in found["hint"]


def test_a_server_warns_of_faults_when_it_starts(alone: Operator) -> None:
    write(alone.workspace, "ask.md", BROKEN)
    server = alone.watch("serve", "--port", "0", "--json")
    server.line()

    _code, _rest, errors = server.interrupt()

    (line,) = [line for line in errors.splitlines() if "a skill has a fault" in line]
    assert "file='.gemba/skills/ask.md' line=6 rule='coach-blocker'" in line
