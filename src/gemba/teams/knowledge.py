"""What a task leaves for others, read out of an accepted output envelope: findings, decisions, wisdom, its chain. Pure.

Items inside an envelope's lists are not judged by the verdict, so whatever stands there is taken as text, bounded and
on one line; nothing here raises. Where each thing comes from is decided once, in `state_of` and `wisdom_of`, and told
in docs/team-knowledge.md. Called by `publishing.py` and `loading.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from gemba.handoff import entries
from gemba.handoff.check import shown
from gemba.text import showable, storable

Kind = Literal["learnings", "decisions", "conventions", "issues"]
Verification = Literal["self-validated", "peer-reviewed", "tested"]
KINDS: tuple[Kind, ...] = get_args(Kind)
VERIFICATIONS: tuple[Verification, ...] = get_args(Verification)

MOST_FINDINGS = 5
LONGEST_FINDING = 99  # characters: under 100
LONGEST_WORDS = 1_000  # of one entry of wisdom that an agent brings, of a decision, of its reason
MOST_DECISIONS = 10
LONGEST_DECISION = 300
MOST_FILES = 100
LONGEST_PATH = 200
_BYTES_OF_FILES = 20_000  # of paths in a state, which goes out as a message
MOST_OF_A_KIND = 20  # entries of wisdom that one envelope brings
MOST_ANGLES = 20
LONGEST_ANGLE = 200

# `<task id>-<name>.md`: no id of a task is the beginning of another one's and a hyphen.
_TASK = r"[A-Z][A-Z0-9_]{0,31}-[0-9]{3,5}"
TASK_ID = re.compile(_TASK)
_ARTIFACT = re.compile(rf"({_TASK})-[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*\.md")
LONGEST_NAME = 150
ARTIFACT_RULE = (
    "the task's id, a hyphen, and letters and digits with single hyphens, dots or underscores between, then .md"
)
_TEST = re.compile(r"\btest", re.IGNORECASE)


class Decision(msgspec.Struct, frozen=True):
    decision: str
    reason: str


class Reported(msgspec.Struct, frozen=True, kw_only=True):
    """What a task says of itself to those after it: the data of the `state_update` that the engine sends. `ref` is the
    path of its artifact in the run's folder, else of the first file that it changed."""

    task_id: str
    ref: str | None = None
    key_findings: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    files_modified: tuple[str, ...] = ()
    verification: Verification | None = None

    def as_data(self) -> dict[str, Any]:
        data: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return data


class CollectedArtifact(msgspec.Struct, frozen=True):
    """An artifact as it was found in a worktree. The digest (SHA-256) and the size are those of `content` in UTF-8."""

    name: str
    task_id: str
    content: str
    digest: str
    size: int
    lines: int


class Exploration(msgspec.Struct, frozen=True):
    """What somebody found out from one angle, and the digest of each file that was read for it, by its path."""

    angle: str
    summary: str
    files: dict[str, str]
    task_id: str | None = None


class Words(NamedTuple):
    """Wisdom that something brings, before it has a number."""

    kind: Kind
    words: str


def artifact_task(name: str) -> str | None:
    """The task that an artifact belongs to by its name; None where this is no name of an artifact."""
    found = _ARTIFACT.fullmatch(name) if len(name) <= LONGEST_NAME else None
    return None if found is None else found[1]


# ---- out of an envelope ----------------------------------------------------------------------------------------------


def state_of(
    document: Mapping[str, Any],
    *,
    task_id: str,
    artifacts: Sequence[str] = (),
    reviewer: str | None = None,
    author: str | None = None,
    before: Sequence[Mapping[str, Any]] = (),
) -> Reported:
    """The state update of an accepted envelope; `artifacts` are the names that were found, `reviewer` who reviewed.
    `before` are the envelopes of its turns before this one: files that those changed are changed still."""
    proofs = [part_of(part_of(each, "evidence_report"), "verification") for each in (*before, document)]
    proof = proofs[-1]
    named = dict.fromkeys(path for each in proofs for path in paths_in(each, "files_modified", "files_produced"))
    modified = tuple(islice(named, MOST_FILES))
    return Reported(
        task_id=task_id,
        ref=_ref(proof, artifacts) or (modified[0] if modified else None),
        key_findings=tuple(findings_of(document)),
        decisions=tuple(islice(decisions_of(document), MOST_DECISIONS)),
        files_modified=modified,
        verification=_verification(proof, reviewer, author),
    )


