"""Role-specs on disk: a workspace's own, files and folders that are named, and what cannot be read."""

from pathlib import Path

import pytest

from gemba.teams.roles import library
from gemba.teams.roles.generate import Wanted, generate
from gemba.teams.roles.library import own_folder, read_own, read_paths


def write(folder: Path, role: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{role}.md"
    file.write_text(generate(Wanted(role, "code")))
    return file


def test_a_workspaces_own_are_read_in_order_and_named_from_its_root(tmp_path: Path) -> None:
    for role in ("tester", "developer"):
        write(own_folder(tmp_path), role)
    (own_folder(tmp_path) / "README.md").write_text("what is here")

    found = read_own(tmp_path, ["claude"])

    assert [(each.role, each.file) for each in found.specs] == [
        ("developer", ".gemba/roles/developer.md"),
        ("tester", ".gemba/roles/tester.md"),
    ]
    assert found.findings == []


def test_a_workspace_without_role_specs_has_none(tmp_path: Path) -> None:
    assert read_own(tmp_path, None) == ([], [])


def test_what_cannot_be_read_is_a_finding_and_not_an_end(tmp_path: Path) -> None:
    right = write(tmp_path / "roles", "developer")
    huge = tmp_path / "huge.md"
    huge.write_bytes(b"x" * 1_000_000)

    found = read_paths([tmp_path / "none.md", huge, tmp_path / "roles", right], None)

    assert [(Path(each.file).name, each.rule, each.message) for each in found.findings] == [
        ("none.md", "file-unreadable", "this file cannot be read: No such file or directory"),
        ("huge.md", "file-unreadable", "this file cannot be read: larger than 131072 bytes"),
    ]
    assert [each.role for each in found.specs] == ["developer", "developer"]


def test_more_files_than_are_read_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "MOST_FILES", 2)
    for role in ("a", "b"):
        write(own_folder(tmp_path), role)
    assert read_own(tmp_path, None).findings == []
    write(own_folder(tmp_path), "c")

    found = read_own(tmp_path, None)

    assert [(each.file, each.rule) for each in found.findings] == [(".gemba/roles/c.md", "too-many-files")]
    assert [each.role for each in found.specs] == ["a", "b"]
