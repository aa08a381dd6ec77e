"""Gemba's own programs in a folder that has no others."""

import os
import sys
import tomllib
from pathlib import Path

import pytest

from gemba.programs import NAMES, path_with_programs, programs_folder

ROOT = Path(__file__).parents[2]


def test_they_are_the_programs_that_the_package_installs() -> None:
    assert set(NAMES) == set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"])


def test_the_folder_that_setup_makes_for_path_has_them_alone() -> None:
    assert {program.name for program in (ROOT / "bin").iterdir()} == set(NAMES)
    assert all(os.access(program, os.X_OK) for program in (ROOT / "bin").iterdir())


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md"])
def test_a_page_for_newcomers_does_not_put_another_python_on_their_path(page: str) -> None:
    text = (ROOT / page).read_text()

    assert 'export PATH="$PWD/bin:$PATH"' in text
    assert ".venv/bin:" not in text


def test_the_folder_of_a_home_leads_to_this_installation_and_is_made_once(tmp_path: Path) -> None:
    home = str(tmp_path / "home")

    folder = programs_folder(home)

    assert programs_folder(home) == folder
    assert {program.name: program.readlink() for program in Path(folder).iterdir()} == {
        name: Path(sys.executable).parent / name for name in NAMES
    }
    assert path_with_programs("/usr/bin:/bin", home) == f"/usr/bin:/bin:{folder}"


def test_where_no_folder_can_be_made_the_programs_are_found_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")

    assert programs_folder(str(tmp_path / "home")) == str(Path(sys.executable).parent)
