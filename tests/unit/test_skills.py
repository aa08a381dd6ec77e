"""Skills on disk: what is taken for one, the bundled ones, and new ones."""

import os
import re
from pathlib import Path

import pytest

from gemba.cli import agent, ask, state
from gemba.handoff.shell_line import read_line
from gemba.skills import library
from gemba.skills.draft import draft
from gemba.skills.library import BUNDLED, own_folder, read_library, read_paths
from gemba.skills.lint import lint
from gemba.skills.skill import VARIETIES, Document, Library, Variety

COMMANDS = {"gemba-ask": ask.COMMAND, "gemba-state": state.COMMAND}


def text(id: str, description: str = "d") -> str:
    return f"---\nskill_id: {id}\nvariety: coach\ndescription: {description}\n---\nUse gemba-ask.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a workspace's own skills; its root is `tmp_path`."""
    made = own_folder(tmp_path)
    made.mkdir(parents=True)
    return made


def own(found: Library) -> dict[str, str]:
    return {id: skill.file for id, skill in found.skills.items() if skill.source == "workspace"}


# ---- what ships ------------------------------------------------------------------------------------------------------


def test_the_bundled_skills_are_there_and_nothing_is_wrong_with_them() -> None:
    found = read_library(None)

    assert found.findings == []
    assert {(skill.skill_id, skill.variety, skill.source) for skill in found.skills.values()} == {
        ("coach.walk", "coach", "bundled"),
        ("manager.escalation", "manager", "bundled"),
        ("pm.stage_epics", "manager", "bundled"),
    }
    assert all(skill.file == f"{skill.skill_id}.md" for skill in found.skills.values())


@pytest.mark.parametrize("path", sorted(BUNDLED.glob("*.md")), ids=lambda path: path.stem)
def test_every_command_in_a_bundled_skill_is_one_that_the_commands_take(path: Path) -> None:
    blocks = re.findall(r"^ *```bash\n(.*?)^ *```$", path.read_text(), re.MULTILINE | re.DOTALL)
    calls = [command for block in blocks for command in read_line(block).commands]

    assert calls
    assert all(read_line(block).problem is None for block in blocks)
    for call in calls:
        program, *words = [word.text for word in call.words]
        given, leftover = agent.parse(words, COMMANDS[program].flags)
        if program == "gemba-ask" and "--kind" in given:
            ask.refuse_misfits(given)
            assert not leftover
        if program == "gemba-state":
            assert len(leftover) == 1


@pytest.mark.parametrize("variety", VARIETIES)
@pytest.mark.parametrize("description", ["Bring a release out.", 'It says "a: b" # and \\n, später', "- x", "1.5"])
def test_a_new_skill_passes_as_it_is(variety: Variety, description: str) -> None:
    made = draft("shop.hand_over", variety, description)

    found = lint([Document("x.md", made.encode())])

    assert found.findings == []
    skill = found.skills["shop.hand_over"]
    assert (skill.variety, skill.description) == (variety, description)


# ---- a workspace's own -----------------------------------------------------------------------------------------------


def test_a_workspace_s_own_skills_are_found_below_its_folder_by_their_names(folder: Path, tmp_path: Path) -> None:
    (folder / "team").mkdir()
    (folder / "b.md").write_text(text("a.b"))
    (folder / "team" / "c.MD").write_text(text("a.c"))
    for name in ("README.md", "readme.MD", ".hidden.md", "notes.txt"):
        (folder / name).write_text("not a skill")

    found = read_library(tmp_path)

    assert found.findings == []
    assert own(found) == {"a.b": ".gemba/skills/b.md", "a.c": ".gemba/skills/team/c.MD"}
    assert list(found.skills) == ["a.b", "a.c", "coach.walk", "manager.escalation", "pm.stage_epics"]


def test_without_a_folder_there_are_the_bundled_ones(tmp_path: Path) -> None:
    assert read_library(tmp_path) == read_library(None)


def test_of_two_with_one_id_the_first_by_name_is_used(folder: Path, tmp_path: Path) -> None:
    (folder / "one.md").write_text(text("a.b", "first"))
    (folder / "two.md").write_text(text("a.b", "second"))

    found = read_library(tmp_path)

    assert found.skills["a.b"].description == "first"
    assert [(each.file, each.rule) for each in found.findings] == [(".gemba/skills/two.md", "skill-id-twice")]


def test_what_cannot_be_read_is_told_and_stops_nothing(folder: Path, tmp_path: Path) -> None:
    (folder / "good.md").write_text(text("a.b"))
    (folder / "gone.md").symlink_to(tmp_path / "nowhere")
    (folder / "large.md").write_bytes(b"x" * 200_000)
    os.mkfifo(folder / "pipe.md")
    (folder / "zero.md").symlink_to("/dev/zero")

    found = read_library(tmp_path)

    assert own(found) == {"a.b": ".gemba/skills/good.md"}
    told = {Path(each.file).name: each.message for each in found.findings}
    assert told == {
        "gone.md": "this file cannot be read: No such file or directory",
        "large.md": "this file cannot be read: larger than 131072 bytes",
        "pipe.md": "this file cannot be read: not a regular file",
        "zero.md": "this file cannot be read: not a regular file",
    }


def test_a_link_to_a_folder_is_not_followed_and_a_file_in_the_folder_s_place_is_told(tmp_path: Path) -> None:
    (tmp_path / ".gemba").mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "b.md").write_text(text("a.b"))
    own_folder(tmp_path).mkdir()
    (own_folder(tmp_path) / "link").symlink_to(elsewhere)
    assert own(read_library(tmp_path)) == {}

    (own_folder(tmp_path) / "link").unlink()
    own_folder(tmp_path).rmdir()
    own_folder(tmp_path).write_text("a file")
    (told,) = read_library(tmp_path).findings
    assert (told.file, told.severity) == (".gemba/skills", "error")


def test_a_name_that_is_no_unicode_can_still_be_told(folder: Path, tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.md")).write_text("no front matter")

    (told,) = read_library(tmp_path).findings

    assert told.file == ".gemba/skills/\ufffd.md"


def test_more_files_than_are_read_are_told(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "MOST_FILES", 2)
    for name in ("a", "b", "c", "d"):
        (folder / f"{name}.md").write_text(text(f"x.{name}"))

    found = read_library(tmp_path)

    assert list(own(found)) == ["x.a", "x.b"]
    (told,) = found.findings
    assert (told.file, told.rule, told.severity) == (".gemba/skills/c.md", "too-many-files", "error")


# ---- paths that somebody names ---------------------------------------------------------------------------------------


def test_files_and_folders_that_are_named_are_judged_beside_the_bundled_ones(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "b.md").write_text(text("a.b"))
    (tmp_path / "walk.txt").write_text(text("coach.walk"))
    (tmp_path / "README.md").write_text("named, so meant")

    found = read_paths([tmp_path / "skills", tmp_path / "walk.txt", tmp_path / "README.md"])

    assert [(Path(each.file).name, each.rule) for each in found.findings] == [
        ("walk.txt", "skill-id-overrides"),
        ("README.md", "front-matter-missing"),
    ]


def test_the_bundled_ones_do_not_override_themselves() -> None:
    assert read_paths([BUNDLED]).findings == []