def findings_of(document: Mapping[str, Any]) -> list[str]:
    """At most five, each under 100 characters: key_outputs, else the summary for the person."""
    found = lines_in(part_of(document, "evidence_report"), "key_outputs", LONGEST_FINDING, MOST_FINDINGS)
    summary = line_of(document.get("user_facing_summary") or "", LONGEST_FINDING)
    return found or ([summary] if summary else [])


def decisions_of(document: Mapping[str, Any]) -> Iterator[Decision]:
    """What is suggested to be remembered as a decision: what was decided, and why."""
    for entry in entries.suggestions_of(dict(document)):
        if entry.get("type") == "decision":
            reason = line_of(entry.get("rationale") or "", LONGEST_DECISION) or line_of(entry["body"], LONGEST_DECISION)
            yield Decision(line_of(entry["description"], LONGEST_DECISION), reason)


def wisdom_of(document: Mapping[str, Any]) -> list[Words]:
    """What an accepted envelope tells to the whole team, each thing once.

    learnings: what is suggested to be remembered and is no decision, then the key findings; decisions: those with their
    reasons; conventions: patterns_checked; issues: cross_layer_impacts, open_gaps, and conflicts of a consolidation.
    """
    report, consolidation = part_of(document, "evidence_report"), part_of(document, "consolidation_report")
    suggested = (entry for entry in entries.suggestions_of(dict(document)) if entry.get("type") != "decision")
    told = [line_of(f"{entry['description']}: {entry['body']}", LONGEST_WORDS) for entry in islice(suggested, 100)]
    by_kind: dict[Kind, list[str]] = {
        "learnings": [*told, *_lines(document, "memory_suggestions"), *findings_of(document)],
        "decisions": [f"{each.decision} (because: {each.reason})" for each in islice(decisions_of(document), 100)],
        "conventions": _lines(report, "patterns_checked"),
        "issues": [
            *_lines(report, "cross_layer_impacts"),
            *_lines(report, "open_gaps"),
            *_lines(consolidation, "conflicts"),
        ],
    }
    return [Words(kind, words) for kind in KINDS for words in [*dict.fromkeys(by_kind[kind])][:MOST_OF_A_KIND] if words]


def wisdom_in_message(type_: str, summary: str, data: Mapping[str, Any]) -> list[Words]:
    """What a message on the bus tells to the whole team: a blocker, an error and a missing capability are issues, what
    a state update has decided is a decision. Others tell nothing."""
    if type_ in ("blocker", "error", "capability_gap"):
        words = line_of(summary, LONGEST_WORDS)
        return [Words("issues", words)] if words else []
    if type_ == "state_update":
        return [Words("decisions", f"{each.decision} (because: {each.reason})") for each in _decided(data)]
    return []


def angles_of(document: Mapping[str, Any], goal: str) -> list[str]:
    """From which sides a task looked at its files: the patterns that it checked, else its goal."""
    found = lines_in(part_of(document, "evidence_report"), "patterns_checked", LONGEST_ANGLE, MOST_ANGLES)
    return found or [angle for angle in [line_of(goal, LONGEST_ANGLE)] if angle]


def files_read_in(document: Mapping[str, Any]) -> list[str]:
    return lines_in(part_of(document, "evidence_report"), "files_checked", LONGEST_PATH, MOST_FILES)


def accumulated(update: Reported, artifacts: Sequence[str], document: Mapping[str, Any], goal: str) -> dict[str, Any]:
    """What a task adds for those after it in its chain."""
    return {
        "goal": line_of(goal, LONGEST_ANGLE),
        "summary": line_of(document.get("user_facing_summary") or "", LONGEST_WORDS),
        "key_findings": [*update.key_findings],
        "decisions": [f"{each.decision} (because: {each.reason})" for each in update.decisions],
        "files_modified": [*update.files_modified],
        "artifacts": [*artifacts],
        "pending_steps": lines_in(part_of(document, "agent_status"), "pending_steps", LONGEST_WORDS, MOST_OF_A_KIND),
    }


