"""A whole run's graph in memory: which tasks can begin, what the end of one frees or skips, what runs again. Pure.

Kept by counters: a task's end costs what its dependents are, however large the run. The engine keeps the same counters
in rows; both decide by `task.effects_of`. Called by whoever runs a plan in one process, and by tests as the reference.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from gemba.errors import Conflict, NotFound
from gemba.teams.plan import PlanTask
from gemba.teams.task import DONE, ENDED, LOST, Dependent, Effects, Lost, Skip, TaskState, effects_of

S = TaskState


class Advance(NamedTuple):
    """How a run goes on behind a task. `one`: a single successor, which begins without a round of the coordinator.
    `in_session` is the next task of the chain, for the session that is there; `start` are all others."""

    kind: Literal["none", "one", "all"]
    in_session: str | None
    start: tuple[str, ...]


def advance(task: PlanTask, ready: Sequence[PlanTask]) -> Advance:
    """What begins when a task has freed these successors."""
    following = next((each.id for each in ready if task.inner_loop and each.chain == task.chain), None)
    kind: Literal["none", "one", "all"] = "none" if not ready else "one" if len(ready) == 1 else "all"
    return Advance(kind, following, tuple(each.id for each in ready if each.id != following))


class Schedule:
    """Tasks in graph order, as a plan has them. A task counts as pending until its end is told."""

    def __init__(self, tasks: Iterable[PlanTask]) -> None:
        self._blockers = {task.id: task.blocked_by for task in tasks}
        self._place = {id: number for number, id in enumerate(self._blockers)}
        self._dependents: dict[str, list[str]] = {id: [] for id in self._blockers}
        for id, before in self._blockers.items():
            for each in before:
                self._dependents[each].append(id)
        self._open = {id: len(before) for id, before in self._blockers.items()}
        self._state = dict.fromkeys(self._blockers, S.PENDING)
        self._lost: dict[str, Lost] = {}
        self._unended = len(self._state)

    def ready(self) -> tuple[str, ...]:
        """All that can begin; asked at the start of a run, whose every further step is told by `end`."""
        return tuple(id for id, many in self._open.items() if not many and self._state[id] is S.PENDING)

    def state_of(self, id: str) -> TaskState:
        if id not in self._state:
            raise NotFound(f"the plan has no task {id[:60]}", code="unknown_task", found=id[:60])
        return self._state[id]

    @property
    def is_over(self) -> bool:
        return not self._unended

    def end(self, id: str, state: TaskState) -> Effects:
        """A task has ended so: who can begin now, and who is skipped, with those who depend on them in turn."""
        found = self.state_of(id)
        allowed = frozenset[TaskState]() if found is not S.PENDING else LOST if self._open[id] else ENDED
        if state not in allowed:
            waits = f" and waits for {self._open[id]} more" if found is S.PENDING and self._open[id] else ""
            raise Conflict(
                f"{id} is {found}{waits}: it cannot end as {state}",
                code="illegal_end",
                found=str(found),
                allowed=[each.value for each in S if each in allowed],
            )
        self._settle(id, state)
        if state in DONE:
            effects = effects_of(id, self._facts(id))
            for each in self._dependents[id]:
                self._open[each] -= 1
            return effects
        return Effects(skipped=tuple(self._skip_behind(Lost(id, state))))

    def again(self, id: str) -> tuple[str, ...]:
        """A task that has ended begins anew: it, and all behind it that was done or skipped for it, in graph order.

        What failed or was skipped by itself stays so, and so does what is behind that."""
        if self.state_of(id) not in ENDED:
            raise Conflict(
                f"{id} is {self._state[id]}: only what has ended can begin anew",
                code="illegal_again",
                found=str(self._state[id]),
                allowed=[each.value for each in S if each in ENDED],
            )
        gone = [before for before in self._blockers[id] if self._state[before] in LOST]
        if gone:
            raise Conflict(
                f"{id} depends on {gone[0]}, which is {self._state[gone[0]]}: that one has to begin anew first",
                code="lost_blocker",
                found=gone,
                allowed=[each.value for each in S if each in DONE],
            )
        self._reopen(id)
        reopened = [id]
        for each in self._behind(id):
            self._open[each] = sum(self._state[before] not in DONE for before in self._blockers[each])
            stays = any(self._state[before] in LOST for before in self._blockers[each])
            if self._state[each] in DONE or (each in self._lost and self._lost[each].first is not None and not stays):
                self._reopen(each)
                reopened.append(each)
        return tuple(reopened)

    def _facts(self, id: str) -> list[Dependent]:
        return [Dependent(each, self._state[each], self._open[each]) for each in self._dependents[id]]

    def _skip_behind(self, lost: Lost) -> Iterable[Skip]:
        first, waiting = lost, deque([lost])
        self._lost[lost.id] = lost
        while waiting:
            at = waiting.popleft()
            for skip in effects_of(at, self._facts(at.id)).skipped:
                self._settle(skip.id, S.SKIPPED)
                self._lost[skip.id] = Lost(skip.id, S.SKIPPED, first)
                waiting.append(self._lost[skip.id])
                yield skip

    def _settle(self, id: str, state: TaskState) -> None:
        self._state[id] = state
        self._unended -= 1

    def _reopen(self, id: str) -> None:
        self._state[id] = S.PENDING
        self._lost.pop(id, None)
        self._unended += 1

    def _behind(self, id: str) -> list[str]:
        """All that waits for a task, over whatever others, in graph order."""
        seen, waiting = {id}, [id]
        for at in waiting:
            for each in self._dependents[at]:
                if each not in seen:
                    seen.add(each)
                    waiting.append(each)
        return sorted(waiting[1:], key=self._place.__getitem__)
