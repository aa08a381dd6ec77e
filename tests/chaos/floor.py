"""A floor at work while its server dies again and again: agents that ask, operators that answer, a witness that reads.

`Mortal` is the server with its deaths; everybody else works through it and takes a broken connection for what it is:
a reason to try again with the next server. What each of them was told is kept: in the end a test compares it with
what the store says.
"""

import http.client
import json
import random
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from gemba import wire
from tests.fixtures.servers import Answer, RunningServer

DOOMED = (str(Path(__file__).with_name("doomed.py")),)
PATIENCE = 60.0
_LIFE = 20.0  # seconds that a server gets to reach the point where it dies

T = TypeVar("T")


def doom(point: str, passage: int, record: Path) -> str:
    """What doomed.py is told."""
    return json.dumps({"point": point, "passage": passage, "record": str(record)})


class Mortal:
    """One workspace's server, and the number of its lives."""

    def __init__(self, server: RunningServer, record: Path) -> None:
        self.server = server
        self._record = record
        self._changed = threading.Condition()
        self._life = 0
        self.errors = ""  # of all its lives, as far as they ended at a point

    def live_until(self, point: str, passage: int, at_most: float = _LIFE) -> None:
        """A life that ends at the point; one that never gets there is ended from outside, at whatever it does."""
        if self.live(DOOMED, GEMBA_DOOM=doom(point, passage, self._record)):
            try:
                self.server.process.wait(at_most)
            except subprocess.TimeoutExpired:
                self.server.process.kill()
        _, errors = self.server.process.communicate()
        self.errors += errors.decode()
        assert self.server.process.returncode == -9, errors.decode()

    def die_during(self, point: str, passage: int, work: Callable[[], T]) -> T:
        """A life that ends at the point while the work is done, and another one in which it is completed."""
        assert self.live(DOOMED, GEMBA_DOOM=doom(point, passage, self._record))
        with ThreadPoolExecutor(1) as other:
            done = other.submit(work)
            self.server.process.wait(_LIFE)
            self.server.process.communicate()
            self.live()
            return done.result(PATIENCE)

    def live(self, command: tuple[str, ...] = (), **environment: str) -> bool:
        """The next life; False when it ended before anybody could reach it."""
        if self.server.is_running:
            self.server.kill()
        before = self.server.environment
        self.server.environment = {**before, **environment}
        try:
            self.server.start(command)
        except AssertionError:
            if self.server.process.returncode != -9:
                raise
            return False
        finally:
            self.server.environment = before
        with self._changed:
            self._life += 1
            self._changed.notify_all()
        return True

    def died_at(self) -> list[str]:
        """The points at which it killed itself, in order."""
        return self._record.read_text().splitlines() if self._record.exists() else []

    def persist(self, attempt: Callable[[RunningServer], T]) -> T:
        """Try until a server lives long enough to do it."""
        while True:
            life = self._life
            try:
                return attempt(self.server)
            except (OSError, http.client.HTTPException, EOFError):
                self._outlive(life)

    def _outlive(self, life: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self._life > life, PATIENCE), "no server came back"

    def request(self, method: str, path: str, body: Any = None, confirm: str = "") -> Answer:
        """Sent again and again with the same confirm id, as a careful client does."""

        def attempt(server: RunningServer) -> Answer:
            answer = server.request(method, path, body, **({"X_GEMBA_Confirm": confirm} if confirm else {}))
            if answer.status == 401:  # the port of a dead server may be another test's by now
                raise ConnectionError("not our server")
            return answer

        return self.persist(attempt)


