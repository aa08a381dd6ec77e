"""What can be computed of code: a finding each, with its place, how bad it is, and why. Pure but for the reading.

`CHECKS` is the table. A check sees one file and its text, or the whole tree; none of them runs anything.
"""

from __future__ import annotations

import ast
import posixpath
import re
import urllib.parse
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from gemba.teams.programs import project
from gemba.teams.programs.notes import notes_in
from gemba.teams.programs.page import code, one_line
from gemba.teams.programs.tree import Tree

SEVERITIES = ("critical", "high", "medium", "low")
LONG_FUNCTION = 80  # lines
LONG_FILE = 800
SAME_LINES = 10  # in a row that make a duplicate
_MOST_COMPARED = 200_000  # lines, for duplicates
_CONFLICT = re.compile(r"^(?:<{7} |>{7} )", re.MULTILINE)
_PRIVATE_KEY = re.compile(r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----")
_LINK = re.compile(r"(?<!!)\[([^\]\n]{0,200})\]\(([^()\s]{1,400})(?:\s+\"[^\"\n]*\")?\)")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1\s*$|\Z)", re.MULTILINE | re.DOTALL)
_TELLS_LITTLE = re.compile(r"[\W\d_]*|\w+,?|(?:import|from|#include|use|package)\b.*")
_GENERATED = re.compile(r"\bgenerated\b|DO NOT EDIT", re.IGNORECASE)
_MOST_DUPLICATES = 3  # of one file; the first ones show what is the matter


class Finding(NamedTuple):
    severity: str
    path: str
    line: int
    what: str
    why: str


def findings_in(tree: Tree) -> list[Finding]:
    """Everything that the checks find, the worst first, then by place."""
    found = [finding for check in (_files, _duplicates, _untested, _notes) for finding in check(tree)]
    return sorted(found, key=lambda each: (SEVERITIES.index(each.severity), each.path, each.line, each.what))


def _files(tree: Tree) -> Iterator[Finding]:
    for path in tree.paths:
        text = tree.text(path)
        if text is None:
            continue
        yield from _any_text(path, text)
        if path.endswith((".py", ".pyi")):
            yield from _python(path, text)
        elif path.lower().endswith((".md", ".markdown")):
            yield from _links(path, text, tree)


def _any_text(path: str, text: str) -> Iterator[Finding]:
    if found := _CONFLICT.search(text):
        why = "A merge was left half done; what stands here is two versions."
        yield Finding("critical", path, _line_at(text, found.start()), "marks of a conflict", why)
    if (found := _PRIVATE_KEY.search(text)) and not project.is_test(path):
        why = "Whoever reads the repository has the key."
        yield Finding("critical", path, _line_at(text, found.start()), "a private key", why)
    lines = text.count("\n")
    if lines > LONG_FILE and path.endswith((".py", ".js", ".ts", ".tsx", ".go", ".rs", ".java", ".rb", ".c", ".cpp")):
        why = f"More than {LONG_FILE} lines hide several things in one name."
        yield Finding("low", path, 1, f"a file of {lines:,} lines", why)


# ---- Python ----------------------------------------------------------------------------------------------------------


