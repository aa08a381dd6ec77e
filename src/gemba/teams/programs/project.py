"""How a project is tested, built and started, by the files that say so. Pure: it is given the paths and a reader.

Called by the programs that run or tell it. Of the same files `project_commands` makes the same test command for a gate;
a test compares the two.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from typing import NamedTuple

Read = Callable[[str], str | None]

_TARGET = re.compile(r"^([A-Za-z][\w.-]*)[ \t]*:(?![=:])", re.MULTILINE)
_NO_TEST = "no test specified"
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # in the order in which make looks for them
_MANAGERS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}
_TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|[^/]*\.(?:test|spec))\.[a-z]+$|(?:^|/)__tests__/")
_SCRIPT = re.compile(r"^\[(?:project\.scripts|tool\.poetry\.scripts)\]\s*$((?:\n(?!\[).*)*)", re.MULTILINE)
_MAIN = re.compile(r"^if __name__ == ['\"]__main__['\"]:", re.MULTILINE)
_BUILD_FILES = {
    "Makefile": "make",
    "pyproject.toml": "Python package",
    "setup.py": "Python package",
    "requirements.txt": "Python packages",
    "package.json": "npm package",
    "Cargo.toml": "Cargo crate",
    "go.mod": "Go module",
    "pom.xml": "Maven project",
    "build.gradle": "Gradle project",
    "CMakeLists.txt": "CMake project",
    "Dockerfile": "container image",
    "docker-compose.yml": "containers",
    ".gitlab-ci.yml": "GitLab pipeline",
}


class Command(NamedTuple):
    """A command of the project. `needs`: a Python module without which it cannot run."""

    words: tuple[str, ...]
    file: str  # that says so
    needs: str = ""

    @property
    def line(self) -> str:
        return " ".join(self.words)


def ways_to_test(paths: Collection[str], read: Read) -> list[Command]:
    """How the project's tests are run, the likeliest first; empty where no file says it."""
    found = []
    targets = make_targets(paths, read)
    if target := next((name for name in ("test", "check") if name in targets), None):
        found.append(Command(("make", target), next(name for name in _MAKEFILES if name in paths)))
    if python := _python_tests(paths, read):
        found.append(python)
    if "package.json" in paths and (script := scripts_of(read("package.json")).get("test")) and _NO_TEST not in script:
        manager = next((run for lock, run in _MANAGERS.items() if lock in paths), "npm")
        found.append(Command((manager, "run", "test"), "package.json"))
    if "Cargo.toml" in paths:
        found.append(Command(("cargo", "test", "--quiet"), "Cargo.toml"))
    if "go.mod" in paths:
        found.append(Command(("go", "test", "./..."), "go.mod"))
    return found


def _python_tests(paths: Collection[str], read: Read) -> Command | None:
    tests = [path for path in paths if path.endswith(".py") and is_test(path)]
    settings = next((name for name in ("pytest.ini", "conftest.py", "tests/conftest.py") if name in paths), None)
    if "pyproject.toml" in paths and "[tool.pytest" in (read("pyproject.toml") or ""):
        settings = "pyproject.toml"
    if settings:
        return Command(("python3", "-m", "pytest", "-q"), settings, "pytest")
    if not tests:
        return None
    first, said = min(tests), [read(path) or "" for path in sorted(tests)[:50]]
    if any("unittest" in text for text in said) and not any("import pytest" in text for text in said):
        return Command(("python3", "-m", "unittest", "discover", "-q"), first)
    return Command(("python3", "-m", "pytest", "-q"), first, "pytest")


def is_test(path: str) -> bool:
    """Whether a file is a test by its name, or by its folder's."""
    parts = path.split("/")
    return bool(_TEST_FILE.search(path)) or (any(part in ("tests", "test", "spec") for part in parts[:-1]))


def scripts_of(text: str | None) -> dict[str, str]:
    """The scripts of a package.json; none where it is broken."""
    try:
        scripts = json.loads(text or "{}").get("scripts", {})
    except (ValueError, AttributeError, RecursionError):
        return {}
    return {str(name): str(line) for name, line in scripts.items()} if isinstance(scripts, dict) else {}


def build_files(paths: Collection[str]) -> list[tuple[str, str]]:
    """The files at the top that say how it is built, and what they are."""
    found = [(name, what) for name, what in _BUILD_FILES.items() if name in paths]
    flows = sorted(path for path in paths if path.startswith(".github/workflows/"))
    return found + [(path, "GitHub workflow") for path in flows[:5]]


def make_targets(paths: Collection[str], read: Read) -> list[str]:
    makefile = next((name for name in _MAKEFILES if name in paths), None)
    names = _TARGET.findall(read(makefile) or "") if makefile else []
    return list(dict.fromkeys(name for name in names if not name.startswith(".")))


def entry_points(paths: Collection[str], read: Read) -> list[tuple[str, str]]:
    """Where a reader or a user comes in: files, and why each."""
    found = [(path, "its title page") for path in sorted(paths) if re.fullmatch(r"README(\.\w+)?", path)]
    if "pyproject.toml" in paths and (section := _SCRIPT.search(read("pyproject.toml") or "")):
        names = re.findall(r"^\s*([\w.-]+)\s*=", section[1], re.MULTILINE)
        found += [("pyproject.toml", f"installs the command {', '.join(names[:5])}")] if names else []
    if "package.json" in paths and (scripts := scripts_of(read("package.json"))):
        found.append(("package.json", f"has the scripts {', '.join(list(scripts)[:8])}"))
    for path in sorted(paths):
        name = path.rpartition("/")[2]
        if name == "__main__.py":
            found.append((path, "is run as a module"))
        elif path.endswith(".py") and not is_test(path) and _MAIN.search(read(path) or ""):
            found.append((path, "is run as a script"))
        elif name in ("main.go", "main.rs", "index.js", "index.ts", "main.ts", "main.js", "App.tsx"):
            found.append((path, "is where its program begins"))
    return found
