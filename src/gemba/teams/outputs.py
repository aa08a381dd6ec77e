"""What a task's gate looks at: an artifact, code, or both. Pure."""

from __future__ import annotations

from gemba.teams.plan import Output, TaskOptions

_CHANGE_CODE = frozenset({"IMPL", "TEST", "TASK"})


def output_of(prefix: str, options: TaskOptions) -> Output:
    """As its plan says; else code and an artifact for developers and testers, an artifact for the others. A command
    task writes its artifact; whether it changes code is its own affair."""
    if options.output is not None:
        return options.output
    return "mixed" if prefix in _CHANGE_CODE and options.command is None else "artifact"
