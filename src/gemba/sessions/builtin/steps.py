"""What the built-in agent makes of a prompt: the lines that it can follow, and the contract in which its turn ends.

Pure. Every start of a built-in session pays for this import: standard library only, little of it.

    ask: Which port? [80 | 8080]        a question, with the answers to choose from if there are any
    blocker: May I delete the table?    the same, but nothing can go on without an answer
    run: make report => report.txt      a command, and the files that it has to have written
"""

ASK_KINDS = {"ask": "question", "blocker": "blocker"}
_LONGEST_OUTPUT = 2_000  # characters of a command's output in the contract
_HOW_TO = "A: give me a line `run: COMMAND => FILE`. B: give me a line `ask: QUESTION`."


class Step:
    """One line of a prompt that can be followed. `choices`: answers to an ask, files that a command writes."""

    def __init__(self, word: str, text: str, choices: list[str]) -> None:
        self.word = word
        self.text = text
        self.choices = choices


class Outcome:
    """How a step went. `gap` says what is missing when it did not go well."""

    def __init__(self, step: Step, said: str, gap: str = "", code: int | None = None) -> None:
        self.step = step
        self.said = said
        self.gap = gap
        self.code = code


def steps_of(prompt: str) -> list[Step]:
    found = []
    for line in prompt.splitlines():
        word, colon, text = line.strip().removeprefix("- ").partition(":")
        word, text = word.strip().lower(), text.strip()
        if not colon or not text:
            continue
        if word in ASK_KINDS:
            found.append(_ask(word, text))
        elif word == "run":
            found.append(_run(text))
    return found


def _ask(word: str, text: str) -> Step:
    if not text.endswith("]") or "[" not in text:
        return Step(word, text, [])
    question, _, options = text[:-1].rpartition("[")
    choices = [option.strip() for option in options.split("|") if option.strip()]
    return Step(word, question.strip(), choices) if question.strip() else Step(word, text, [])


def _run(text: str) -> Step:
    command, _, files = text.rpartition(" => ")
    return Step("run", command.strip(), files.replace(",", " ").split()) if command.strip() else Step("run", text, [])


def contract(agent_id: str, outcomes: list[Outcome], *, consolidates: bool) -> dict[str, object]:
    """The output envelope of a turn in which this was done."""
    gaps = [outcome.gap for outcome in outcomes if outcome.gap]
    if not outcomes:
        status, next_action = "NEEDS_INPUT", _HOW_TO
    elif gaps:
        status, next_action = "BLOCKED", "look at what is missing, then tell me what to do instead"
    else:
        status, next_action = "COMPLETE", "nothing"
    document: dict[str, object] = {
        "agent_status": {
            "plan_status": status,
            "agent_id": agent_id,
            "pending_steps": [outcome.step.text for outcome in outcomes if outcome.gap],
            "next_action": next_action,
        },
        "evidence_report": _evidence(outcomes, gaps, is_complete=status == "COMPLETE"),
    }
    if consolidates:
        document["consolidation_report"] = {
            "ownership_assessment": "owned_here",
            "confirmed_findings": [outcome.said for outcome in outcomes if not outcome.gap],
            "suspected_findings": [],
            "conflicts": [],
            "open_gaps": gaps,
            "next_best_agent": "none",
        }
    return document


def _evidence(outcomes: list[Outcome], gaps: list[str], *, is_complete: bool) -> dict[str, object]:
    ran = [outcome for outcome in outcomes if outcome.code is not None]
    written = [name for outcome in ran if not outcome.gap for name in outcome.step.choices]
    evidence: dict[str, object] = {
        "patterns_checked": [],
        "files_checked": written,
        "commands_run": [{"command": run.step.text, "result": f"exit code {run.code}"} for run in ran],
        "key_outputs": [outcome.said for outcome in outcomes if outcome.code is None and not outcome.gap],
        "verbatim_outputs": [outcome.said[-_LONGEST_OUTPUT:] for outcome in ran if outcome.said],
        "cross_layer_impacts": [],
        "open_gaps": gaps,
    }
    if is_complete:
        verification: dict[str, object] = {
            "result": "pass",
            "verification_method": "read",
            "artifacts_written": written,
        }
        if ran:
            verification |= {"verification_method": "test", "command": ran[-1].step.text, "exit_code": 0}
        evidence["verification"] = verification
    return evidence
