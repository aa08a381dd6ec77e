"""The designer: the modules that the task touches, what each imports and is imported by, and what is risky there."""

from __future__ import annotations

from typing import NamedTuple

from gemba.teams.programs import project
from gemba.teams.programs.asked import NEEDS
from gemba.teams.programs.history import history_of
from gemba.teams.programs.imports import dependents_of, imports_in
from gemba.teams.programs.page import Part, Work, bullets, code, many, table
from gemba.teams.programs.task import Task
from gemba.teams.programs.tree import Tree, language_of
from gemba.teams.programs.words import Hit, where, words_of

_MOST_MODULES = 10
_MANY_DEPENDENTS = 5
_MANY_LINES = 500
_OFTEN = 10  # commits


class Module(NamedTuple):
    """A file of code that the task touches."""

    hit: Hit
    imports: list[str]
    dependents: list[str]
    tests: list[str]
    lines: int
    commits: int


def outline(task: Task, tree: Tree) -> Work:
    modules = touched(task, tree)
    risks = [risk for module in modules for risk in _risks(module)]
    around = sorted({path for module in modules for path in module.dependents} - {each.hit.path for each in modules})
    return Work(
        "Outline",
        _short(modules, around, risks),
        [
            Part("Modules that are touched", _table(modules)),
            Part("What passes between them", _edges(modules)),
            Part("Who else depends on them", bullets(code(path) for path in around[:20]) or ["No other file."]),
            Part("Risks", bullets(risks) or ["None that a program could count."]),
            Part("To decide", bullets(_decisions(modules))),
        ],
        [
            *tree.unseen(),
            "Imports of other languages than Python, JavaScript and TypeScript, and those made at run time.",
        ],
        [module.hit.path for module in modules],
        ["imports of Python, JavaScript and TypeScript, by line"],
        impacts=[f"{path} depends on what is touched" for path in around[:10]],
        surveyed=f"what is touched is listed; to decide the shape of it {NEEDS}",
    )


def touched(task: Task, tree: Tree) -> list[Module]:
    """The files of code in which the task's words are most at home, with what is around each."""
    code_files = [path for path in tree.code_files() if not project.is_test(path)]
    hits = where(tree, words_of(task.subject), code_files)[:_MOST_MODULES]
    imports = imports_in(tree)
    dependents, often = dependents_of(imports), history_of(tree).often
    return [
        Module(
            hit,
            imports.get(hit.path, []),
            [path for path in dependents.get(hit.path, []) if not project.is_test(path)],
            [path for path in dependents.get(hit.path, []) if project.is_test(path)],
            len((tree.text(hit.path) or "").splitlines()),
            often[hit.path],
        )
        for hit in hits
    ]


def _short(modules: list[Module], around: list[str], risks: list[str]) -> list[str]:
    if not modules:
        return ["No file of code has a word of the task: the change begins with a new module."]
    first = modules[0]
    told = [f"The task touches {many(len(modules), 'module')}, first of all {code(first.hit.path)}."]
    counted = many(len(around), "other file") if around else "No other file"
    told.append(f"{counted} depend{'' if len(around) > 1 else 's'} on them.")
    if bare := sum(_is_read(module) and not module.tests for module in modules):
        told.append(f"No test imports {bare} of them.")
    return [*told, *risks[:1]]


def _table(modules: list[Module]) -> list[str]:
    rows = [
        (
            code(each.hit.path),
            ", ".join(each.hit.words[:5]),
            f"{each.lines:,}",
            str(len(each.imports)),
            str(len(each.dependents)),
            ", ".join(code(path) for path in each.tests[:2]) or "none",
        )
        for each in modules
    ]
    return table(("module", "words of the task", "lines", "imports", "imported by", "tests"), rows) or [
        "No file of code has a word of the task."
    ]


def _edges(modules: list[Module]) -> list[str]:
    names = {module.hit.path for module in modules}
    edges = [(module.hit.path, lead) for module in modules for lead in module.imports]
    inside = [f"{code(start)} imports {code(lead)}" for start, lead in edges if lead in names]
    outside = [f"{code(start)} imports {code(lead)}" for start, lead in edges if lead not in names]
    return bullets([*inside, *outside][:25]) or ["They import nothing of this repository."]


def _risks(module: Module) -> list[str]:
    path = code(module.hit.path)
    found = []
    if len(module.dependents) >= _MANY_DEPENDENTS:
        found.append(f"{path}: {len(module.dependents)} files import it, so a change of what it offers is felt widely.")
    if not module.tests and _is_read(module):
        found.append(f"{path}: no test imports it, so a mistake shows late.")
    if module.lines >= _MANY_LINES:
        found.append(f"{path}: {module.lines:,} lines; look for the part that wants to be a module of its own.")
    if module.commits >= _OFTEN:
        found.append(f"{path}: changed in {module.commits} of the last commits; somebody else may be at it.")
    return found


def _is_read(module: Module) -> bool:
    """Whether imports of its language are."""
    return language_of(module.hit.path) in ("Python", "JavaScript", "TypeScript")


def _decisions(modules: list[Module]) -> list[str]:
    asked = []
    if len(modules) > 1:
        asked.append(f"Whether the change belongs into {code(modules[0].hit.path)} or {code(modules[1].hit.path)}.")
    if modules and modules[0].dependents:
        asked.append(f"Whether what {code(modules[0].hit.path)} offers its dependents stays as it is.")
    return asked or ["Where the new module stands, and what it may import."]
