"""The repository's own files agree with each other: locks with pyproject, documents with the Makefile."""

import re
import subprocess
import tomllib
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
GROUPS: dict[str, list[str]] = PROJECT["dependency-groups"]
RUNTIME: list[str] = PROJECT["project"]["dependencies"] + PROJECT["project"]["optional-dependencies"]["postgres"]


def pinned(lock: str) -> dict[str, str]:
    lines = re.findall(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==(\S+)", (ROOT / lock).read_text(), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in lines}


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        ("requirements.lock", RUNTIME + GROUPS["dev"]),
        ("scripts/node.lock", GROUPS["node"]),
        ("scripts/postgresql.lock", GROUPS["postgresql"]),
        ("scripts/docs.lock", GROUPS["docs"]),
    ],
)
def test_a_lock_has_what_pyproject_asks_for(lock: str, wanted: list[str]) -> None:
    versions = pinned(lock)

    for requirement in map(Requirement, wanted):
        assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)], prereleases=True), (
            requirement
        )


@pytest.mark.parametrize(
    "lock", ["requirements.lock", *(f"scripts/{name}.lock" for name in ("node", "postgresql", "docs"))]
)
def test_a_lock_names_no_host_and_has_a_hash_for_everything(lock: str) -> None:
    text = (ROOT / lock).read_text()

    assert "://" not in text
    assert "index-url" not in text
    blocks = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in block for block in blocks)


@pytest.mark.parametrize("folder", ["web", "tests/clients"])
def test_a_lock_of_npm_names_no_host(folder: str) -> None:
    locks = [lock for lock in (ROOT / folder).glob("**/package-lock.json") if "node_modules" not in lock.parts]

    assert locks
    assert [lock for lock in locks if '"resolved"' in lock.read_text()] == []


def test_the_map_for_agents_stays_under_a_hundred_lines() -> None:
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) < 100


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "AGENTS.md"])
def test_every_make_target_that_a_document_names_exists(document: str) -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)", (ROOT / document).read_text()))

    assert named <= targets


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "AGENTS.md"])
def test_every_file_that_a_document_links_to_exists(document: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / document).read_text())

    assert [link for link in links if not (ROOT / link).exists()] == []


def test_make_help_lists_every_target_that_contributing_explains() -> None:
    listed = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    explained = re.findall(r"`make ([a-z]+)`", (ROOT / "CONTRIBUTING.md").read_text())

    assert set(explained) <= {line.split()[0] for line in listed.splitlines()}


def test_the_commands_of_agents_are_kept_free_of_every_dependency() -> None:
    ladder = ConfigParser()
    ladder.read(ROOT / ".importlinter")
    forbidden = ladder["importlinter:contract:bare"]["forbidden_modules"].split()
    ours = ladder["importlinter:contract:ladder"]["layers"].replace("|", " ").replace(":", " ").split()

    imported = {Requirement(line).name.replace("-", "_").partition(".")[0] for line in RUNTIME}
    assert imported <= set(forbidden)
    bare = {"gemba.cli", "gemba.replies", "gemba.speaker", "gemba.watch", "gemba.wire"}
    assert {f"gemba.{name}" for name in ours} - bare <= set(forbidden)
    hooks = ladder["importlinter:contract:hook"]["forbidden_modules"].split()
    assert {*hooks, "gemba.collector", "gemba.handoff"} == set(forbidden)
