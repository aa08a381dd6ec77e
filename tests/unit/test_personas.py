"""Personas: what is shipped, what a workspace makes of it, every fault with its line, and what no file may say."""

import os
import re
from pathlib import Path

import pytest

from gemba.config import Finding, Workspace
from gemba.errors import Invalid, NotFound
from gemba.personas.file import MOST_BYTES, MOST_FILES, Personas, parse_persona, read_personas, shipped
from gemba.personas.persona import Authority
from tests.fixtures.advisors import persona, text_of, with_purview

IDS = ["project-manager", "architect", "security", "qa", "deployment-engineer", "documentarian", "coordinator"]
SKILLS = [
    *("epic_order", "ask", "refine", "escalation_handoff", "what_remains", "add_to_backlog", "change_this"),
    *("sprint_retro", "perspective", "walk_summary"),
]
TEMPLATE = Path(__file__).parents[2] / "src/gemba/template/personas/README.md"


def findings_of(text: str | bytes, id: str = "own", skills: list[str] | None = None) -> list[Finding]:
    raw = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(Invalid, match=rf"^{id}\.toml:\d+: ") as refused:
        parse_persona(raw, id, skills)
    found: list[Finding] = refused.value.extra["findings"]
    assert f"{id}.toml:{found[0].line}: {found[0].message}" in refused.value.message
    return found


def only_finding(text: str, id: str = "own", skills: list[str] | None = None) -> tuple[int, str]:
    (found,) = findings_of(text, id, skills)
    return found.line, found.message


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / ".gemba" / "personas"
    folder.mkdir(parents=True)
    return folder


def read(folder: Path, skills: list[str] | None = None) -> Personas:
    return read_personas(Workspace(folder.parents[1]), skills)


# ---- shipped ------------------------------------------------------------------------------------------------------


def test_a_workspace_without_files_has_the_shipped_personas(tmp_path: Path) -> None:
    found = read_personas(Workspace(tmp_path), SKILLS)

    assert list(found.by_id) == IDS
    assert found.faults == []
    assert {each.origin for each in found.by_id.values()} == {"shipped"}


def test_the_project_manager_is_as_the_product_says() -> None:
    pm = shipped()["project-manager"]

    assert (pm.name, pm.role, pm.variety, pm.scope.kind) == ("PM", "Project Manager", "coach", "project")
    assert list(pm.skills) == SKILLS
    assert pm.personality.id == "calm"
    assert pm.perspective.statement == "coordination, sequencing, scope discipline, escalation triage"
    assert pm.perspective.triggers == ("epic_state_changed", "sprint_overrun", "ready_set_empty", "parallel_conflict")
    assert pm.perspective.volunteer_mode == "on_demand"
    assert (pm.purview, pm.authority, pm.mutation_authority) == (None, None, None)
    model = pm.model
    assert (model.vendor, model.model, model.max_tokens, model.temperature) == (
        "anthropic",
        "claude-opus-4-7",
        8192,
        0.2,
    )
    assert (pm.budget_policy.max_per_invocation_dollars, pm.budget_policy.max_per_day_dollars) == (0.25, 10.0)
    reads = ("project_summary", "project_state", "decisions_log", "sprint_context", "active_escalations")
    assert pm.context_providers.reads == reads


@pytest.mark.parametrize(
    ("id", "variety", "domain", "phases", "authority"),
    [
        ("architect", "manager", "design", ("design", "building"), "strong"),
        ("security", "manager", "auth", (), "blocking"),
        ("qa", "manager", "testing", ("validating", "shipping"), "blocking"),
        ("deployment-engineer", "manager", "shipping", ("shipping",), "blocking"),
        ("documentarian", "coach", "docs", ("shipping",), "advisory"),
    ],
)
def test_domain_owners_answer_for_their_domains(
    id: str, variety: str, domain: str, phases: tuple[str, ...], authority: str
) -> None:
    owner = shipped()[id]

    assert owner.variety == variety
    assert owner.purview is not None
    assert (owner.purview.domain, owner.purview.active_phases) == (domain, phases)
    assert (owner.purview.blocking_authority, owner.authority) == (authority, authority)
    assert owner.mutation_authority is None


# ---- files --------------------------------------------------------------------------------------------------------


def test_a_file_makes_a_persona_and_its_name_is_the_id(folder: Path) -> None:
    (folder / "own.toml").write_text(text_of())

    found = read(folder)

    assert list(found.by_id) == [*IDS, "own"]
    assert (found.by_id["own"].origin, found.by_id["own"].budget_policy.max_per_day_dollars) == ("workspace", 0)


def test_a_file_takes_the_place_of_the_shipped_persona_of_its_name(folder: Path) -> None:
    (folder / "qa.toml").write_text(text_of())

    qa = read(folder).by_id["qa"]

    assert (qa.name, qa.origin, qa.purview) == ("Own", "replaced", None)
    assert list(read(folder).by_id) == IDS


