"""The site leads somewhere: every page is in its navigation, every link, anchor and picture is there, and every command
line that a reader is told to type is one that there is."""

import re
import shlex
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest

from gemba.cli import ask, bridge, mcp, state
from gemba.cli.main import cli
from tests.reference import DOCS, SITE
from tests.reference_tables import SOURCES
from tests.unit.test_reliability_page import function

ROOT = DOCS.parent
PAGES = sorted(DOCS.glob("**/*.md"))
CONFIGURATION = tomllib.loads(SITE.read_text())["project"]
_FENCE = re.compile(r"^(?P<fence>`{3,})(?P<language>\w*)\n(?P<code>.*?)^(?P=fence)$", re.DOTALL | re.MULTILINE)
# What there is beside `gemba` itself, with every flag of each.
_AGENTS = {of.COMMAND.name: of.COMMAND.help() for of in (ask, state, bridge, mcp)}


def name(path: Path) -> str:
    return path.relative_to(DOCS).as_posix()


def in_navigation(entry: Any) -> Iterator[str]:
    match entry:
        case str():
            yield entry
        case dict():
            for part in entry.values():
                yield from in_navigation(part)
        case list():
            for part in entry:
                yield from in_navigation(part)


def test_every_page_is_in_the_navigation_once() -> None:
    assert Counter(in_navigation(CONFIGURATION["nav"])) == Counter(map(name, PAGES)), "run: python -m tests.reference"


# ---- links ------------------------------------------------------------------------------------------------------


@cache
def prose(path: Path) -> str:
    """A page without its blocks of code."""
    return _FENCE.sub("", path.read_text())


