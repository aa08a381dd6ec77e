"""A run's plan: built from an analysis or proposed, its order and chains, and every fault by its name."""

import random
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.errors import Invalid, NotFound
from gemba.teams.analysis import analyse
from gemba.teams.plan import Plan, ProposedPlan, chains_of, graph_order
from gemba.teams.plan_check import RULES, PlanFault
from gemba.teams.planning import accept, plan_from, read_plan, with_revision

ALL_SEVEN = "investigate, plan, design, write, build, review and test"


def role(name: str, prefix: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "prefix": prefix, **more}


def task(id: str, *blocked_by: str, owner: str = "developer") -> dict[str, Any]:
    return {"id": id, "owner": owner, "goal": f"Do {id}", "blocked_by": list(blocked_by)}


def plan(*tasks: dict[str, Any], roles: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {"roles": [role("developer", "IMPL")] if roles is None else roles, "tasks": list(tasks)}


def faults(document: dict[str, Any]) -> list[PlanFault]:
    with pytest.raises(Invalid, match=r".") as refused:
        read_plan(document)
    found: list[PlanFault] = refused.value.extra["findings"]
    assert (refused.value.code, refused.value.pointer) == (found[0].code, found[0].pointer)
    return found


def blockers(made: Plan) -> dict[str, tuple[str, ...]]:
    return {task.id: task.blocked_by for task in made.tasks}


# ---- from an analysis ------------------------------------------------------------------------------------------------


def test_a_plan_has_a_task_a_capability_and_each_waits_for_the_tier_before() -> None:
    made = plan_from(analyse("investigate, design, write, build and test"))

    assert blockers(made) == {
        "RESEARCH-001": (),
        "DESIGN-001": ("RESEARCH-001",),
        "DRAFT-001": ("DESIGN-001",),
        "IMPL-001": ("DESIGN-001",),
        "TEST-001": ("DRAFT-001", "IMPL-001"),
    }
    assert [role.name for role in made.roles] == ["researcher", "designer", "writer", "developer", "tester"]
    assert not any(task.inner_loop for task in made.tasks)


def test_what_joined_a_role_follows_in_its_chain() -> None:
    made = plan_from(analyse(ALL_SEVEN))

    assert blockers(made)["RESEARCH-002"] == ("RESEARCH-001",)
    assert blockers(made)["DESIGN-001"] == ("RESEARCH-001", "RESEARCH-002")
    assert blockers(made)["ANALYSIS-002"] == ("DRAFT-001", "IMPL-001", "ANALYSIS-001")
    assert [(task.id, task.chain) for task in made.tasks if task.inner_loop] == [
        ("RESEARCH-001", "RESEARCH-001"),
        ("RESEARCH-002", "RESEARCH-001"),
        ("ANALYSIS-001", "ANALYSIS-001"),
        ("ANALYSIS-002", "ANALYSIS-001"),
    ]


def test_a_text_without_a_known_word_is_one_general_task() -> None:
    [only] = plan_from(analyse("hello")).tasks

    assert (only.id, only.owner, only.blocked_by, only.chain, only.inner_loop) == (
        "TASK-001",
        "general",
        (),
        "TASK-001",
        False,
    )


words = st.lists(
    st.sampled_from(["investigate", "plan", "schedule", "design", "write", "build", "review", "test", "x"])
)


@given(words)
def test_every_analysis_has_one_plan_in_graph_order(drawn: list[str]) -> None:
    analysis = analyse(" ".join(["a", *drawn]))
    made = plan_from(analysis)

    assert made == plan_from(analysis)
    assert len(made.tasks) == len(analysis.capabilities)
    seen: set[str] = set()
    for task in made.tasks:
        assert seen.issuperset(task.blocked_by)
        seen.add(task.id)
    assert {task.owner for task in made.tasks} == {role.name for role in analysis.roles}


# ---- faults ----------------------------------------------------------------------------------------------------------

TWO = [role("developer", "IMPL"), role("tester", "TEST")]
SIX = [role(name, name.upper()) for name in ("a", "b", "c", "d", "e", "f")]
FAULTS: list[tuple[dict[str, Any], str, str, str]] = [
    (plan(roles=[]), "empty_plan", "/roles", "the plan has no roles; allowed: at least one"),
    (
        plan(*(task(f"{each['prefix']}-001", owner=each["name"]) for each in SIX), roles=SIX),
        "too_many_roles",
        "/roles/5",
        '"f" is role 6; allowed: 5',
    ),
    (
        plan(task("IMPL-001", owner="../x"), roles=[role("../x", "IMPL")]),
        "invalid_role",
        "/roles/0/name",
        'roles/0/name is "../x"; allowed: small letters, digits, - and _, as in developer',
    ),
    (
        plan(task("IMPL-001"), roles=[role("developer", "impl")]),
        "invalid_prefix",
        "/roles/0/prefix",
        'roles/0/prefix is "impl"; allowed: capital letters and digits, as in IMPL',
    ),
    (
        plan(task("IMPL-001"), roles=[role("developer", "IMPL"), role("developer", "DEV")]),
        "duplicate_role",
        "/roles/1/name",
        'role "developer" is there already, as roles/0; allowed: each once',
    ),
    (
        plan(
            task("IMPL-001"),
            task("IMPL-002", owner="coder"),
            roles=[role("developer", "IMPL"), role("coder", "IMPL")],
        ),
        "duplicate_prefix",
        "/roles/1/prefix",
        'prefix "IMPL" is there already, as roles/0; allowed: each once',
    ),
    (
        plan(task("IMPL-001"), task("IMPL-001")),
        "duplicate_id",
        "/tasks/1/id",
        'task "IMPL-001" is there already, as tasks/0; allowed: each once',
    ),
    (
        plan(task("IMPL-1")),
        "invalid_id",
        "/tasks/0/id",
        'tasks/0/id is "IMPL-1"; allowed: a prefix, - and a number of three digits, as in IMPL-001',
    ),
    (
        plan(task("IMPL-001"), task("IMPL-002", owner="develper")),
        "unknown_owner",
        "/tasks/1/owner",
        'the owner of "IMPL-002" is "develper", which is no role of the plan; did you mean developer?',
    ),
    (
        plan(task("TEST-001"), task("TEST-002", owner="tester"), roles=TWO),
        "wrong_prefix",
        "/tasks/0/id",
        '"TEST-001" belongs to developer; allowed: an id that begins with IMPL-',
    ),
    (
        plan(task("IMPL-001", "IMPL-009")),
        "missing_blocker",
        "/tasks/0/blocked_by/0",
        '"IMPL-001" is blocked by "IMPL-009"; allowed: tasks of the plan',
    ),
    (
        plan({**task("IMPL-001"), "options": {"command": {"run": "make", "artifact": "../build.md"}}}),
        "invalid_command",
        "/tasks/0/options/command/artifact",
        (
            'tasks/0/options/command/artifact is "../build.md"; allowed: letters, digits, - and _, and .md at the end, '
            "as in report.md"
        ),
    ),
    (
        plan(task("IMPL-001", "IMPL-002"), task("IMPL-002", "IMPL-001"), task("IMPL-003")),
        "cycle",
        "/tasks/0/blocked_by",
        "tasks wait for each other in a circle: IMPL-001 → IMPL-002 → IMPL-001; allowed: a graph without one",
    ),
    (
        plan(task("IMPL-001"), roles=TWO),
        "unreachable_part",
        "/roles/1",
        'role "tester" owns no task; allowed: roles that have something to do',
    ),
]


@pytest.mark.parametrize(("document", "code", "pointer", "words"), FAULTS, ids=[each[1] for each in FAULTS])
def test_a_fault_is_refused_by_its_name_and_place(
    document: dict[str, Any], code: str, pointer: str, words: str
) -> None:
    found = next(fault for fault in faults(document) if fault.code == code)

    assert (found.pointer, found.message) == (pointer, words)


def test_every_rule_has_its_plan() -> None:
    assert {rule.code for rule in RULES} <= {code for _, code, _, _ in FAULTS}


def test_one_fault_is_told_alone() -> None:
    for document, code, _, _ in FAULTS[1:]:
        assert {fault.code for fault in faults(document)} == {code}, code


@pytest.mark.parametrize(
    "id", ["IMPL-000", "IMPL-01", "IMPL-0001", "IMPL", "impl-001", "IMPL-001\n", "../IMPL-001", "1-001"]
)
def test_an_id_is_a_prefix_and_a_number(id: str) -> None:
    assert "invalid_id" in {fault.code for fault in faults(plan(task(id)))}


def test_a_thousandth_task_has_four_digits() -> None:
    assert read_plan(plan(task("IMPL-999"), task("IMPL-1000", "IMPL-999"))).tasks[1].id == "IMPL-1000"


def test_a_task_that_blocks_itself_is_a_circle_of_one() -> None:
    [found] = faults(plan(task("IMPL-001", "IMPL-001")))

    assert (found.code, found.found) == ("cycle", ["IMPL-001", "IMPL-001"])


def test_what_waits_for_a_circle_is_unreachable() -> None:
    found = faults(
        plan(
            task("IMPL-001", "IMPL-002"),
            task("IMPL-002", "IMPL-001"),
            task("IMPL-003", "IMPL-002"),
            task("IMPL-004", "IMPL-003"),
            task("IMPL-005"),
        )
    )

    assert [(fault.code, fault.pointer) for fault in found] == [
        ("cycle", "/tasks/0/blocked_by"),
        ("unreachable_part", "/tasks/2"),
        ("unreachable_part", "/tasks/3"),
    ]
    assert found[1].message == '"IMPL-003" can never begin: it waits for "IMPL-002", which cannot'


def test_each_circle_is_printed() -> None:
    found = faults(
        plan(*(task(f"IMPL-{n:03}", f"IMPL-{n ^ 1:03}") for n in range(2, 6)))  # 2 and 3, 4 and 5
    )

    assert [fault.found for fault in found] == [
        ["IMPL-002", "IMPL-003", "IMPL-002"],
        ["IMPL-004", "IMPL-005", "IMPL-004"],
    ]


def test_a_long_circle_is_cut_in_words_and_whole_for_programs() -> None:
    [found] = faults(plan(*(task(f"IMPL-{n + 1:03}", f"IMPL-{(n + 1) % 300 + 1:03}") for n in range(300))))

    assert "→ … → IMPL-001" in found.message
    assert len(found.found) == 301


def test_all_faults_are_told_at_once() -> None:
    document = plan(task("IMPL-001", owner="nobody"), task("IMPL-001", "IMPL-007"))

    with pytest.raises(Invalid, match=r"\(and 2 more\)$"):
        read_plan(document)
    assert [fault.code for fault in faults(document)] == ["duplicate_id", "unknown_owner", "missing_blocker"]


@pytest.mark.parametrize(
    ("document", "code", "pointer"),
    [
        ([], "wrong_type", ""),
        ({"roles": []}, "missing_field", "/tasks"),
        ({"roles": [], "tasks": [], "steps": []}, "unknown_field", "/steps"),
        (plan({"id": "IMPL-001", "owner": "developer"}), "missing_field", "/tasks/0/goal"),
        (plan({**task("IMPL-001"), "blocked_by": "IMPL-002"}), "wrong_type", "/tasks/0/blocked_by"),
    ],
)
def test_what_is_no_plan_is_refused_with_its_place(document: Any, code: str, pointer: str) -> None:
    with pytest.raises(Invalid, match=r".") as refused:
        read_plan(document)

    assert (refused.value.code, refused.value.pointer) == (code, pointer)


# ---- order and chains ------------------------------------------------------------------------------------------------


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    """Graphs without a circle, of two prefixes, given in any order."""
    many = draw(st.integers(1, 12))
    ids = [f"{draw(st.sampled_from(['IMPL', 'TEST']))}-{number + 1:03}" for number in range(many)]
    before = {id: tuple(draw(st.sets(st.sampled_from(ids[:at]))) if at else ()) for at, id in enumerate(ids)}
    shuffled = list(before.items())
    random.Random(draw(st.integers(0, 99))).shuffle(shuffled)
    return dict(shuffled)


def proposed(graph: dict[str, tuple[str, ...]], **forbid: bool) -> ProposedPlan:
    names = {"IMPL": "developer", "TEST": "tester"}
    used = {id.partition("-")[0] for id in graph}
    document = {
        "roles": [role(names[prefix], prefix, **forbid) for prefix in sorted(used)],
        "tasks": [task(id, *before, owner=names[id.partition("-")[0]]) for id, before in graph.items()],
    }
    return msgspec.convert(document, ProposedPlan)


@given(graphs())
def test_a_plan_stands_in_graph_order_and_has_every_task(graph: dict[str, tuple[str, ...]]) -> None:
    made = accept(proposed(graph))

    seen: set[str] = set()
    for each in made.tasks:
        assert seen.issuperset(each.blocked_by)
        assert set(each.blocked_by) == set(graph[each.id])
        seen.add(each.id)
    assert seen == graph.keys()


@given(graphs())
def test_a_chain_is_a_path_of_tasks_of_one_prefix(graph: dict[str, tuple[str, ...]]) -> None:
    made = accept(proposed(graph))

    members: dict[str, list[str]] = {}
    for each in made.tasks:
        members.setdefault(each.chain, []).append(each.id)
        assert each.inner_loop is (sum(other.chain == each.chain for other in made.tasks) >= 2)
    for first, chain in members.items():
        assert chain[0] == first
        assert len({id.partition("-")[0] for id in chain}) == 1
        assert all(before in graph[after] for before, after in pairwise(chain))


@given(graphs())
def test_a_role_may_forbid_the_inner_loop(graph: dict[str, tuple[str, ...]]) -> None:
    assert not any(task.inner_loop for task in accept(proposed(graph, inner_loop=False)).tasks)


@pytest.mark.parametrize(
    ("graph", "chains"),
    [
        ({"A-001": (), "A-002": ()}, ["A-001", "A-002"]),
        ({"A-001": (), "A-002": ("A-001",)}, ["A-001", "A-001"]),
        ({"A-001": (), "B-001": ("A-001",), "A-002": ("B-001",)}, ["A-001", "B-001", "A-002"]),
        ({"A-001": (), "A-002": ("A-001",), "A-003": ("A-001",)}, ["A-001", "A-001", "A-003"]),
        ({"A-001": (), "A-002": (), "A-003": ("A-001", "A-002")}, ["A-001", "A-002", "A-002"]),
        ({"A-001": (), "A-002": ("A-001",), "A-003": ("A-001", "A-002")}, ["A-001", "A-001", "A-001"]),
    ],
)
def test_chains(graph: dict[str, tuple[str, ...]], chains: list[str]) -> None:
    assert list(chains_of(graph).values()) == chains


def test_graph_order_keeps_what_is_given_where_nothing_speaks_against_it() -> None:
    assert graph_order({"c": (), "b": ("a",), "a": (), "d": ()}) == ["c", "a", "b", "d"]


def test_a_blocker_that_is_named_twice_counts_once() -> None:
    assert read_plan(plan(task("IMPL-001"), task("IMPL-002", "IMPL-001", "IMPL-001"))).tasks[1].blocked_by == (
        "IMPL-001",
    )


# ---- revisions -------------------------------------------------------------------------------------------------------


def test_a_revision_stands_before_all_that_waits_for_the_held_task() -> None:
    made = plan_from(analyse("design, build, test"))

    revised, id = with_revision(made, "IMPL-001", "Do it again, with the index")

    assert id == "IMPL-002"
    assert blockers(revised) == {
        "DESIGN-001": (),
        "IMPL-001": ("DESIGN-001",),
        "IMPL-002": ("DESIGN-001",),
        "TEST-001": ("IMPL-001", "IMPL-002"),
    }
    added = revised.tasks[2]
    assert (added.owner, added.goal, added.chain) == ("developer", "Do it again, with the index", "IMPL-001")


def test_a_revision_of_nothing_is_refused() -> None:
    with pytest.raises(NotFound, match="the plan has no task IMPL-009"):
        with_revision(plan_from(analyse("build")), "IMPL-009", "x")
