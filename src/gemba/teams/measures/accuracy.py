"""Is what is claimed so? Computed checks of accuracy; pure. Called by `measuring.py`.

Commands of the project count here too, unless their settings say otherwise: `measuring.py` adds them.
"""

from __future__ import annotations

from collections.abc import Callable

from gemba.teams.gates import Dimension
from gemba.teams.measures.row import ALL, ARTIFACT, Found, Row, none_of
from gemba.teams.seen import Seen, is_of_gemba

# What the handoff has compared with the world. Line counts are consistency; what is not committed or not pushed says
# nothing of the work, since the engine commits it.
WORLD = {
    "files_produced": "Files said to be produced are there, with something in them.",
    "artifacts_written": "Artifacts said to be written are there, with something in them.",
    "files_modified": "Files said to be modified differ from what they were when the turn began.",
    "commands_run": "Commands said to have run are among those that the client recorded, with that end.",
    "verification": "The command that is said to verify the work is among those that the client recorded.",
    "tool_calls": "Something was done at all: the client recorded a tool call.",
    "rerun_verification": "The command that verifies the work, run once more, ends as claimed.",
    "rerun_commands": "Commands said to have run, run once more, end as claimed.",
}


def _world(name: str) -> Callable[[Seen], Found | None]:
    def look(seen: Seen) -> Found | None:
        told = [each for each in seen.world(name) if each.verdict != "unknown"]
        if not told:
            return None
        wrong = [f"{each.claimed}: {each.found}" for each in told if each.verdict == "failed"]
        return none_of(wrong, f"{len(wrong)} of {len(told)} claims are not so", f"all {len(told)} claims are so")

    return look


def _changes_real(seen: Seen) -> Found | None:
    if not seen.work.compared or not (seen.said.modified or seen.said.produced):
        return None
    return none_of(unreal_changes(seen), "said to be changed, and not changed", "what is said to be changed is")


def unreal_changes(seen: Seen) -> list[str]:
    """Files that the envelope says it wrote and that git does not know of as changed. One that was produced and is
    there may be a file that git ignores."""
    if not seen.work.compared:
        return []
    changed = {folder for each in seen.work.changed for folder in _with_folders(each.path)}
    there = {each.name for each in seen.work.known}
    unreal = {path for path in seen.said.modified if path not in changed}
    unreal |= {path for path in seen.said.produced if path not in changed and path not in there}
    return sorted(path for path in unreal if not is_of_gemba(path))


def _with_folders(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:many]) for many in range(1, len(parts) + 1)]


def _verified(seen: Seen) -> Found | None:
    if not seen.said.verification:
        return None
    result, code = seen.said.result(), seen.said.exit_code()
    if code:
        return Found(False, f"its own verification ended with exit code {code}")
    if result != "pass":
        return Found(False, f"its own verification says {result[:40] or 'nothing'}, not pass")
    return Found(True, "its own verification passed")


def _references(seen: Seen) -> Found | None:
    if not any(each.line for each in seen.mentions):
        return None
    return none_of(wrong_references(seen), "no such line", "every line that is referred to is there")


def wrong_references(seen: Seen) -> list[str]:
    """Places such as `src/a.py:120` in a file that has not as many lines."""
    lines = {each.name: each.lines for each in seen.work.known}
    found = set()
    for each in seen.mentions:
        many = lines.get(each.path)
        if each.line and many is not None and each.line > many:
            found.add(f"{each.path}:{each.line} (it has {many:,})")
    return sorted(found)


D = Dimension.ACCURACY
ROWS = (
    *(Row(f"world: {name}", D, ALL, _world(name), sentence) for name, sentence in WORLD.items()),
    Row("changes are real", D, ALL, _changes_real, "Files that the envelope says it wrote are changed, as git has it."),
    Row("verification passed", D, ALL, _verified, "The envelope's own verification says pass, and exit code 0 if any."),
    Row(
        "references hold",
        D,
        ARTIFACT,
        _references,
        "A place such as `src/a.py:120` in an artifact is a line of the file.",
    ),
)
