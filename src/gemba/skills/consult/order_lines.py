"""What epic_order answers with: five types of lines, told apart by `type`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import msgspec

from gemba.skills.consult.order_input import Confidence, Count, Id
from gemba.skills.consult.suggested import SuggestedAction, item_path

WarningKind = Literal["parallel_conflict", "dep_cycle", "budget_overrun", "missing_signal"]
WARNING_KINDS: tuple[WarningKind, ...] = get_args(WarningKind)


class OrderStrategy(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="strategy", tag_field="type"):
    """First: what was considered, and how. `filtered` epics were left out for budget, confidence or number."""

    workspace: str
    as_of: str
    model: str
    reasoning: str
    total_considered: Count
    total_ranked: Count
    filtered: Count | None = None
    filter_reason: str | None = None


class OrderRecommendation(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="recommendation", tag_field="type"
):
    """An epic in its place. Those of one `parallel_group` can be worked on at the same time."""

    rank: Annotated[int, msgspec.Meta(ge=1, le=2**53)]
    epic_id: Id
    parallel_group: str | int | None = None
    confidence: Confidence
    rationale: str
    estimated_tokens: Count | None = None
    suggested_action: SuggestedAction


class OrderWarning(msgspec.Struct, frozen=True, kw_only=True, tag="warning", tag_field="type"):
    kind: WarningKind
    epic_ids: list[str]
    detail: str


class OrderDeferred(msgspec.Struct, frozen=True, kw_only=True, tag="deferred", tag_field="type"):
    """An epic that nothing can be done about now."""

    epic_id: Id
    reason: str


class OrderSummary(msgspec.Struct, frozen=True, kw_only=True, tag="summary", tag_field="type"):
    """Last: what the lines before add up to."""

    ranked: Count
    warnings: Count
    deferred: Count
    estimated_total_tokens: Count
    notes: str


OrderLine = OrderStrategy | OrderRecommendation | OrderWarning | OrderDeferred | OrderSummary


def ranking(epic_id: str, rank: int) -> SuggestedAction:
    """The action that puts an epic into its place."""
    body: dict[str, Any] = {"user_order": rank}
    return SuggestedAction("PATCH", item_path(epic_id), body)
