"""Two sets of globs share a path, or they do not: decided by an index, and the same as comparing names one by one."""

from fnmatch import fnmatchcase
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.paths import PathIndex, segments, share


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/a/**", "src/a/b.py"),
        ("src/a", "src/a/b.py"),
        ("src/a/", "src/a"),
        ("./src//a", "src/a"),
        ("src/x/../a", "src/a/b.py"),
        ("**/b.py", "src/a/b.py"),
        ("src/*.py", "src/a.py"),
        ("src/*.py", "src/a*"),
        ("**", "docs/x.md"),
        (".", "docs/x.md"),
        ("src/**/test_*.py", "src/a/b/test_x.py"),
        ("src/**/x", "**/y/**"),
        ("src/{a,b}.py", "src/a.py"),
        ("src/{a,b/c}.py", "src/b/c.py"),
        ("src/[ab].py", "src/a.py"),
        ("src/?.py", "src/a.py"),
        ("a*c", "ab*"),
        ("src/v1.2", "src/v1.2/a.py"),
        ("src/v1.2/**", "**/a.py"),
    ],
)
def test_globs_that_share_a_path(one: str, other: str) -> None:
    assert share([one], [other])
    assert share([other], [one])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/a/**", "src/ab.py"),
        ("src/a", "src/ab"),
        ("src/*.py", "src/a.ts"),
        ("src/*.py", "docs/a.py"),
        ("src/?.py", "src/ab.py"),
        ("src/a/*/x.py", "src/a/x.py"),
        ("Src/a", "src/a"),
        ("", "src/a"),
        ("  ", "**"),
        ("a*c", "b*"),
        ("**/b.py", "src/c.py"),
        ("src/**/test_*.py", "src/a.py"),
    ],
)
def test_globs_that_share_none(one: str, other: str) -> None:
    assert not share([one], [other])
    assert not share([other], [one])


def test_whose_the_shared_path_is_and_by_which_glob_is_told() -> None:
    index = PathIndex()
    index.add("src/a/**", "first")
    index.add("docs/*.md", "second")

    assert index.find("docs/x.md") == ("second", "docs/*.md")
    assert index.find("src/a/b/c.py") == ("first", "src/a/**")
    assert index.find("web/x.ts") is None


NAMES = ("a", "b", "ab", "ba")
PATHS = [path for depth in (1, 2, 3) for path in product(NAMES, repeat=depth)]
globs = st.lists(st.sampled_from(["a", "b", "ab", "*", "a*", "?", "*b", "**"]), min_size=1, max_size=3).map("/".join)


def takes(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """The path, or a folder above it, is one that the pattern names: said the slow way."""
    if not pattern:
        return True
    if not path:
        return False
    if pattern[0] == "**":
        return takes(pattern[1:], path) or takes(pattern, path[1:])
    return fnmatchcase(path[0], pattern[0]) and takes(pattern[1:], path[1:])


@given(globs, globs)
def test_a_path_that_both_take_is_always_found(one: str, other: str) -> None:
    left, right = segments(one), segments(other)
    assert left is not None
    assert right is not None
    if any(takes(left, path) and takes(right, path) for path in PATHS):
        assert share([one], [other])


@given(st.lists(globs, max_size=6), st.lists(globs, max_size=6))
def test_it_does_not_matter_which_side_is_in_the_index(one: list[str], other: list[str]) -> None:
    assert share(one, other) == share(other, one) == any(share([left], [right]) for left in one for right in other)


@given(st.lists(globs, max_size=8), globs)
def test_everyone_who_shares_a_path_is_found_and_nobody_else(known: list[str], asked: str) -> None:
    index = PathIndex()
    for place, glob in enumerate(known):
        index.add(glob, str(place))

    found = index.find_all(asked)

    assert found == {str(place): glob for place, glob in enumerate(known) if share([glob], [asked])}
    assert (index.find(asked) is None) == (not found)