def _python(path: str, text: str) -> Iterator[Finding]:
    module = _parsed(text)
    if isinstance(module, tuple):
        yield Finding("critical", path, module[0], f"no valid Python: {module[1]}", "It cannot even be imported.")
        return
    for node in _statements(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _function(path, node)
        elif isinstance(node, ast.ExceptHandler) and node.type is None:
            why = "It catches interrupts and exits too, and hides what went wrong."
            yield Finding("medium", path, node.lineno, "except without a type", why)


def _parsed(text: str) -> ast.Module | tuple[int, str]:
    """A file's syntax, or the line in which it is none, and why."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module = ast.parse(text)
            compile(module, "file", "exec", dont_inherit=True)
        except SyntaxError as error:
            return error.lineno or 1, one_line(error.msg or "syntax error", 80)
        except (ValueError, RecursionError, MemoryError) as error:
            return 1, one_line(str(error), 80)
    return module


def _statements(module: ast.Module) -> Iterator[ast.AST]:
    """Every statement and handler, whatever it stands in; no expression, which are the most by far."""
    left: list[ast.AST] = [module]
    while left:
        node = left.pop()
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, name, None)
            if isinstance(inner, list):
                left += inner


def _function(path: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Finding]:
    length = (node.end_lineno or node.lineno) - node.lineno + 1
    if length > LONG_FUNCTION:
        why = f"More than {LONG_FUNCTION} lines are hard to test and to change."
        yield Finding("medium", path, node.lineno, f"{node.name} has {length} lines", why)
    for default in [*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)]:
        if isinstance(default, ast.List | ast.Dict | ast.Set):
            why = "All calls share the one object, and what one puts in the next one finds."
            yield Finding("high", path, node.lineno, f"{node.name} has a default that can be changed", why)


# ---- documents -------------------------------------------------------------------------------------------------------


def _links(path: str, text: str, tree: Tree) -> Iterator[Finding]:
    folder = posixpath.dirname(path)
    shown = _FENCE.sub(lambda found: "\n" * found[0].count("\n"), text)
    for found in _LINK.finditer(shown):
        target = urllib.parse.unquote(found[2].partition("#")[0].partition("?")[0])
        if not target or ":" in target or target.startswith(("/", "<", "{")):
            continue
        place = posixpath.normpath(posixpath.join(folder, target))
        if place.startswith("..") or not (tree.root / place).exists():
            words = one_line(found[1], 60).replace("/", " ").replace("`", "") or "no words"
            yield Finding(
                "medium",
                path,
                _line_at(shown, found.start()),
                f"the link “{words}” leads nowhere",
                "Its target is not in the repository.",
            )


# ---- the whole tree --------------------------------------------------------------------------------------------------


def _duplicates(tree: Tree) -> Iterator[Finding]:
    """Blocks of lines that stand in two places; of a longer block its beginning."""
    first: dict[int, tuple[str, int]] = {}
    left = _MOST_COMPARED
    for path in tree.code_files():
        text = tree.text(path) or ""
        if _GENERATED.search(text[:500]) or ".min." in path:
            continue
        lines = list(_telling(text))
        left -= len(lines)
        if left < 0:
            return
        told_until, told = -1, 0
        for at in range(len(lines) - SAME_LINES + 1):
            key = hash(tuple(line for _, line in lines[at : at + SAME_LINES]))
            before = first.setdefault(key, (path, lines[at][0]))
            if before == (path, lines[at][0]) or at <= told_until:
                continue
            if before[0] == path and abs(before[1] - lines[at][0]) < SAME_LINES:
                continue
            told_until, told = at + SAME_LINES - 1, told + 1
            if told > _MOST_DUPLICATES:
                break
            what = f"{SAME_LINES} lines or more as in {before[0]}:{before[1]}"
            yield Finding("medium", path, lines[at][0], what, "A fault that is mended in one place stays in the other.")


def _telling(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        plain = " ".join(line.split())
        if not _TELLS_LITTLE.fullmatch(plain):
            yield number, plain


def _untested(tree: Tree) -> Iterator[Finding]:
    """Python modules that no test names; nothing where there are no tests at all."""
    tests = [path for path in tree.paths if path.endswith(".py") and project.is_test(path)]
    said = "\n".join(tree.text(path) or "" for path in tests) + "\n".join(tests)
    if not tests:
        return
    named = set(re.findall(r"\w+", said))
    for path in tree.paths:
        name = path.rpartition("/")[2][:-3]
        is_module = path.endswith(".py") and not project.is_test(path) and not name.startswith("__")
        if is_module and name not in named and f"test_{name}" not in named and "def " in (tree.text(path) or ""):
            yield Finding("low", path, 1, "no test names this module", "A mistake in it shows late.")


def _notes(tree: Tree) -> Iterator[Finding]:
    for note in notes_in(tree):
        if note.mark != "item":
            severity = "low" if note.mark in ("TODO", "XXX") else "medium"
            what = code(f"{note.mark} {note.words}".strip())
            yield Finding(severity, note.path, note.line, what, "Somebody left this for later.")


def _line_at(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
