"""The researcher: what a repository is made of, and where the words of the task occur in it."""

from __future__ import annotations

from collections import Counter

from gemba.teams.programs import project
from gemba.teams.programs.asked import NEEDS, only_shows_when_run
from gemba.teams.programs.history import MOST_COMMITS, History, history_of
from gemba.teams.programs.page import Part, Work, bullets, code, many, one_line, table
from gemba.teams.programs.task import Task
from gemba.teams.programs.tree import Tree, language_of
from gemba.teams.programs.words import Hit, counted, where, words_of

_MOST_FILES = 12
_MOST_LANGUAGES = 8
_MOST_CHANGES = 8


def survey(task: Task, tree: Tree) -> Work:
    words = words_of(task.subject)
    hits, history = where(tree, words), history_of(tree)
    tests = project.ways_to_test(tree.paths, tree.text)
    return Work(
        "Survey",
        _short(tree, words, hits, history, tests),
        [
            Part("Where it is", _places(words, hits)),
            Part("What there is", _made_of(tree)),
            Part("Where one comes in", _entries(tree)),
            Part("How it is built and tested", _built(tree, tests)),
            Part("What was changed", _changed(history)),
            Part("Open questions", bullets(_questions(words, hits, tests))),
        ],
        tree.unseen(),
        [hit.path for hit in hits[:50]],
        [f"words of the task: {', '.join(words)}"] if words else [],
        surveyed=_left(task, tree, words, hits),
    )


def _left(task: Task, tree: Tree, words: list[str], hits: list[Hit]) -> str:
    """What a look at the words of a repository does not find out."""
    if not tree.paths:
        return f"there is no file to look into; what was asked for {NEEDS}"
    if words and not hits:
        return f"no word of the task occurs here; to find out more {NEEDS}"
    return f"what was asked shows when something runs, and {NEEDS}" if only_shows_when_run(task) else ""


def _short(tree: Tree, words: list[str], hits: list[Hit], history: History, tests: list[project.Command]) -> list[str]:
    if not tree.paths:
        return ["The repository has no files yet."]
    told = [f"{many(len(tree.paths), 'file')}, {_languages_in_words(tree)}."]
    if hits:
        told.append(f"The words of the task are most at home in {_named([hit.path for hit in hits[:3]])}.")
    elif words:
        told.append("No word of the task occurs in the repository.")
    told.append(f"It is tested with {code(tests[0].line)}." if tests else "No file says how it is tested.")
    path, times = min(history.often.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
    if times > 1:
        told.append(f"Changed most often: {code(path)}, in {times} of the last {many(history.commits, 'commit')}.")
    return told


def _named(paths: list[str]) -> str:
    shown = [code(path) for path in paths]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _places(words: list[str], hits: list[Hit]) -> list[str]:
    if not words:
        return ["The task names nothing that could be looked for."]
    if not hits:
        return [f"None of these words occurs: {', '.join(words)}."]
    files = counted(hits)
    missing = [word for word in words if word not in files]
    rows = [(code(hit.path), ", ".join(hit.words[:6]), str(hit.places), _lines(hit)) for hit in hits[:_MOST_FILES]]
    lines = table(("file", "words", "places", "first lines"), rows)
    if len(hits) > _MOST_FILES:
        lines += ["", f"And {many(len(hits) - _MOST_FILES, 'file')} more."]
    lines += ["", "In so many files: " + ", ".join(f"{word} {files[word]}" for word in words if word in files) + "."]
    return lines + (["", f"Nowhere: {', '.join(missing)}."] if missing else [])


def _lines(hit: Hit) -> str:
    return ", ".join(map(str, hit.lines)) if hit.lines else "in its name"


def _made_of(tree: Tree) -> list[str]:
    files, sizes = _languages(tree)
    rows = [(name, f"{files[name]:,}", f"{max(1, sizes[name] // 1024):,} KB") for name in _by_size(sizes)]
    folders = Counter(path.partition("/")[0] for path in tree.paths if "/" in path)
    top = sorted(folders.items(), key=lambda item: (-item[1], item[0]))[:_MOST_LANGUAGES]
    lines = table(("language", "files", "size"), rows)
    shown = ", ".join(f"{code(name + '/')} {count:,}" for name, count in top)
    return lines + (["", f"Folders by their files: {shown}."] if shown else [])


def _languages(tree: Tree) -> tuple[Counter[str], Counter[str]]:
    files: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for path, size in tree.sizes.items():
        name = language_of(path) or "other"
        files[name] += 1
        sizes[name] += size
    return files, sizes


def _by_size(sizes: Counter[str]) -> list[str]:
    return [name for name, _ in sorted(sizes.items(), key=lambda item: (-item[1], item[0]))][:_MOST_LANGUAGES]


def _languages_in_words(tree: Tree) -> str:
    files, sizes = _languages(tree)
    names = [name for name in _by_size(sizes) if name != "other"][:3]
    return "most of it " + ", ".join(f"{name} ({many(files[name], 'file')})" for name in names) if names else "no code"


def _entries(tree: Tree) -> list[str]:
    found = project.entry_points(tree.paths, tree.text)[:_MOST_FILES]
    return bullets(f"{code(path)} {why}" for path, why in found) or ["No file says where one comes in."]


def _built(tree: Tree, tests: list[project.Command]) -> list[str]:
    lines = bullets(f"{code(path)}: {what}" for path, what in project.build_files(tree.paths))
    lines += bullets(f"tests: {code(each.line)}, as {code(each.file)} has it" for each in tests)
    if targets := project.make_targets(tree.paths, tree.text):
        lines.append(f"- make targets: {', '.join(targets[:15])}")
    count = sum(project.is_test(path) for path in tree.paths)
    return [*lines, f"- {many(count, 'file')} of tests"] if count or lines else ["No file says it."]


def _changed(history: History) -> list[str]:
    if not history.commits:
        return ["There is no history to read."]
    rows = [(code(each.path), each.day, one_line(each.subject, 80)) for each in history.last[:_MOST_CHANGES]]
    often = sorted(history.often.items(), key=lambda item: (-item[1], item[0]))[:_MOST_CHANGES]
    limit = f", of the last {MOST_COMMITS}" if history.commits >= MOST_COMMITS else ""
    lines = table(("changed last", "on", "by the commit"), rows)
    shown = ", ".join(f"{code(path)} {count}" for path, count in often if count > 1)
    return [*lines, "", f"Changed most often, in commits{limit}: {shown}."] if shown else lines


def _questions(words: list[str], hits: list[Hit], tests: list[project.Command]) -> list[str]:
    asked = []
    files = counted(hits)
    if missing := [word for word in words if word not in files]:
        asked.append(f"What is meant by {', '.join(missing[:6])}? The repository does not have it yet.")
    if len(hits) > 1 and hits[0].words == hits[1].words:
        shown = _named([hit.path for hit in hits[:2]])
        asked.append(f"Which of {shown} is the place of the change? Both have the same words.")
    if not any(project.is_test(hit.path) for hit in hits):
        asked.append("How will it be shown to work? No test has the words of the task.")
    if not tests:
        asked.append("How are the tests run? No file says it.")
    return asked or ["None that a program could see."]
