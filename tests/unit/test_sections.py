"""Sections: which targets lie in them, who writes them, and every fault of their file with its line."""

import contextlib
import fnmatch
import itertools
import time
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.config import Finding, Workspace
from gemba.errors import Invalid, Unusable
from gemba.handoff.sections import (
    LONGEST_GLOB,
    MOST_BYTES,
    MOST_GLOBS,
    MOST_SECTIONS,
    Section,
    glob_fault,
    parse_sections,
    read_sections,
    surfaces_of,
    writable_by,
)
from gemba.toml import MOST_DOTS


def meets(target: str, *globs: str) -> bool:
    return surfaces_of([target], [Section("s", globs)]) == ("s",)


def findings_of(text: str | bytes) -> list[Finding]:
    raw = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(Invalid, match=r"^context\.toml:\d+: ") as refused:
        parse_sections(raw)
    found: list[Finding] = refused.value.extra["findings"]
    assert f"context.toml:{found[0].line}: {found[0].message}" in refused.value.message
    return found


def lines_of(text: str | bytes) -> list[int]:
    return [finding.line for finding in findings_of(text)]


# ---- globs and paths ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("docs/**", "docs/a.md"),
        ("docs/**", "docs/a/b/c.md"),
        ("docs/**", "docs"),
        ("**", "a"),
        ("**", "a/b/c"),
        ("**/a.py", "a.py"),
        ("**/a.py", "x/y/a.py"),
        ("src/**/a.py", "src/a.py"),
        ("src/**/a.py", "src/x/a.py"),
        ("src/**/a.py", "src/x/y/z/a.py"),
        ("src/**/t/**/a.py", "src/x/t/y/a.py"),
        ("src/**/t/**/a.py", "src/t/t/t/a.py"),
        ("**/**/a", "x/a"),
        ("**/**/a", "a"),
        ("a/**/**/**/b", "a/b"),
        ("src/*.py", "src/a.py"),
        ("src/*/x", "src/a/x"),
        ("*", "a"),
        ("*.p?", "a.py"),
        ("a*b*c", "abc"),
        ("a*b*c", "axbxbxc"),
        ("?", "é"),
        ("?", "😀"),
        (".*", ".env"),
        ("*", ".env"),
        ("app/[id]/page.tsx", "app/[id]/page.tsx"),
        ("{{cookiecutter.name}}/x", "{{cookiecutter.name}}/x"),
        ("a b/c", "a b/c"),
        ("README.md", "README.md"),
        ("docs", "docs/a/b.md"),
        ("docs/", "docs/a/b.md"),
        ("pkg*/", "pkg1/a/b.py"),
        ("./docs/*", "docs/a"),
        ("docs//*", "./docs/./a"),
        ("**/", "a/b"),
    ],
)
def test_a_glob_takes_a_path(glob: str, path: str) -> None:
    assert glob_fault(glob) is None
    assert meets(path, glob)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("docs/**", "doc"),
        ("docs/**", "docsa/b"),
        ("docs/**", "x/docs/a"),
        ("docs", "docsa"),
        ("docs/", "docsa/b"),
        ("*", "a/b"),
        ("src/*.py", "src/x/a.py"),
        ("src/*.py", "src/a.pyc"),
        ("src/**/a.py", "src/xa.py"),
        ("src/**/a.py", "srca.py"),
        ("src/**/a.py", "src/x/a.py/y"),
        ("src/**/t/**/a.py", "src/x/a.py"),
        ("**/a.py", "xa.py"),
        ("a?c", "a/c"),
        ("a?c", "ac"),
        ("a*b*c", "axc"),
        ("Docs/**", "docs/a"),
        ("app/[id]/page.tsx", "app/i/page.tsx"),
        ("a.c", "abc"),
        ("README.md", "README.md2"),
    ],
)
def test_a_glob_leaves_a_path(glob: str, path: str) -> None:
    assert glob_fault(glob) is None
    assert not meets(path, glob)


