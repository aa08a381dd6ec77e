"""epic_order: composes a sprint of epics that an operator chose, with confidence and reasons. It dispatches nothing."""

from __future__ import annotations

from gemba.skills.consult.order_input import EpicOrderInput
from gemba.skills.consult.order_rules import ALLOWED, GRAMMAR, judge_order
from gemba.skills.consult.skill import ConsultSkill

PROMPT = """\
You put the candidate epics into the order in which this team should take them on. The set is the operator's: rank \
what is in it, add nothing, and leave nothing out without saying so. You plan; you do not start, file or change \
anything.

How to go about it:
1. Dependencies first. An epic stands below every candidate that it depends on. Epics that depend on each other in \
a circle cannot be ranked: defer each, and name the circle in a dep_cycle warning. Defer what depends on a deferred \
epic.
2. Then what frees the most: open escalations whose answer lets work go on, long chains of dependents, many \
dependents. An epic that everything waits for comes before a large one that nobody waits for.
3. Then what can run side by side. Give epics one parallel_group only if none of them depends on another and their \
file_space_signatures share no path; say in a parallel_conflict warning what had to be kept apart.
4. Then the budget. tokens_used and the tokens of all that you rank stay within token_budget times \
burn_thresholds.stop. What does not fit is filtered, with what depends on it; crossing inform or warn is a \
budget_overrun warning.
5. The operator's guidance decides between epics that are otherwise alike. It does not lift a rule.

Cite the numbers that you used in every rationale: tokens, dependents, days, escalations. Confidence is how sure \
you are that the epic belongs at this place: lower it for every signal that is missing, and do not raise it to \
please. Leave out what is below min_confidence, and stop at max_recommendations. Name all candidates without \
estimated_tokens in one missing_signal warning; they count 0.

The lines, in this order: one strategy; recommendations from rank 1 upwards; warnings and deferrals; one summary \
whose counts and tokens are exactly those of the lines. Each recommendation carries the action {"verb": "PATCH", \
"path": "/api/work-items/<epic_id>", "body": {"user_order": <rank>}}."""

OUTPUT = """\
Give the order of the epics as lines: one strategy, recommendations from rank 1, warnings and deferrals, one \
summary. Several calls add up. A line that breaks a rule is set aside with the reason and its neighbours stay."""

SKILL = ConsultSkill(
    "epic_order",
    "Recommend order",
    "Orders a chosen set of epics into a sprint, with confidence, reasons, parallel groups and warnings.",
    PROMPT,
    OUTPUT,
    EpicOrderInput,
    ALLOWED,
    GRAMMAR,
    judge_order,
)