def read_state(task_id: str, state: object) -> Reported:
    """A task's state as it was merged on the bus, where its versions and others added to it: the latest, bounded."""
    data = state if isinstance(state, dict) else {}
    said = data.get("verification")
    ref = line_of(data.get("ref"), LONGEST_PATH)
    return Reported(
        task_id=task_id,
        ref=ref or None,
        key_findings=tuple(lines_in(_latest(data, "key_findings", MOST_FINDINGS), "", LONGEST_FINDING, MOST_FINDINGS)),
        decisions=tuple(_decided(data)),
        files_modified=tuple(paths_in(_latest(data, "files_modified", MOST_FILES), "")),
        verification=next((each for each in VERIFICATIONS if each == said), None),
    )


def _latest(data: Mapping[str, Any], key: str, most: int) -> dict[str, Any]:
    found = data.get(key)
    return {"": found[-most:] if isinstance(found, list) else []}


def _decided(data: Mapping[str, Any]) -> Iterator[Decision]:
    for entry in _latest(data, "decisions", MOST_DECISIONS)[""]:
        told = entry if isinstance(entry, dict) else {"decision": entry}
        words = line_of(told.get("decision"), LONGEST_DECISION)
        if words:
            yield Decision(words, line_of(told.get("reason"), LONGEST_DECISION) or "no reason was given")


def _ref(proof: Mapping[str, Any], artifacts: Sequence[str]) -> str:
    """The artifact that the envelope names first, else the first one that was found."""
    named = (path.rpartition("/")[2] for path in paths_in(proof, "artifacts_written"))
    found = next((name for name in named if name in artifacts), None) or next(iter(artifacts), None)
    return "" if found is None else f"artifacts/{found}"


def _verification(proof: Mapping[str, Any], reviewer: str | None, author: str | None) -> Verification:
    """Tested: it names a command that ended well, or tests as its method; what is claimed was compared before."""
    method = proof.get("verification_method")
    ran = isinstance(proof.get("command"), str) and type(proof.get("exit_code")) is int and proof["exit_code"] == 0
    if ran or (isinstance(method, str) and _TEST.search(method)):
        return "tested"
    return "peer-reviewed" if reviewer is not None and reviewer != author else "self-validated"


# ---- texts -----------------------------------------------------------------------------------------------------------


def part_of(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def lines_in(part: Mapping[str, Any], key: str, longest: int, most: int) -> list[str]:
    """The first items of a list as lines, each once; a text alone is one."""
    value = part.get(key)
    items = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    found = dict.fromkeys(line for item in items[: most * 10] if (line := line_of(item, longest)))
    return [*found][:most]


def paths_in(part: Mapping[str, Any], *keys: str) -> list[str]:
    """The paths of lists whose items are paths, or objects that have one: those that lead into the worktree."""
    found: dict[str, None] = {}
    left = _BYTES_OF_FILES
    for key in keys:
        items = part.get(key)
        for item in islice(items if isinstance(items, list) else (), MOST_FILES):
            path = item.get("path") if isinstance(item, dict) else item
            if isinstance(path, str) and path not in found and _leads_inside(path) and len(path.encode()) <= left:
                left -= len(path.encode())
                found[path] = None
    return [*found][:MOST_FILES]


def _leads_inside(path: str) -> bool:
    if not 0 < len(path) <= LONGEST_PATH or path != storable(showable(path)) or path != " ".join(path.split()):
        return False
    return not path.startswith(("/", "\\", "~")) and ".." not in path.replace("\\", "/").split("/")


def line_of(value: object, longest: int) -> str:
    """Whatever it is, as text on one line that a database takes; what is too long is cut."""
    words = value if isinstance(value, str) else "" if value is None else shown(value, longest)
    flat = " ".join(storable(words[: longest * 8 + 8]).split())
    return flat if len(flat) <= longest else f"{flat[: longest - 1]}…"


def _lines(part: Mapping[str, Any], key: str) -> list[str]:
    return lines_in(part, key, LONGEST_WORDS, MOST_OF_A_KIND)