@pytest.mark.parametrize(
    "target",
    [
        *("", " ", "/", "/docs/a.md", "//docs/a", "..", "../docs/a", "docs/../docs/a", "docs/..", "docs/a/../../.."),
        *("~/docs/a", "~root/docs", "docs\\a", "docs/a\x00", "docs/a\nb", "docs/\u2028", "docs/\ud800", "a" * 5_000),
    ],
)
def test_a_target_that_leaves_the_tree_or_is_no_path_meets_nothing(target: str) -> None:
    assert surfaces_of([target], [Section("all", ("**",)), Section("docs", ("docs/**", "docs"))]) == ()


@pytest.mark.parametrize(
    ("target", "glob", "meet"),
    [
        ("src/**", "src/api/**", True),
        ("src/api/**", "src/**", True),
        ("**/*.py", "src/**", True),
        ("**/*.py", "docs/*.md", False),
        ("**/*.py", "README.md", False),
        ("src/*.py", "src/**/test_*", True),
        ("src/a*", "src/*b", True),
        ("src/a*", "src/b*", False),
        ("src/?", "src/ab", False),
        ("src/?b", "src/a?", True),
        ("src/*/x", "src/y/*", True),
        ("src/*/x", "src/y/z/*", False),
        ("a/**/z", "a/b/**/y/z", True),
        ("a/**/z", "a/b/**/y", False),
        ("**/a/**", "**/b/**", True),
        ("src/", "src/api/x.py", True),
        ("src", "src/api/**", True),
        ("src", "source/api/**", False),
        (".", "docs/**", True),
        ("./", "docs/**", True),
        ("docs/*.md", "docs", True),
    ],
)
def test_a_target_that_is_a_glob_meets_what_it_has_a_path_in_common_with(target: str, glob: str, meet: bool) -> None:
    assert meets(target, glob) is meet
    assert meets(glob, target) is meet


PARTS = st.sampled_from(["a", "b", "ab", "*", "?", "a*", "*b", "**"])
GLOBS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
# Enough for any two of these globs that have a path in common to have one of these.
PATHS = ["/".join(parts) for length in range(1, 7) for parts in itertools.product(["a", "b", "ab"], repeat=length)]


def naively_takes(glob: list[str], path: list[str]) -> bool:
    if not glob:
        return not path
    if glob[0] == "**":
        return any(naively_takes(glob[1:], path[cut:]) for cut in range(len(path) + 1))
    return bool(path) and fnmatch.fnmatchcase(path[0], glob[0]) and naively_takes(glob[1:], path[1:])


def is_folder_of(folder: str, inside: str) -> bool:
    return "*" not in folder and "?" not in folder and inside.startswith(folder + "/")


@given(GLOBS, st.sampled_from(PATHS))
def test_a_path_is_taken_exactly_as_by_trying_everything(glob: str, path: str) -> None:
    taken = naively_takes(glob.split("/"), path.split("/"))

    assert meets(path, glob) is (taken or is_folder_of(glob, path) or is_folder_of(path, glob))


@given(GLOBS, GLOBS)
def test_two_globs_meet_exactly_when_some_path_fits_both(one: str, other: str) -> None:
    parts = (path.split("/") for path in PATHS)
    both = any(naively_takes(one.split("/"), path) and naively_takes(other.split("/"), path) for path in parts)

    assert meets(one, other) is (both or is_folder_of(one, other) or is_folder_of(other, one))


@pytest.mark.parametrize(
    ("glob", "part"),
    [
        ("**/" + "?/" * 190 + "x", "a/"),
        ("*a" * 190, "a"),
        ("**/*a*/" * 50 + "b", "ab/"),
        ("**/" * 100 + "x", "y/"),
    ],
)
def test_no_glob_makes_a_path_expensive(glob: str, part: str) -> None:
    started = time.process_time()
    for _ in range(20):
        meets((part * 4_096)[:4_095], glob)

    assert time.process_time() - started < 2  # some 2 ms each; a matcher that tries again would need years


# ---- surfaces and writers -----------------------------------------------------------------------------------------

SECTIONS = (
    Section("architecture", ("docs/**", "src/**"), ("architect", "Developer")),
    Section("web", ("web/**",), ("developer", "architect")),
    Section("glossary", (), ("architect",)),
    Section("everything", ("**",)),
)


def test_surfaces_are_told_once_and_in_the_order_of_the_file() -> None:
    assert surfaces_of(["web/x.ts", "src/a.py", "src/b.py"], SECTIONS) == ("architecture", "web", "everything")


