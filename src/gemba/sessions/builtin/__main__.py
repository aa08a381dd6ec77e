"""The built-in agent: a program that follows the plain lines of a prompt, and needs no model.

It asks through `gemba-ask`, runs commands, tells of itself in the session's log as the bridge of a client would, and
ends each turn in a handoff: COMPLETE when everything went well, BLOCKED with what is missing, NEEDS_INPUT for a prompt
that has no line for it (`steps.py` has them). Its prompt is its standard input; on a terminal there are more.

Run by the backends as `python -m gemba.sessions.builtin`, in the environment of a session. Quick to start: what only an
ask or a command needs is loaded then.
"""

import os
import sys

from gemba import wire
from gemba.sessions.builtin.steps import ASK_KINDS, Outcome, Step, contract, steps_of
from gemba.sessions.prompts import Interrupts, open_prompts, prompts
from gemba.speaker import Session, explain
from gemba.wire import Refused

_LONGEST_RUN = 3600.0  # seconds
_MOST_OUTPUT = 100_000  # bytes of a command
_ANSWERED = (wire.OUTCOME_EXIT["answered"], wire.OUTCOME_EXIT["default"])
_OUTCOMES = {code: outcome for outcome, code in wire.OUTCOME_EXIT.items()}


class Agent:
    """One session's agent, turn after turn."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._role = session.role or "coach"
        self._mode = session.interaction_mode()

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
        outcomes = []
        for step in steps_of(prompt):
            self._report("working", step.text)
            outcomes.append(self._run(step) if step.word == "run" else self._ask(step))
        self._hand_off(outcomes)

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

    def _run(self, step: Step) -> Outcome:
        from gemba import shell
        from gemba.errors import Unusable

        _say(f"$ {step.text}")
        call: dict[str, object] = {"tool_name": "Bash", "tool_input": {"command": step.text}}
        self._client("PreToolUse", **call)
        try:
            result = shell.run(["/bin/sh", "-c", step.text], timeout=_LONGEST_RUN, limit=_MOST_OUTPUT)
        except Unusable as fault:
            self._client("PostToolUse", **call, tool_response={"is_error": True, "stderr": fault.message})
            return Outcome(step, "", f"{step.text}: {fault.message}")
        output = (result.stdout + result.stderr).rstrip("\n")
        if output:
            _say(output)
        self._client("PostToolUse", **call, tool_response={"exit_code": result.code, "stdout": output[-2_000:]})
        missing = [name for name in step.choices if not _is_written(name)]
        if result.code != 0:
            return Outcome(step, output, f"{step.text}: exit code {result.code}", result.code)
        return Outcome(step, output, f"{step.text}: did not write {', '.join(missing)}" if missing else "", result.code)

    # -- what it tells of itself

    def _hand_off(self, outcomes: list[Outcome]) -> None:
        dispatch_id = self._session.dispatch_id
        agent_id, consolidates = self._given(dispatch_id)
        document = contract(agent_id, outcomes, consolidates=consolidates)
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
