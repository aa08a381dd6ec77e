"""What the built-in agent makes of a prompt: the lines that it can follow, and the task of a team that it is for.

Pure. Every start of a built-in session pays for this import: standard library only, little of it.

    ask: Which port? [80 | 8080]        a question, with the answers to choose from if there are any
    blocker: May I delete the table?    the same, but nothing can go on without an answer
    run: make report => report.txt      a command, and the files that it has to have written
    verify: make test                   a command that shows that the work is done
    task: {"id": "IMPL-001", "goal": …}   what the commands are for, as JSON; they get it in their environment
"""

ASK_KINDS = {"ask": "question", "blocker": "blocker"}
COMMANDS = ("run", "verify")
ARTIFACTS = ".gemba/artifacts/"
_LONGEST_VALUE = 100_000  # bytes of a variable; a system takes little more
_MOST_LINES = 200  # of a list that a task has


class Step:
    """One line of a prompt that can be followed. `choices`: answers to an ask, files that a command writes."""

    def __init__(self, word: str, text: str, choices: list[str]) -> None:
        self.word = word
        self.text = text
        self.choices = choices


class Outcome:
    """How a step went. `gap` says what is missing when it did not go well."""

    def __init__(
        self, step: Step, said: str, gap: str = "", code: int | None = None, seconds: float | None = None
    ) -> None:
        self.step = step
        self.said = said
        self.gap = gap
        self.code = code
        self.seconds = seconds  # that a command took


class Task:
    """The task of a team that a turn is for. What somebody else has put there is text of its type, or not there."""

    def __init__(self, told: dict[str, object]) -> None:
        self.id = _text(told.get("id"))
        self.goal = _text(told.get("goal"))
        self.text = _text(told.get("text"))
        self.acceptance = _texts(told.get("acceptance"))
        self.notes = _texts(told.get("notes"))
        self.artifact = _artifact(_text(told.get("artifact")))

    def environment(self, folder: str) -> dict[str, str]:
        """What a command of the task finds in its environment."""
        values = {
            "GEMBA_TASK_ID": self.id,
            "GEMBA_TASK_GOAL": self.goal,
            "GEMBA_TASK_TEXT": self.text,
            "GEMBA_TASK_ACCEPTANCE": "\n".join(" ".join(each.split()) for each in self.acceptance),
            "GEMBA_TASK_NOTES": "\n".join(" ".join(each.split()) for each in self.notes),
            "GEMBA_ARTIFACT": f"{folder}/{self.artifact}" if self.artifact else "",
        }
        return {name: _fitting(value) for name, value in values.items()}


def _text(value: object) -> str:
    return value.replace("\0", "") if isinstance(value, str) else ""


def _texts(value: object) -> list[str]:
    return [text for item in value[:_MOST_LINES] if (text := _text(item))] if isinstance(value, list) else []


def _artifact(path: str) -> str:
    """A plain name in the folder of artifacts; "" for whatever else."""
    name = path.removeprefix(ARTIFACTS)
    return path if name != path and name and "/" not in name and not name.startswith(".") else ""


def _fitting(value: str) -> str:
    return value.encode("utf-8", "replace")[:_LONGEST_VALUE].decode("utf-8", "ignore")


def task_of(prompt: str) -> Task | None:
    """The task that a prompt names, if it names one; the last line of that kind counts."""
    for line in reversed(prompt.splitlines()):
        if line.startswith("task:"):
            import json

            try:
                told = json.loads(line.removeprefix("task:"))
            except (ValueError, RecursionError):
                continue
            if isinstance(told, dict):
                return Task(told)
    return None


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
        elif word == "verify":
            found.append(Step(word, text, []))
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