def test_a_broken_file_is_named_with_its_line_and_the_rest_load(folder: Path) -> None:
    (folder / "broken.toml").write_text(text_of("[model]\nmax_tokens = 0\n"))
    (folder / "worse.toml").write_text("name = \n")
    (folder / "own.toml").write_text(text_of())

    found = read(folder)

    assert list(found.by_id) == [*IDS, "own"]
    assert [(fault.file, fault.line) for fault in found.faults] == [("broken.toml", 7), ("worse.toml", 1)]
    assert found.faults[0].message == "[model] max_tokens is 0; allowed: a whole number from 1 to 1,000,000"
    assert "not TOML" in found.faults[1].message


@pytest.mark.parametrize("mode", ["on_trigger", "always"])
def test_a_file_that_wants_to_speak_unasked_loads_and_is_named_with_its_line(folder: Path, mode: str) -> None:
    (folder / "critic.toml").write_text(text_of(f'[perspective]\nvolunteer_mode = "{mode}"\n'))
    (folder / "quiet.toml").write_text(text_of('[perspective]\nvolunteer_mode = "on_demand"\n'))

    found = read(folder)

    assert {"critic", "quiet"} <= found.by_id.keys()
    assert found.faults == []
    [note] = found.notes
    assert (note.file, note.line) == ("critic.toml", 7)
    assert note.message.startswith(
        f"[perspective] volunteer_mode is {mode}: no persona is consulted without being asked"
    )


def test_the_shipped_personas_speak_when_they_are_asked() -> None:
    assert {persona.perspective.volunteer_mode for persona in shipped().values()} == {"on_demand"}


def test_where_a_shipped_ones_file_is_broken_the_shipped_one_keeps_its_purview_and_spends_nothing(folder: Path) -> None:
    (folder / "security.toml").write_text(text_of("colour = 1\n"))

    found = read(folder)

    security = found.by_id["security"]
    assert security.authority is Authority.BLOCKING
    assert security.budget_policy.max_per_day_dollars == security.budget_policy.max_per_invocation_dollars == 0
    assert "until it is right the shipped one answers for its purview, and spends nothing" in found.faults[0].message
    assert shipped()["security"].budget_policy.max_per_day_dollars == 5


def test_what_is_no_file_is_a_fault_and_what_is_no_toml_is_left_alone(folder: Path) -> None:
    (folder / "own.toml").mkdir()
    os.mkfifo(folder / "pipe.toml")
    (folder / "README.md").write_text("# Personas")
    (folder / ".hidden.toml").write_text("x")

    found = read(folder)

    assert [(fault.file, fault.message) for fault in found.faults] == [
        ("own.toml", "this is not a file"),
        ("pipe.toml", "this is not a file"),
    ]


def test_too_many_files_and_too_long_ones_are_told(folder: Path) -> None:
    for number in range(MOST_FILES + 1):
        (folder / f"p{number:03}.toml").write_text(text_of())
    (folder / "p000.toml").write_bytes(b"#" * (MOST_BYTES + 1))

    found = read(folder)

    assert [fault.file for fault in found.faults] == [f"p{MOST_FILES}.toml", "p000.toml"]
    assert len(found.by_id) == len(IDS) + MOST_FILES - 1


def test_a_name_that_is_unknown_says_which_there_are_or_what_is_wrong_with_its_file(folder: Path) -> None:
    (folder / "own.toml").write_text("name = 1\n")
    found = read(folder)

    with pytest.raises(NotFound, match=r"did you mean security\?"):
        found.find("secuirty")
    with pytest.raises(NotFound, match=r"own\.toml:1: name is 1; allowed: a text"):
        found.find("own")


def test_every_fault_of_a_file_is_told_in_the_order_of_its_lines() -> None:
    text = text_of(
        'colour = "red"\n[purview]\ndomain = "x"\nactive_phases = ["born"]\n[budget_policy]\nmax_per_day_dollars = -1\n'
    )

    found = findings_of(text)

    assert [finding.line for finding in found] == [6, 9, 11]
    assert "unknown key" in found[0].message
    assert found[1].message.startswith('[purview] active_phases[1] is "born"; allowed: building or ')


@pytest.mark.parametrize("name", ["name", "role", "variety", "system_prompt"])
def test_what_is_needed_is_missed_by_its_name(name: str) -> None:
    text = "\n".join(line for line in text_of().splitlines() if not line.startswith(name))

    assert f"{name} is missing" in only_finding(text)[1]


def test_an_id_that_is_not_the_files_name_is_refused() -> None:
    assert only_finding(text_of('id = "other"\n')) == (
        6,
        'id is "other", and the file is called own.toml; allowed: own, or no id',
    )
    assert "small letters" in only_finding(text_of(), id="Own One")[1]


def test_a_skill_that_there_is_not_is_named_with_the_nearest() -> None:
    text = text_of().replace('["ask"]', '[\n  "ask",\n  "epic_oder",\n]')

    assert only_finding(text, skills=SKILLS) == (6, 'no skill is called "epic_oder"; did you mean epic_order?')
    assert parse_persona(text.encode(), "own").skills == ("ask", "epic_oder")