class Somebody(threading.Thread):
    """Works in a thread of its own until told to end. What went wrong is told by the test, not by the thread."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.ended = threading.Event()
        self.trouble: list[str] = []

    def run(self) -> None:
        try:
            self.work()
        except Exception as error:  # noqa: BLE001 - the test tells it
            self.trouble.append(f"{self.name}: {error!r}")

    def work(self) -> None:
        raise NotImplementedError


class Asked(NamedTuple):
    """One ask, as its agent saw it. `printed` and `code` are what a wait came to; None for an ask without one."""

    text: str
    event_id: str
    printed: str | None = None
    code: int | None = None
    killed_at: str | None = None  # what it had printed when it was killed and its wait taken up by another process


class Agent(Somebody):
    """Asks with real commands, one after the other, in every way there is; now and then as a new session."""

    def __init__(self, server: RunningServer, name: str, seed: str) -> None:
        super().__init__(name)
        self._server = server
        self._draw = random.Random(seed)
        self._session = name
        self.asked: list[Asked] = []

    def work(self) -> None:
        ways = (self._ask, self._wait, self._withdraw, self._die_and_resume)
        while not self.ended.is_set():
            text = f"{self.name} asks {wire.new_event_id()}"
            if self._draw.random() < 0.3:
                self._session = f"{self.name}-{len(self.asked)}"
            (way,) = self._draw.choices(ways, (6, 8, 2, 2))
            self.asked.append(way(text))

    def _ask(self, text: str) -> Asked:
        out, errors = self._run("--kind", "question", "--role", "coach", "--text", text)
        assert out.endswith("advisory: go on\n"), errors
        return Asked(text, out.split()[0])

    def _wait(self, text: str) -> Asked:
        process, event_id = self._begin_wait(text)
        return self._end_wait(process, Asked(text, event_id))

    def _withdraw(self, text: str) -> Asked:
        process, event_id = self._begin_wait(text)
        # Refused when the answer was first, and then the wait has that.
        withdrawal = self._server.ask("--withdraw", event_id, session=self._session)
        withdrawal.communicate(timeout=PATIENCE)
        return self._end_wait(process, Asked(text, event_id))

    def _die_and_resume(self, text: str) -> Asked:
        process, event_id = self._begin_wait(text)
        process.kill()
        printed, _ = process.communicate(timeout=PATIENCE)
        resumed = self._server.ask("--resume", event_id, session=self._session)
        return self._end_wait(resumed, Asked(text, event_id, killed_at=printed))

    def _begin_wait(self, text: str) -> tuple["subprocess.Popen[str]", str]:
        arguments = ("--kind", "blocker", "--role", "manager", "--text", text, "--wait")
        process = self._server.ask(*arguments, session=self._session)
        assert process.stderr is not None
        return process, process.stderr.readline().split()[0]

    def _end_wait(self, process: "subprocess.Popen[str]", asked: Asked) -> Asked:
        try:
            printed, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return asked._replace(printed=printed, code=process.returncode)

    def _run(self, *arguments: str) -> tuple[str, str]:
        return self._server.ask(*arguments, session=self._session).communicate(timeout=PATIENCE)


class Sent(NamedTuple):
    """A request of an operator and its answer."""

    path: str
    body: dict[str, str]
    confirm: str
    answer: Answer


class Operator(Somebody):
    """Answers or declines what is unresolved, in any order, with words that nobody else uses."""

    def __init__(self, mortal: Mortal, name: str, seed: str) -> None:
        super().__init__(name)
        self._mortal = mortal
        self._draw = random.Random(seed)
        self.sent: list[Sent] = []

    def work(self) -> None:
        while (waiting := self._unresolved()) or not self.ended.is_set():
            if waiting:
                self.sent.append(self._settle(self._draw.choice(waiting)["id"]))
            else:
                self.ended.wait(0.02)

    def _unresolved(self) -> list[dict[str, Any]]:
        answer = self._mortal.request("GET", "/api/escalations?state=unresolved&limit=20")
        assert answer.status == 200, answer
        found: list[dict[str, Any]] = answer.json["escalations"]
        return found

    def _settle(self, id: str) -> Sent:
        confirm = wire.new_event_id()
        verb = self._draw.choice(("respond", "respond", "dismiss"))
        path, body = f"/api/escalations/{id}/{verb}", {"text": f"{self.name} says {confirm}"}
        return Sent(path, body, confirm, self._mortal.request("POST", path, body, confirm))


class Witness(Somebody):
    """Reads the event log as a page does: resumes behind the last event it has seen."""

    def __init__(self, mortal: Mortal) -> None:
        super().__init__("witness")
        self._mortal = mortal
        self._changed = threading.Condition()
        self.seen: list[dict[str, Any]] = []

    def work(self) -> None:
        self._mortal.persist(self._follow)

    def wait_for(self, enough: Callable[[list[dict[str, Any]]], bool]) -> None:
        """Until it has seen enough, or for a good while."""
        with self._changed:
            self._changed.wait_for(lambda: enough(self.seen), PATIENCE)

    def _follow(self, server: RunningServer) -> None:
        stream = server.events(after=self.seen[-1]["id"] if self.seen else 0)
        try:
            while True:
                event = stream.next()
                with self._changed:
                    self.seen.append(event["data"] | {"event": event["event"]})
                    self._changed.notify_all()
        except (OSError, http.client.HTTPException, EOFError):
            if not self.ended.is_set():
                raise
        finally:
            stream.close()