def test_a_section_without_paths_is_no_surface_and_no_targets_have_none() -> None:
    assert "glossary" not in surfaces_of(["**"], SECTIONS)
    assert surfaces_of([], SECTIONS) == ()
    assert surfaces_of(["a"], []) == ()


def test_one_bad_target_does_not_hide_the_others() -> None:
    assert surfaces_of(["../x", "web/x.ts"], SECTIONS[:2]) == ("web",)


@pytest.mark.parametrize(
    ("role", "names"),
    [
        ("architect", ("architecture", "web", "glossary")),
        ("developer", ("web",)),
        ("Developer", ("architecture",)),
        ("DEVELOPER", ()),
        ("arch", ()),
        ("*", ()),
        ("", ()),
        (None, ()),
    ],
)
def test_a_role_writes_the_sections_that_name_it_exactly(role: str | None, names: tuple[str, ...]) -> None:
    assert writable_by(role, SECTIONS) == names


# ---- the file -----------------------------------------------------------------------------------------------------


def test_a_file_becomes_its_sections() -> None:
    text = """
        [section.architecture]
        paths = ["docs/**", "src/**"]
        writers = ["architect"]

        [section."web.page"]
        paths = ["web/"]
        strict = true

        [section.glossary]
    """

    assert parse_sections(text.encode()) == (
        Section("architecture", ("docs/**", "src/**"), ("architect",)),
        Section("web.page", ("web/",), (), strict=True),
        Section("glossary"),
    )


def test_strict_of_the_file_holds_for_every_section_that_says_nothing_else() -> None:
    text = b"strict = true\n[section.a]\n[section.b]\nstrict = false\n"

    assert [section.strict for section in parse_sections(text)] == [True, False]


@pytest.mark.parametrize("raw", [b"", b"# nothing", b"[section]", b"strict = false\r\n"])
def test_a_file_may_have_no_sections(raw: bytes) -> None:
    assert parse_sections(raw) == ()


def test_the_template_of_a_workspace_is_without_fault_and_so_is_its_example() -> None:
    template = Path(__file__).parents[2] / "src" / "gemba" / "template" / "context.toml"
    example = "\n".join(line.removeprefix("# ") for line in template.read_text().splitlines()[1:])

    assert parse_sections(template.read_bytes()) == ()
    assert parse_sections(example.encode()) == (Section("architecture", ("docs/**", "src/**"), ("architect",)),)


NAMES = "allowed: letters, digits, - _ . and at most 64 of them"


def test_a_file_with_faults_gets_every_one_with_its_line() -> None:
    text = """\
stric = true
[section.api]
paths = [
  "src/**",
  "/etc/**",
  7,
  "../up",
]
writers = "architect"
[section."a b"]
path = ["x"]
[section.web]
strict = "yes"
writers = ["dev", "dev", "all roles", ""]
paths = ["a", "a"]
[sections.late]
"""

    assert [(finding.line, finding.message) for finding in findings_of(text)] == [
        (1, 'unknown key "stric"; did you mean strict?'),
        (
            5,
            'section "api": paths[2] is "/etc/**": it is not relative; allowed: a path from the workspace\'s folder on',
        ),
        (6, 'section "api": paths[3] is 7; allowed: a text'),
        (7, 'section "api": paths[4] is "../up": it leaves its folder with ..; allowed: a path inside the workspace'),
        (9, 'section "api": writers is a text; allowed: a list'),
        (10, f'section "a b": this name cannot be used; {NAMES}'),
        (11, 'section "a b": unknown key "path"; did you mean paths?'),
        (13, 'section "web": strict is a text; allowed: true or false'),
        (14, 'section "web": "dev" stands in writers twice'),
        (14, f'section "web": writers[3] is "all roles": no role or persona is called so; {NAMES}'),
        (14, f'section "web": writers[4] is empty: no role or persona is called so; {NAMES}'),
        (15, 'section "web": "a" stands in paths twice'),
        (16, 'unknown key "sections"; did you mean section?'),
    ]