def test_a_placeholder_that_stands_for_nothing_is_refused() -> None:
    text = text_of().replace("{{workspace_name}}", "{{workspace}}")

    line, words = only_finding(text)

    assert (line, words.split(";")[0]) == (5, "system_prompt has {{workspace}}, which stands for nothing")


@pytest.mark.parametrize(
    ("scope", "line"),
    [('kind = "repository"', 7), ('kind = "any"\nrepository = "web"', 8), ('repository = "web"', 7)],
)
def test_a_repository_goes_with_the_scope_of_one(scope: str, line: int) -> None:
    assert only_finding(text_of(f"[scope]\n{scope}\n"))[0] == line
    assert persona('[scope]\nkind = "repository"\nrepository = "web"\n').scope.repository == "web"


def test_what_no_database_takes_is_made_storable() -> None:
    assert persona('[personality]\ndescription = "a\\u0000b"\n').personality.description == "a\ufffdb"


def test_what_stands_twice_in_a_list_is_refused() -> None:
    found = only_finding(text_of('[context_providers]\nreads = ["project_state",\n  "project_state"]\n'))

    assert found == (8, '[context_providers] reads[2] is "project_state", which stands there twice')


def test_the_example_for_people_is_a_persona_also_with_what_is_commented_out() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", TEMPLATE.read_text(), re.DOTALL)
    whole = example.replace("\n# [", "\n[").replace("\n# ", "\n").replace("\nWhat a manager", "\n# What a manager")

    data = parse_persona(example.encode(), "data", SKILLS)

    assert (data.name, data.mutation_authority) == ("Data", None)
    granted = parse_persona(whole.encode(), "data", SKILLS).mutation_authority
    assert granted is not None
    assert granted.actions == ("PATCH /api/work-items/*",)


# ---- what no file may say -----------------------------------------------------------------------------------------


def test_a_coach_that_wants_to_change_something_by_itself_is_refused() -> None:
    block = '[mutation_authority]\nactions = ["PATCH /api/work-items/*"]\nphases = ["building"]\n'

    assert only_finding(text_of(block, "coach")) == (
        6,
        "a coach has no mutation_authority: a person applies what it recommends",
    )
    assert persona(block, "manager").mutation_authority is not None


@pytest.mark.parametrize("authority", ["advisory", "strong", "blocking"])
@pytest.mark.parametrize("id", ["project-manager", "own"])
def test_a_project_manager_with_a_purview_is_refused(id: str, authority: str) -> None:
    purview = f'[purview]\ndomain = "docs"\nactive_phases = ["design"]\nblocking_authority = "{authority}"\n'
    text = text_of(purview).replace('"Reviewer"', '"Project Manager"' if id == "own" else '"Boss"')

    assert only_finding(text, id) == (6, "the Project Manager has no purview: it coordinates, and holds nothing")


def test_a_coachs_purview_that_would_block_is_refused_and_would_weigh_no_more_than_strong() -> None:
    purview = '[purview]\ndomain = "docs"\nactive_phases = ["design"]\nblocking_authority = "blocking"\n'

    line, words = only_finding(text_of(purview, "coach"))

    assert (line, words) == (9, "[purview] blocking_authority is blocking, of a coach; allowed: advisory or strong")
    assert with_purview("docs", "blocking", "design", variety="coach").authority is Authority.STRONG
    assert with_purview("docs", "blocking", "design").authority is Authority.BLOCKING


def test_a_perspective_can_be_given_no_authority() -> None:
    block = '[perspective]\nstatement = "all of it"\nblocking_authority = "blocking"\n'

    assert only_finding(text_of(block))[0] == 8


def test_a_purview_of_no_phase_is_refused_unless_it_is_auths() -> None:
    block = '[purview]\ndomain = "{}"\nactive_phases = []\n'

    assert only_finding(text_of(block.format("docs")))[0] == 8
    assert persona(block.format("auth")).purview is not None


@pytest.mark.parametrize("name", ["api_key", "key", "token", "headers"])
def test_a_key_of_a_model_has_no_place_in_a_file(name: str) -> None:
    line, words = only_finding(text_of(f'[model]\nmodel = "m"\n{name} = "sk-1"\n'))

    assert (line, "unknown key" in words, "sk-1" in words) == (8, True, False)


@pytest.mark.parametrize(
    "action",
    [
        "GET /api/work-items",
        "patch /api/x",
        "PATCH work-items",
        "POST /api/../x",
        "POST /api//x",
        "POST /api/x?y=1",
        "PATCH",
    ],
)
def test_an_action_that_names_no_change_is_refused_with_what_is_allowed(action: str) -> None:
    block = f'[mutation_authority]\nphases = ["building"]\nactions = [\n  "POST /api/work-items",\n  "{action}",\n]\n'

    line, words = only_finding(text_of(block))

    assert line == 10
    assert "allowed: POST, PATCH, PUT, DELETE and a path below /api/" in words
