"""The driver: an agent in a terminal, made of a client that takes one prompt and ends.

For each prompt that is typed it runs the client once, in one conversation, and shows what its stream tells as a person
would read it. It is the client's hooks, too: it tells the bridge when the session starts, when a prompt comes and when
a turn ends, and a turn that may not end yet goes on with what the bridge says. Ctrl-D, or the end of its terminal, ends
the session; a client that fails ends it with the client's exit code.

Run by the keeper for agent types whose `hooks` name one of `CLIENTS`. What it runs lies in `driver.json` of the run's
folder, which is named by its only argument and gone once it is read. Standard library only.
"""

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from gemba import wire
from gemba.sessions.driver.client import Failed, run_turn
from gemba.sessions.driver.heard import Conversation, Heard, Ran, Read, Said, Trouble, Used
from gemba.sessions.driver.hooks import Bridge
from gemba.sessions.prompts import Interrupts, open_prompts, prompts
from gemba.speaker import Session, explain
from gemba.wire import Refused

FILE = "driver.json"

_MOST_REPAIRS = 8  # of one turn; the bridge lets go long before
_SHOWN_LINES = 20  # of what a tool printed
_LONGEST_OUTPUT = 2_000  # characters of it in a frame


class Driver:
    def __init__(self, session: Session, spec: dict[str, Any]) -> None:
        self._session = session
        self._first: list[str] = spec["command"]
        self._resume: list[str] = spec["resume"]
        self._opening: str = spec["opening"]
        self._bridge = Bridge(spec["bridge"])
        self._read: Read = import_module(f"gemba.sessions.driver.{spec['client']}").reader()
        self._conversation = ""
        self._said, self._goes_on, self._trouble = "", False, ""
        self._used = Used(0, 0)  # in all that was told

    def live(self) -> int:
        """Turn after turn; the exit code."""
        interrupts = Interrupts()
        open_prompts(interrupts)
        briefing = self._bridge.tell("SessionStart", source="startup")
        try:
            if self._opening:
                self._take(interrupts, self._opening, briefing)
                briefing = ""
            for prompt in prompts():
                self._take(interrupts, prompt, briefing)
                briefing = ""
        except Failed as failed:
            _show(f"! {failed}")
            return failed.code  # without a word of its end: the keeper tells how that was
        self._bridge.tell("SessionEnd", reason="other")
        return 0

    def _take(self, interrupts: Interrupts, prompt: str, briefing: str) -> None:
        try:
            interrupts.in_turn = True
            self._turn(prompt, briefing)
            interrupts.in_turn = False
            self._report("ready", "")
        except KeyboardInterrupt:
            _show("Interrupted.")
            self._report("ready", "interrupted")

    def _turn(self, prompt: str, briefing: str) -> None:
        _show(f"> {prompt}")
        self._report("working", "")
        answers = self._bridge.tell("UserPromptSubmit", prompt=prompt)
        words: str | None = "\n\n".join(part for part in (briefing, answers, prompt) if part)
        for _ in range(_MOST_REPAIRS):
            self._run(words or "")
            words, said = self._bridge.end_turn(self._said)
            if said:
                _show(f"! {said}")
            if words is None:
                return
            _show(f"> {words}")
        _show("! the turn may not end, and its agent does not mend it")
        raise Failed(1)

    def _run(self, prompt: str) -> None:
        self._said, self._goes_on, self._trouble = "", False, ""
        words = self._resume if self._conversation else self._first
        for told in run_turn(words, prompt, self._conversation, self._read):
            if isinstance(told, str):
                _show(told)
            else:
                self._hear(told)
        if self._goes_on:
            _show("")

    def _hear(self, told: Heard) -> None:
        if self._goes_on and not isinstance(told, Said):
            _show("")
        match told:
            case Conversation(id):
                self._conversation = id
            case Said(text, goes_on):
                self._said = self._said + text if self._goes_on else text
                _write(text if goes_on else f"{text}\n")
            case Ran():
                self._has_run(told)
            case Used():
                self._has_used(told)
            case Trouble(text):
                if text != self._trouble:  # clients say the same again, while they try and when they give up
                    _show(f"! {text}")
                self._trouble = text
        self._goes_on = isinstance(told, Said) and told.goes_on

    def _has_used(self, used: Used) -> None:
        taken, made = used.input_tokens, used.output_tokens
        if used.in_all:
            taken, made = taken - self._used.input_tokens, made - self._used.output_tokens
            self._used = used
        since = {"input_tokens": max(taken, 0), "output_tokens": max(made, 0)}
        self._session.append("GembaUsage", {**since, "cost_usd": used.cost_usd})

    def _has_run(self, ran: Ran) -> None:
        """A frame as a client's hook writes it: what the agent says that it ran is compared with these."""
        line = ran.input.get("command") if ran.tool == "Bash" else None
        _show(f"$ {line}" if line else f"* {ran.tool} {json.dumps(ran.input, ensure_ascii=False)[:500]}")
        lines = ran.output.rstrip("\n").split("\n") if ran.output.strip() else []
        for shown in lines[:_SHOWN_LINES]:
            _show(f"  {shown}")
        if len(lines) > _SHOWN_LINES:
            _show(f"  … {len(lines) - _SHOWN_LINES} more lines")
        response: dict[str, object] = {"is_error": ran.ok is False, "stdout": ran.output[-_LONGEST_OUTPUT:]}
        if ran.ok is None:
            response["exit_code"] = None  # as it is told where nobody knows it
        event = "PostToolUseFailure" if ran.ok is False else "PostToolUse"
        told = {"session_id": self._session.id, "cwd": self._session.cwd, "hook_event_name": event}
        self._append(event, {**told, "tool_name": ran.tool, "tool_input": ran.input, "tool_response": response})

    def _append(self, hook: str, payload: dict[str, object]) -> None:
        try:
            self._session.append(hook, payload)
        except Refused:  # too long for a frame: that it ran is kept all the same
            self._session.append(hook, {**payload, "tool_input": {}, "tool_response": {}})

    def _report(self, state: str, note: str) -> None:
        self._session.append("GembaState", {"state": state, "note": note})


def _show(text: str) -> None:
    _write(f"{text}\n")


def _write(text: str) -> None:
    """Words are data: what would steer a terminal is left out."""
    plain = "".join([char for char in text if char in "\n\t" or (char >= " " and not "\x7f" <= char <= "\x9f")])
    data = wire.valid_unicode(plain).encode()
    while data:
        data = data[os.write(1, data) :]


def read_spec(folder: Path) -> dict[str, Any]:
    file = folder / FILE
    spec: dict[str, Any] = json.loads(file.read_bytes())
    file.unlink()  # the task is in it
    return spec


def main() -> int:
    try:
        return Driver(Session.from_environment(), read_spec(Path(sys.argv[1]))).live()
    except Refused as refused:
        _show(f"driver: {refused}")
    except OSError as error:
        _show(f"driver: {explain(error)}")
    except KeyboardInterrupt:
        return 130
    return 1


if __name__ == "__main__":
    os._exit(main())
