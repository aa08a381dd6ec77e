"""The built-in agent: a program that follows the plain lines of a prompt, and needs no model.

It asks through `gemba-ask`, runs commands, tells of itself in the session's log as the bridge of a client would, and
ends each turn in a handoff: COMPLETE when everything went well, BLOCKED with what is missing, NEEDS_INPUT for a prompt
that has no line for it (`steps.py` has them). Its prompt is its standard input; on a terminal there are more.

A turn that is for a task of a team leaves the task's artifact: what a command has written, else what the commands
printed. It tells which files changed, by git, and what a program told of itself in the file $GEMBA_EVIDENCE.

Run by the backends as `python -m gemba.sessions.builtin`, in the environment of a session. Quick to start: what only an
ask or a command needs is loaded then.
"""

import os
import sys

from gemba import wire
from gemba.programs import path_with_programs
from gemba.sessions.builtin.contract import Changes, Told, contract
from gemba.sessions.builtin.steps import ASK_KINDS, COMMANDS, Outcome, Step, Task, steps_of, task_of
from gemba.sessions.prompts import Interrupts, open_prompts, prompts
from gemba.speaker import Session, explain
from gemba.wire import Refused

_LONGEST_RUN = 3600.0  # seconds
_MOST_OUTPUT = 100_000  # bytes of a command
_MOST_EVIDENCE = 256 * 1024  # bytes that a program may tell of itself
_ANSWERED = (wire.OUTCOME_EXIT["answered"], wire.OUTCOME_EXIT["default"])
_OUTCOMES = {code: outcome for outcome, code in wire.OUTCOME_EXIT.items()}


class Agent:
    """One session's agent, turn after turn."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._role = session.role or "coach"
        self._mode = session.interaction_mode()
        self._task: Task | None = None  # of the turn, and of those that follow without one of their own

    def live(self) -> int:
        """Turn after turn; the exit code."""
        code, interrupts = 0, Interrupts()
        open_prompts(interrupts)
        self._client("SessionStart", source="startup")
        for prompt in prompts():
            self._client("UserPromptSubmit", prompt=prompt)
            try:
                interrupts.in_turn, code = True, 0
                self._turn(prompt)
                interrupts.in_turn = False
            except KeyboardInterrupt:
                code = 130
                _say("Interrupted.")
                self._report("ready", "interrupted")
        self._client("SessionEnd", reason="other")
        return code

    def _turn(self, prompt: str) -> None:
        self._task = task_of(prompt) or self._task
        steps = steps_of(prompt)
        if self._task is None or not any(step.word in COMMANDS for step in steps):
            self._hand_off([self._follow(step, {}) for step in steps], self._task)
        else:
            self._task_turn(self._task, steps)

    def _task_turn(self, task: Task, steps: list[Step]) -> None:
        """A turn that leaves the task's artifact and tells what it changed."""
        from gemba.sessions.builtin import changes

        folder = self._session.cwd or "."
        _make_room(task.artifact)
        before = changes.look(folder)
        private = _private_folder()
        try:
            evidence = os.path.join(private, "evidence.json")
            names = {**task.environment(folder), "GEMBA_EVIDENCE": evidence}
            outcomes: list[Outcome] = []
            for step in steps:
                if step.word == "verify":
                    self._leave_artifact(task, outcomes)
                outcomes.append(self._follow(step, names))
            told = _told(evidence)
        finally:
            _remove(private)
        self._leave_artifact(task, outcomes)
        self._hand_off(outcomes, task, told, None if before is None else changes.changes_since(folder, before))

    def _leave_artifact(self, task: Task, outcomes: list[Outcome]) -> None:
        """What no command has written is made of what they printed; one that a verification reads is there by then."""
        if task.artifact and outcomes and not _is_written(task.artifact):
            from gemba.sessions.builtin.report import report_of

            _write(task.artifact, report_of(task, outcomes))

    def _follow(self, step: Step, names: dict[str, str]) -> Outcome:
        self._report("working", step.text)
        return self._run(step, names) if step.word in COMMANDS else self._ask(step)

    # -- steps

    def _ask(self, step: Step) -> Outcome:
        import subprocess

        kind = ASK_KINDS[step.word]
        if wire.refusal(kind, self._role, self._mode):
            return self._decide_alone(step)
        if wire.urgency_of(kind, self._mode) == "blocking":
            self._report("prompting", step.text)
        _say(f"Asking: {step.text}")
        given = ["--kind", kind, "--role", self._role, f"--text={step.text}", "--wait"]
        given += [f"--option={option}" for option in step.choices]
        asked = subprocess.run([_program("gemba-ask"), *given], stdout=subprocess.PIPE, check=False)
        answer = asked.stdout.decode("utf-8", "replace").rstrip("\n")
        if asked.returncode not in _ANSWERED:
            how = _OUTCOMES.get(asked.returncode, "not asked")
            return Outcome(step, answer, f"{step.text} ({how})")
        _say(f"Answered: {answer}")
        return Outcome(step, f"{step.text} {answer}")

    def _decide_alone(self, step: Step) -> Outcome:
        """Nobody may be asked: the decision is recorded, for whoever looks later."""
        import subprocess

        chose = step.choices[0] if step.choices else "I went on without an answer"
        given = ["--kind", "assumption", "--role", self._role, f"--text={step.text}", f"--chose={chose}"]
        recorded = subprocess.run([_program("gemba-ask"), *given], stdout=subprocess.DEVNULL, check=False)
        _say(f"Decided alone: {step.text} {chose}")
        return Outcome(step, f"{step.text} {chose}", "" if recorded.returncode == 0 else f"{step.text} (not recorded)")

    def _run(self, step: Step, names: dict[str, str]) -> Outcome:
        import time

        from gemba import shell
        from gemba.errors import Unusable

        _say(f"$ {step.text}")
        call: dict[str, object] = {"tool_name": "Bash", "tool_input": {"command": step.text}}
        self._client("PreToolUse", **call)
        began = time.monotonic()
        try:
            line, env = ["/bin/sh", "-c", step.text], _environment(names)
            result = shell.run(line, env=env, timeout=_LONGEST_RUN, limit=_MOST_OUTPUT)
        except Unusable as fault:
            self._client("PostToolUse", **call, tool_response={"is_error": True, "stderr": fault.message})
            return Outcome(step, "", f"{step.text}: {fault.message}")
        took = time.monotonic() - began
        output = (result.stdout + result.stderr).rstrip("\n")
        if output:
            _say(output)
        self._client("PostToolUse", **call, tool_response={"exit_code": result.code, "stdout": output[-2_000:]})
        return Outcome(step, output, self._gap(step, result.code), result.code, took)

    def _gap(self, step: Step, code: int) -> str:
        """What is missing after a command. A task's artifact is not: it is made where a command has not written it."""
        if code != 0:
            return f"{step.text}: exit code {code}"
        own = self._task.artifact if self._task is not None else ""
        missing = [name for name in step.choices if name != own and not _is_written(name)]
        return f"{step.text}: did not write {', '.join(missing)}" if missing else ""

    # -- what it tells of itself

    def _hand_off(
        self,
        outcomes: list[Outcome],
        task: Task | None = None,
        told: Told | None = None,
        changes: Changes | None = None,
    ) -> None:
        dispatch_id = self._session.dispatch_id
        agent_id, consolidates = self._given(dispatch_id)
        document = contract(agent_id, outcomes, consolidates=consolidates, task=task, told=told, changes=changes)
        words = f"```agent_contract_handoff\n{wire.encode_json(document)}\n```"
        _say(words)
        self._client("Stop", last_assistant_message=words)
        ids: dict[str, object] = {"dispatch_id": dispatch_id, "agent_id": agent_id, "event": "Stop"}
        self._session.append("GembaHandoff", {**ids, "envelope": document})

    def _given(self, dispatch_id: str) -> tuple[str, bool]:
        """The name to hand off with, and whether findings have to be consolidated, as the dispatch says."""
        own_name = f"a{self._session.id.encode('utf-8', 'replace').hex()[-32:]}"
        if not dispatch_id:
            return own_name.ljust(6, "0"), False
        from gemba.handoff.given import read_given
        from gemba.handoff.given_file import input_envelope

        given = read_given(input_envelope(self._session.home, dispatch_id))
        return given.agent_id or own_name.ljust(6, "0"), given.consolidates

    def _report(self, state: str, note: str) -> None:
        self._session.append("GembaState", {"state": state, "note": note[: wire.MAX_NOTE]})

    def _client(self, hook: str, **payload: object) -> None:
        """A frame as the bridge of a client writes it."""
        told = {"session_id": self._session.id, "cwd": self._session.cwd, "hook_event_name": hook}
        self._session.append(hook, {**told, **payload})