@cache
def anchors(path: Path) -> set[str]:
    """What the headings of a page are called in its address; a second one of the same words gets a number."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} (.+)$", prose(path), re.MULTILINE):
        words = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", words).strip().lower())
        number = 1
        while (again := slug if number == 1 else f"{slug}_{number - 1}") in found:
            number += 1
        found.add(again)
    return found


def targets(path: Path) -> Iterator[str]:
    """Everything that a page refers to by a relative address: links, pictures, and pictures in HTML."""
    text = re.sub(r"`[^`\n]*`", "", prose(path))
    for address in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset|href)="([^"]+)"', text):
        if not re.match(r"[a-z]+:", address):
            yield address


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_every_link_picture_and_anchor_of_a_page_is_there(path: Path) -> None:
    broken = []
    for address in targets(path):
        file, _, anchor = address.partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.is_file() or not target.is_relative_to(DOCS) or (anchor and anchor not in anchors(target)):
            broken.append(address)

    assert broken == []


def test_every_picture_is_shown_somewhere() -> None:
    shown = {(path.parent / address).resolve() for path in PAGES for address in targets(path)}
    shown |= {DOCS / CONFIGURATION["theme"]["logo"]}
    shown |= {
        (ROOT / address).resolve()
        for address in re.findall(r'(?:src|srcset)="([^"]+)"', (ROOT / "README.md").read_text())
    }

    assert sorted(file.name for file in (DOCS / "images").iterdir() if file not in shown) == []


@pytest.mark.parametrize("concept", ["escalations", "handoff", "approvals", "sessions", "work", "consults", "personas"])
def test_a_concept_has_its_picture(concept: str) -> None:
    assert any("images/" in address for address in targets(DOCS / f"{concept}.md"))


@pytest.mark.parametrize("concept", ["teams", "gates", "context", "memory", "walks", "security", "index"])
def test_so_has_every_other(concept: str) -> None:
    assert any("images/" in address for address in targets(DOCS / f"{concept}.md"))


# ---- commands ---------------------------------------------------------------------------------------------------


def typed(path: Path) -> Iterator[str]:
    """Every command line of a page: in a block of shell all of them, in a console what stands behind a prompt."""
    for block in _FENCE.finditer(path.read_text()):
        lines = block["code"].replace("\\\n", " ").splitlines()
        if block["language"] in ("sh", "bash"):
            yield from lines
        elif block["language"] == "console":
            yield from (line[2:] for line in lines if line.startswith("$ "))


def commands(line: str) -> Iterator[list[str]]:
    """The simple commands of a line that are ours, without the variables before them."""
    words = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    words.whitespace_split = True
    words.commenters = "#"
    simple: list[str] = []
    for word in [*words, ";"]:
        if set(word) <= set("|&;<>"):
            while simple and re.match(r"[A-Z_]+=", simple[0]):
                simple.pop(0)
            if simple and re.match(r"(gemba|make)\b", simple[0]):
                yield simple
            # What stands behind a redirection is a file.
            simple = ["(file)"] if set(word) <= set("<>") else []
        else:
            simple.append(word)


def fault_of(words: list[str]) -> str | None:
    """What is wrong with a command line, as far as its words tell: the command, its options, how many arguments."""
    program, *rest = words
    if program == "make":
        known = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        return next((f"no target {word}" for word in rest if "=" not in word and word not in known), None)
    if program == "gemba-program":
        return None
    if program in _AGENTS:
        return next(
            (f"no flag {word}" for word in rest if word.startswith("--") and word not in _AGENTS[program]), None
        )
    return f"no program {program}" if program != "gemba" else fault_of_click(cli, "gemba", rest)


def fault_of_click(
    command: click.Command, called: str, rest: list[str], above: click.Context | None = None
) -> str | None:
    context = click.Context(command, parent=above, info_name=called)
    context.help_option_names = ["-h", "--help"]
    try:
        given, left, _ = command.make_parser(context).parse_args(list(rest))
    except click.UsageError as error:
        return f"{called}: {error.format_message()}"
    if isinstance(command, click.Group):
        if not left:
            return None
        found = command.get_command(context, left[0])
        return (
            f"{called} has no {left[0]}"
            if found is None
            else fault_of_click(found, f"{called} {left[0]}", left[1:], context)
        )
    missing = [each.name for each in command.params if each.required and not is_given(given.get(str(each.name)))]
    return f"{called}: too much: {left}" if left else f"{called}: missing: {missing}" if missing else None


def is_given(value: Any) -> bool:
    """click has a mark of its own for what was left out."""
    return isinstance(value, str | tuple | list) and bool(value)


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_every_command_line_is_one_that_there_is(path: Path) -> None:
    faults = [(line, fault) for line in typed(path) for words in commands(line) if (fault := fault_of(words))]

    assert faults == []


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("gemba inbox --wach", "--wach"),
        ("gemba inbux", "gemba has no inbux"),
        ("cd x && gemba team strat", "gemba team has no strat"),
        ("gemba answer", "missing"),
        ("gemba doctor now", "too much"),
        ("GEMBA_SESSION_ID=x gemba-ask --kind question --roll coach", "no flag --roll"),
        ("make tests", "no target tests"),
        ("gemba-asks", "no program gemba-asks"),
    ],
)
def test_a_command_line_that_is_none_is_found(line: str, fault: str) -> None:
    (words,) = commands(line)

    assert fault in (fault_of(words) or "")


def test_pages_that_tell_what_to_type_have_something_to_type() -> None:
    for path in (DOCS / "tutorial.md", *DOCS.glob("how-to/*.md")):
        assert any(words for line in typed(path) for words in commands(line)), path


# ---- what the pages rest on -------------------------------------------------------------------------------------

SECURITY = (DOCS / "security.md").read_text()


@pytest.mark.parametrize(("file", "test"), sorted(set(re.findall(r"`(tests/[a-z_/]+\.py)::(test_\w+)`", SECURITY))))
def test_every_test_that_the_threat_model_names_exists(file: str, test: str) -> None:
    assert function(file, test) is not None


def test_every_threat_is_met_by_something_that_holds() -> None:
    rows = re.findall(r"^\| (?!attempt|where|asset|---)(.+?) \| (.+?) \| (.+?) \|$", SECURITY, re.MULTILINE)

    assert len(rows) >= 30
    assert [row for row in rows if "::test_" not in row[2]] == []


def test_every_variable_of_ours_is_told_of() -> None:
    used = set(re.findall(r"\bGEMBA_[A-Z_]+\b", "".join(path.read_text() for path in SOURCES.rglob("*.py"))))
    told = set(re.findall(r"`(GEMBA_[A-Z_]+)`", (DOCS / "settings.md").read_text()))

    assert used - told == {"GEMBA_TEST_SEED", "GEMBA_TEST_EFFORT"}