@pytest.mark.parametrize(
    ("glob", "words"),
    [
        ("", "is empty: allowed: a path with"),
        (" ", "is empty: allowed: a path with"),
        ("/", "it is not relative"),
        ("~/x", "it is not relative"),
        ("a/../b", "it leaves its folder"),
        ("..", "it leaves its folder"),
        ("a\\\\b", "it has a backslash"),
        ("a\\u0000", "it has a control character"),
        ("a\\u001b[31m", "it has a control character"),
        ("a\\nb", "it has a control character"),
        ("src/{a,b}/**", "! and {a,b} are not known here"),
        ("!src/**", "! and {a,b} are not known here"),
        ("src/**.py", "** stands alone between slashes"),
        ("a**", "** stands alone between slashes"),
        ("***", "** stands alone between slashes"),
        ("a" * (LONGEST_GLOB + 1), "it is too long; allowed: 400 characters"),
    ],
)
def test_a_glob_that_cannot_be_meant_is_a_fault(glob: str, words: str) -> None:
    (found,) = findings_of(f'[section.a]\npaths = [\n"ok",\n"{glob}"]')

    assert found.line == 4
    assert words in found.message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("section = 3", 1),
        ("\nsection = []", 2),
        ("[[section]]", 1),
        ("section.a = 1", 1),
        ("section = {a = {paths = 'x'}}", 1),
        ("[section.a]\nstrict = 1", 2),
        ("[section.a]\nwriters = [['x']]", 2),
        ("[section.a]\n[section.a.b]", 2),
        ("[section.'']", 1),
        ("[section.'../x']", 1),
        ("[section.'a/b']", 1),
        (f"[section.{'a' * 65}]", 1),
        ("strict = 2020-01-01", 1),
        ("\n\n[section.a]\npaths = ['x' 'y']", 4),
        ("[section.a]\n[section.a]", 2),
        ("[section.a", 1),
        ("a = 1\nb = " + "1" * 5_000, 2),
        ("section = " + "[" * 5_000, 1),
        ("section = " + "{a=" * 5_000, 1),
        ("\n" + "a." * (MOST_DOTS + 1) + "a = 1", 2),
        ("\n[" + "a." * 100 + "a]", 1),
        ("#" * (MOST_BYTES + 1), 1),
        (b"\n\n'\xff'", 3),
        (b"\x00", 1),
        (b"\xef\xbb\xbfstrict = true", 1),
    ],
)
def test_whatever_else_stands_in_the_file_is_refused_in_its_line(text: str | bytes, line: int) -> None:
    assert lines_of(text)[0] == line


def test_too_many_are_a_fault() -> None:
    sections = "\n".join(f"[section.s{number}]" for number in range(MOST_SECTIONS + 1))
    globs = ",".join(f"'g{number}'" for number in range(MOST_GLOBS + 1))

    assert findings_of(sections)[0].message == "there are 201 sections; allowed: at most 200"
    (found,) = findings_of(f"\n[section.a]\npaths = [{globs}]")
    assert (found.line, found.message) == (3, 'section "a": paths has 201 entries; allowed: at most 200')


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_sections_or_an_invalid(raw: bytes) -> None:
    try:
        tomllib.loads(raw.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        assert findings_of(raw)
    else:
        with contextlib.suppress(Invalid):
            assert all(isinstance(section, Section) for section in parse_sections(raw))


def test_the_file_of_a_workspace_is_read(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    assert read_sections(workspace) == ()

    workspace.folder.mkdir()
    file = workspace.folder / "context.toml"
    file.write_text("[section.a]\npaths = ['x']\n")
    assert read_sections(workspace) == (Section("a", ("x",)),)

    file.write_text("[section.a]\npaths = ['..']\nwriter = []\n")
    with pytest.raises(Invalid, match=r"context\.toml:2: .* \(and 1 more\)$") as refused:
        read_sections(workspace)
    assert (refused.value.code, str(file) in refused.value.message) == ("context_invalid", True)

    file.write_text("[section.a\n")
    with pytest.raises(Invalid, match=r"context\.toml:1: this is not TOML") as refused:
        read_sections(workspace)
    assert refused.value.code == "context_syntax"

    file.unlink()
    file.mkdir()
    with pytest.raises(Unusable, match=r"context\.toml: Is a directory"):
        read_sections(workspace)