def _program(name: str) -> str:
    """One of ours: beside the interpreter that runs this, else wherever it is found."""
    beside = os.path.join(os.path.dirname(sys.executable), name)
    return beside if os.access(beside, os.X_OK) else name


def _is_written(name: str) -> bool:
    return os.path.isfile(name) and os.path.getsize(name) > 0


def _environment(names: dict[str, str]) -> dict[str, str] | None:
    """What a command of a task is started with: our own programs are found, behind all others."""
    if not names:
        return None
    path = os.environ.get("PATH", os.defpath)
    return {**os.environ, **names, "PATH": path_with_programs(path, wire.home())}


def _make_room(artifact: str) -> None:
    """The folder for an artifact, and none of an earlier turn in it, which would pass for one of this."""
    if artifact:
        os.makedirs(os.path.dirname(artifact), exist_ok=True)
        if os.path.lexists(artifact):
            os.unlink(artifact)


def _write(artifact: str, text: str) -> None:
    descriptor = os.open(artifact, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    with os.fdopen(descriptor, "wb") as file:
        file.write(wire.valid_unicode(text).encode())


def _private_folder() -> str:
    """Of a name that nobody can know before; `tempfile` would take as long to load as the rest of this."""
    places = (os.environ.get("TMPDIR"), "/tmp", "/var/tmp", os.getcwd())  # noqa: S108 - the folder in it is private
    place = next((each for each in places if each and os.access(each, os.W_OK | os.X_OK)), os.curdir)
    folder = os.path.join(place, f"gemba-task-{os.urandom(8).hex()}")
    os.mkdir(folder, 0o700)
    return folder


def _remove(folder: str) -> None:
    """With whatever programs left in it, which is nothing most times."""
    try:
        os.rmdir(folder)
    except OSError:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def _told(path: str) -> Told:
    """What programs told of themselves; nothing where that is not JSON, or too much."""
    import json

    try:
        return Told(json.loads(wire.read_file(path, _MOST_EVIDENCE)))
    except (OSError, ValueError, RecursionError, Refused):
        return Told()


def _say(text: str) -> None:
    data = wire.valid_unicode(text).encode() + b"\n"
    while data:
        data = data[os.write(1, data) :]


def main() -> int:
    try:
        return Agent(Session.from_environment()).live()
    except Refused as refused:
        os.write(2, f"builtin: {refused}\n".encode("utf-8", "replace"))
        return 1
    except OSError as error:
        os.write(2, f"builtin: {explain(error)}\n".encode("utf-8", "replace"))
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    os._exit(main())  # nothing has to be tidied up, which would take its time
