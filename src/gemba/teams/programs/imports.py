"""Which files of a repository import which: Python, JavaScript and TypeScript, by the lines that say so.

Only what leads to a file of the repository counts. Pure but for the reading.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from gemba.teams.programs.tree import Tree, language_of

_SCRIPTS = ("JavaScript", "TypeScript")
_PY_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<base>[.\w]+)[ \t]+import[ \t]*(?:\((?P<many>[^()]{0,5000})\)|(?P<few>[^\n#]{1,500}))"
    r"|import[ \t]+(?P<plain>[\w., \t]{1,500}))",
    re.MULTILINE,
)
_JS_IMPORT = re.compile(r"""(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*['"](\.{1,2}/[^'"\n]{1,300})['"]""")
_JS_ENDS = ("", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", "/index.ts", "/index.tsx", "/index.js")
_ROOTS = ("src", "lib", "python")


def imports_in(tree: Tree) -> dict[str, list[str]]:
    """By file the files of the repository that it imports, in order."""
    modules = _modules(tree.paths)
    found = {}
    for path in tree.code_files():
        text = tree.text(path)
        if text is None:
            continue
        if path.endswith((".py", ".pyi")):
            leads = _python(path, text, modules)
        elif language_of(path) in _SCRIPTS:
            leads = _script(path, text, tree)
        else:
            continue
        found[path] = sorted({lead for lead in leads if lead != path})
    return found


def dependents_of(imports: dict[str, list[str]]) -> dict[str, list[str]]:
    """The same the other way round."""
    found: dict[str, list[str]] = {}
    for path, leads in imports.items():
        for lead in leads:
            found.setdefault(lead, []).append(path)
    return found


def _modules(paths: Iterable[str]) -> dict[str, str]:
    """By a module's name its file, for packages at the top and below the usual folders of sources."""
    found: dict[str, str] = {}
    for path in paths:
        if path.endswith(".py"):
            parts = path[:-3].split("/")
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            starts = [0, 1] if parts and parts[0] in _ROOTS else [0]
            for start in starts:
                if name := ".".join(parts[start:]):
                    found.setdefault(name, path)
    return found


def _python(path: str, text: str, modules: dict[str, str]) -> Iterator[str]:
    package = path.split("/")[:-1]
    for found in _PY_IMPORT.finditer(text):
        if found["plain"]:
            for part in found["plain"].split(","):
                yield from _nearest((part.split() or [""])[0], modules)
            continue
        dots = len(found["base"]) - len(found["base"].lstrip("."))
        base = package[: len(package) - dots + 1] if dots else []
        start = ".".join([*base, *([found["base"][dots:]] if found["base"][dots:] else [])])
        names = [(part.split() or [""])[0] for part in (found["many"] or found["few"] or "").split(",")]
        for name in names:
            full = f"{start}.{name}" if start else name
            yield from [modules[full]] if full in modules else _nearest(start, modules)


def _nearest(name: str, modules: dict[str, str]) -> list[str]:
    return [modules[name]] if name in modules else []


def _script(path: str, text: str, tree: Tree) -> Iterator[str]:
    folder = posixpath.dirname(path)
    for target in _JS_IMPORT.findall(text):
        base = posixpath.normpath(posixpath.join(folder, target))
        lead = next((base + end for end in _JS_ENDS if base + end in tree), None)
        if lead is not None:
            yield lead
