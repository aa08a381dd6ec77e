"""What came of a walk, as lines without a model: every decision, what is open, what follows, and nothing else."""

from typing import Any

import msgspec

from gemba.skills.consult import walk_summary
from gemba.skills.consult.registry import SKILLS
from gemba.walks.summary_lines import MOST_FINDINGS, summary_lines
from gemba.walks.walk import (
    AgendaItem,
    Applied,
    Decision,
    Framing,
    ItemStatus,
    Source,
    SourceKind,
    Totals,
    WalkAction,
    WalkDetail,
    WalkStatus,
)

AT = "2026-05-04T09:30:00Z"
ACTION = WalkAction("Answer: use UTC", "POST", "/api/escalations/esc-1/respond", {"text": "use UTC"})


def entry(number: int, status: ItemStatus, decision: Decision | None = None, **more: Any) -> AgendaItem:
    facts = {"settled": None, "framing": Framing("What now?", "", [ACTION]), **more}
    source = Source(SourceKind.ESCALATION, f"esc-{number}", "worker-1")
    return AgendaItem(
        id=f"a-{number}",
        topic=f"Topic\n{number}",
        source=source,
        priority=0,
        place=number,
        status=status,
        since=AT,
        decision=decision,
        **facts,
    )


def decided(kind: Any, **more: Any) -> Decision:
    return Decision(kind=kind, by="ann", at=AT, rationale=more.pop("rationale", ""), **more)


def walk(*agenda: AgendaItem, **more: Any) -> WalkDetail:
    made = [item.decision.kind for item in agenda if item.decision is not None]
    totals = Totals(
        items=len(agenda),
        left=sum(item.status in (ItemStatus.QUEUED, ItemStatus.ACTIVE) for item in agenda),
        decided=sum(item.status is ItemStatus.DECIDED for item in agenda),
        deferred=0,
        dismissed=0,
        decisions={kind: made.count(kind) for kind in dict.fromkeys(made)},
        applied=1,
        work_touched=more.pop("touched", []),
        consults=0,
        dollars=0.0,
        seconds=60,
    )
    facts = {"label": "Monday", "status": WalkStatus.COMPLETED, "ended_at": AT, **more}
    return WalkDetail(
        id="w-1",
        persona_id="project-manager",
        started_by="ann",
        started_at=AT,
        changed_at=AT,
        items=len(agenda),
        left=totals.left,
        active_item=None,
        agenda=list(agenda),
        transcript=[],
        consults=[],
        totals=totals,
        synopsis=None,
        summary=None,
        as_of=1,
        **facts,
    )


def said(one: WalkDetail) -> list[dict[str, Any]]:
    """The lines, which the skill's own judge has to take."""
    lines = msgspec.to_builtins(summary_lines(one))
    judge = SKILLS["walk_summary"].judge(walk_summary.WalkSummaryInput(one.id))
    judge.receive_all(lines)
    assert (judge.line_errors, judge.finish()) == ([], [])
    found: list[dict[str, Any]] = lines
    return found


def test_each_decision_has_a_finding_with_its_reason_and_references() -> None:
    applied = Applied(200, "esc-1")
    strategy, *findings, summary = said(
        walk(
            entry(1, ItemStatus.DECIDED, decided("ratify", action=ACTION, applied=applied)),
            entry(2, ItemStatus.DECIDED, decided("reject", rationale="not\nnow")),
            entry(3, ItemStatus.DEFERRED, decided("handoff", persona_id="qa", consult_id="c-1")),
            entry(4, ItemStatus.DEFERRED, decided("defer", until="2026-05-05T09:30:00Z")),
            entry(5, ItemStatus.QUEUED, framing=None),
            entry(6, ItemStatus.DISMISSED, settled="answered by bob"),
            touched=["shop-1", "shop-2"],
        )
    )

    assert "2 of 6 items were decided" in strategy["reasoning"]
    assert [finding["text"] for finding in findings] == [
        f"Topic 1: ratified (Answer: use UTC; POST /api/escalations/esc-1/respond, answered 200), by ann at {AT}.",
        "Topic 2: rejected, by ann at 2026-05-04T09:30:00Z. Because: not now",
        "Topic 3: handed to qa, by ann at 2026-05-04T09:30:00Z.",
        "Topic 4: deferred until 2026-05-05T09:30:00Z, by ann at 2026-05-04T09:30:00Z.",
        "Open: Topic 5: it was not looked at; it waits since 2026-05-04T09:30:00Z.",
        "Settled elsewhere: Topic 6: answered by bob.",
        "qa goes on with: Topic 3.",
        "2 work items were changed by these decisions.",
    ]
    assert [finding["refs"] for finding in findings] == [
        *(["esc-1"], ["esc-2"], ["esc-3", "c-1"], ["esc-4"], ["esc-5"], ["esc-6"], ["esc-3", "c-1"]),
        ["shop-1", "shop-2"],
    ]
    assert summary["notes"].startswith("4 decisions (1 ratify, 1 reject, 1 defer, 1 handoff). Topic 1: ratified")
    assert summary["notes"].endswith("3 still open.")


def test_the_same_walk_gives_the_same_lines_and_an_empty_one_says_so() -> None:
    one = walk(status=WalkStatus.ACTIVE, ended_at=None, label="")

    assert said(one) == said(one)
    assert [line["type"] for line in said(one)] == ["strategy", "summary"]
    assert said(one)[0]["reasoning"].startswith("The walk w-1 was begun by ann at 2026-05-04T09:30:00Z and is active.")
    assert said(one)[1]["notes"] == "Nothing was decided. 0 still open."


def test_of_very_many_items_the_first_are_told_and_how_many_more() -> None:
    lines = said(walk(*(entry(number, ItemStatus.QUEUED) for number in range(MOST_FINDINGS + 7))))

    assert len(lines) == MOST_FINDINGS + 3
    assert lines[-2]["text"] == "7 more items that are open stand in the walk itself."
