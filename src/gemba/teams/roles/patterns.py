"""The five kinds of work that a role can begin from, as data: what each loads, aims at, verifies and publishes.

Guidance and not law: whatever the validator accepts is a role-spec. Called by `generate`.
"""

from __future__ import annotations

from typing import NamedTuple

from gemba.teams.roles.role_spec import Handling, Pattern


class Phase(NamedTuple):
    """What a phase is called, and what it is to achieve; each item a line."""

    name: str
    goals: tuple[str, ...]


class RolePattern(NamedTuple):
    """A kind of work: the prefix that its tasks mostly have, and the parts of its role-spec."""

    summary: str
    prefix: str
    responsibility: str
    must: tuple[str, ...]
    must_not: str
    context: Phase
    loads: tuple[str, ...]
    work: Phase
    verification: Phase
    publishes: tuple[str, ...]
    state: tuple[str, ...]
    errors: tuple[Handling, ...]


_UPSTREAM = "artifacts of the upstream tasks"
_ALL_UPSTREAM = "artifacts of all upstream tasks"
_FINDINGS = "key findings"
_REPORTED = (_FINDINGS, "decisions with their reasons")

REFERENCE: dict[Pattern, RolePattern] = {
    "research": RolePattern(
        summary="looks for what is known and writes it down",
        prefix="RESEARCH",
        responsibility="finds out what the task asks about, and writes it down with its sources",
        must=(
            "Name the source of every finding, precisely enough for somebody else to look it up",
            "Say what was looked for and not found",
            "Keep what is known apart from what is concluded",
            "Write the findings so that other roles can use them without asking",
        ),
        must_not="Decide what the findings are to be used for",
        context=Phase(
            "Bound the search",
            (
                "The question is clear: what is to be found out, how deep, and what lies outside of it.",
                "What the team knows already is read first, so that nothing is looked for twice.",
            ),
        ),
        loads=("state of the upstream tasks", "wisdom of the team", "explorations that are still fresh"),
        work=Phase(
            "Explore",
            (
                "Every question of the task has an answer with its sources, or a reason why it has none.",
                "The means are yours: tools, calls of other programs, search in the code.",
            ),
        ),
        verification=Phase(
            "Verify the findings",
            (
                "The findings are written down, and each was looked up once more at its source.",
                "Findings that contradict each other are named as such.",
            ),
        ),
        publishes=("a report of the findings with their sources",),
        state=(*_REPORTED, "open questions"),
        errors=(
            Handling("The question can be read in two ways", "Answer the likelier one, and say which one it is"),
            Handling("A source cannot be reached", "Look for another one, and name the one that is missing"),
            Handling(
                "Sources contradict each other", "Report both with their dates, and which one is trusted, and why"
            ),
            Handling("Nothing is found", "Report where it was looked for; that is a finding too"),
        ),
    ),
    "document": RolePattern(
        summary="writes documents, or changes them",
        prefix="DRAFT",
        responsibility="writes the documents that the task asks for, for the readers that it names",
        must=(
            "Write for the reader that the task names, in the words that the project uses",
            "Take every statement from an upstream artifact or from the code, and check it there",
            "Keep what is right in a document that exists, and its structure",
            "Say what is still open in the place where a reader looks for it",
        ),
        must_not="Invent facts, names or figures that no source has",
        context=Phase(
            "Read what it builds on",
            (
                "The upstream artifacts are read, and what they leave open is known.",
                "A document that exists already is read whole before a line of it changes.",
            ),
        ),
        loads=(_ALL_UPSTREAM, "the target files where they exist", "conventions of the project"),
        work=Phase(
            "Write",
            (
                "The document says what the task asks for, new or as a change of what is there, as the task wants it.",
                "A reader finds what matters most first, and each thing in one place.",
            ),
        ),
        verification=Phase(
            "Verify the documents",
            (
                "Every document of the task exists with the content that is expected of it.",
                "Links and references lead somewhere, and statements agree with their sources.",
            ),
        ),
        publishes=("the documents that were written or changed",),
        state=(*_REPORTED, "files that changed"),
        errors=(
            Handling(
                "An upstream artifact is missing or empty", "Write what does not depend on it, and report what does"
            ),
            Handling("Sources disagree", "Follow the newer one, and name the difference in the report"),
            Handling("The target file changed meanwhile", "Read it anew, and keep what others wrote"),
            Handling("The reader is not named", "Write for a new colleague, and say so"),
        ),
    ),
    "code": RolePattern(
        summary="changes code as a design asks for",
        prefix="IMPL",
        responsibility="makes the change of the code that the design asks for, with its tests",
        must=(
            "Follow the design, and name every place where the code had to differ from it",
            "Work in the style of the code around, with the means that the project has already",
            "Cover the change with tests that fail without it",
            "Leave the code in a state that builds",
        ),
        must_not="Change what the task does not ask for, however tempting",
        context=Phase(
            "Read the design",
            (
                "What is to change is known from the design, the specification and the code that it touches.",
                "The project's conventions, and how it builds and tests, are known.",
            ),
        ),
        loads=("design and specification from upstream", "code that the change touches", "conventions of the project"),
        work=Phase(
            "Implement",
            (
                "The change that the task asks for is made, whole, with its tests.",
                "The means go by its complexity: a small change at once, a large one in steps that each hold.",
            ),
        ),
        verification=Phase(
            "Verify the change",
            (
                "Every changed file is free of syntax errors, and the checks that the project has were run.",
                "Each file that the report names exists and differs from before.",
            ),
        ),
        publishes=("the changed files", "a summary of the change"),
        state=(*_REPORTED, "files that changed", "checks that were run"),
        errors=(
            Handling("The design leaves something open", "Take the simplest reading that fits the code, and report it"),
            Handling("The design cannot be carried out", "Stop there, and report what stands against it"),
            Handling("A check fails that failed before", "Leave it, and report it with how it fails"),
            Handling("A check fails because of the change", "Mend the change, never the check"),
        ),
    ),
    "analysis": RolePattern(
        summary="judges artifacts or sources from several sides",
        prefix="ANALYSIS",
        responsibility="judges what the task names, and reports each finding with how grave it is",
        must=(
            "Show the place of every finding: file and line, or part of an artifact",
            "Class every finding by its severity, and say why",
            "Look from several sides, and say which ones were left out",
            "Say what is good enough to stay",
        ),
        must_not="Repair what is found",
        context=Phase(
            "Gather the targets",
            (
                "What is to be judged, artifacts or sources, is complete and at hand.",
                "By what it is judged is known: the task, the specification, the project's conventions.",
            ),
        ),
        loads=("the artifacts or sources that the task names", _UPSTREAM, "decisions of the team"),
        work=Phase(
            "Analyse",
            (
                "Each target is judged in the dimensions that matter for it; perspectives and depth go by the task.",
                "Every finding has its evidence, its consequence, and a recommendation.",
            ),
        ),
        verification=Phase(
            "Verify the report",
            (
                "The report exists, its findings are classed by severity, and the gravest come first.",
                "Each finding was checked against its place once more; what does not hold is taken out.",
            ),
        ),
        publishes=("a report with findings by severity",),
        state=(*_REPORTED, "number of findings by severity"),
        errors=(
            Handling("A target is missing", "Judge the others, and report that one as not judged"),
            Handling(
                "There is too much to judge in full", "Take what changes most or breaks worst, and say what was left"
            ),
            Handling("A finding cannot be proved", "Report it as a suspicion, with what would prove it"),
            Handling("Nothing is wrong", "Report what was looked at, and how closely"),
        ),
    ),
    "validation": RolePattern(
        summary="tests what others made, and has it mended",
        prefix="TEST",
        responsibility="finds out by tests whether what was made does what it should",
        must=(
            "Run the tests of the project before and after, and report both",
            "Test what can go wrong, not only what was meant to work",
            "Keep every failure with the command that shows it",
            "Tell a fault of the test from a fault of the code",
        ),
        must_not="Weaken, skip or delete a test to make it pass",
        context=Phase(
            "Find what to test, and how",
            (
                "The project's test framework is found, and runs.",
                "Which files changed is known from upstream, and which tests cover them.",
            ),
        ),
        loads=("changed files from upstream", "specification from upstream", "test settings of the project"),
        work=Phase(
            "Test and mend",
            (
                "What the task asks for is covered by tests, and what they show is mended as far as the task allows.",
                "Rounds of testing and mending go by the task: their number, and what each is after.",
            ),
        ),
        verification=Phase(
            "Verify pass rate and coverage",
            (
                "The share of tests that pass, and what of the change they cover, are measured and not estimated.",
                "What still fails is listed with its cause.",
            ),
        ),
        publishes=("a test report with pass rate and coverage", "the tests that were added"),
        state=(_FINDINGS, "pass rate", "coverage", "failures that remain"),
        errors=(
            Handling("No test framework is found", "Use what the language brings along, and report it"),
            Handling("The tests do not start", "Report the command with its output, and what is missing"),
            Handling("A test passes now and fails then", "Report it as unsteady, with how often, and do not count it"),
            Handling("A fault lies outside the task", "Report it, and leave the code there alone"),
        ),
    ),
}
