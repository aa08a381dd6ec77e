"""The OpenAPI document: complete, current, and kept by the server whatever is sent to it."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from gemba import wire
from gemba.api import openapi
from gemba.api.asgi import OPENAPI, api_routes
from gemba.api.metrics import Meter
from gemba.store.hub import Hub
from gemba.testing import SEED, effort
from tests.fixtures.api import Api
from tests.fixtures.teams import TASKS, new_run

ROOT = Path(__file__).parents[2]
Operation = APIOperation[Any, Any, Any, Any]
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]

document = openapi.document()
schema = schemathesis.openapi.from_dict(msgspec.to_builtins(document))
# A stream has no end to wait for.
OPERATIONS = {
    result.ok().label: result.ok()
    for result in schema.get_all_operations()
    if isinstance(result, Ok) and result.ok().path != "/api/events"
}


# ---- the document ----------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_every_route_is_in_the_document_and_the_other_way_round(api: Api) -> None:
    mounted = {
        (route.path, method.lower())
        for route in api_routes(api.app, Hub(api.app.database), heartbeat=15, meter=Meter())
        for method in (route.methods or set()) - {"HEAD"}
        if route.path != OPENAPI
    }
    described = {(path, method) for path, methods in document["paths"].items() for method in methods}

    assert described == mounted


def test_the_server_gives_out_the_document_it_was_made_from(api: Api) -> None:
    assert api.request("GET", OPENAPI).json == json.loads(msgspec.json.encode(document))


def test_the_document_is_openapi_3_1_and_every_reference_leads_somewhere() -> None:
    assert document["openapi"].startswith("3.1.")
    references = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert references <= set(document["components"]["schemas"])
    assert len(OPERATIONS) == sum(map(len, document["paths"].values())) - 1


def test_every_operation_has_a_name_of_its_own_and_says_what_it_does() -> None:
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]

    assert len({operation["operationId"] for operation in operations}) == len(operations)
    assert all(operation["summary"] for operation in operations)


def test_what_is_public_is_said_to_want_no_token(api: Api) -> None:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            answer = api.request(method.upper(), path.replace("{id}", "1"), Authorization="")
            assert (answer.status == 401) == (operation.get("security") is None), (method, path)


def test_every_action_is_said_to_want_a_confirm_id() -> None:
    for methods in document["paths"].values():
        for method, operation in methods.items():
            headers = {parameter["name"] for parameter in operation["parameters"] if parameter.get("required")}
            assert ("X-GEMBA-Confirm" in headers) == (method != "get")


# ---- what was made from it -------------------------------------------------------------------------------------------


def test_the_page_s_copy_of_the_document_is_current() -> None:
    printed = subprocess.run([sys.executable, "-m", "gemba.api.openapi"], capture_output=True, check=True).stdout

    assert (ROOT / "web/openapi.json").read_bytes() == printed, "the API has changed: `make types`"


def test_the_page_s_types_are_current() -> None:
    generator = ROOT / "web/codegen/node_modules/.bin/openapi-typescript"
    assert generator.exists(), "`make test` installs the generator of the page's types"
    command = [str(ROOT / "scripts/with-node"), "codegen/node_modules/.bin/openapi-typescript", "openapi.json"]
    options = json.loads((ROOT / "web/codegen/package.json").read_text())["scripts"]["types"].split()
    flags = [option for option in options if option.startswith("--default")]

    generated = subprocess.run([*command, *flags], capture_output=True, check=True)

    assert (ROOT / "web/src/api/schema.d.ts").read_bytes() == generated.stdout, "the API has changed: `make types`"


# ---- what is sent to it ----------------------------------------------------------------------------------------------


@pytest.mark.fuzz
@pytest.mark.parametrize("label", OPERATIONS)
def test_whatever_is_sent_the_server_keeps_what_the_document_says(api: Api, label: str) -> None:
    operation = OPERATIONS[label]
    known = seeded(api)

    @seed(SEED)
    @settings(max_examples=effort(5, 100), deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=cases_of(operation), id=st.none() | st.just("new") | st.sampled_from(known))
    def keeps(case: schemathesis.Case[Any], id: str | None) -> None:
        if id is not None and "id" in case.path_parameters:
            case.path_parameters["id"] = fresh(api, operation) if id == "new" else id
        headers = {"Authorization": f"Bearer {api.token}", "X-GEMBA-Confirm": wire.new_event_id()}
        response = case.call(base_url=api.url, headers=headers)
        case.validate_response(response, checks=CHECKS)

    keeps()


def cases_of(operation: Operation) -> st.SearchStrategy[schemathesis.Case[Any]]:
    """What fits the document and, where there is anything to send, what does not."""
    takes = (operation.body, operation.query, operation.path_parameters, operation.headers)
    modes = [*schemathesis.GenerationMode] if any(takes) else [schemathesis.GenerationMode.POSITIVE]
    return st.one_of([operation.as_strategy(mode) for mode in modes])


def seeded(api: Api) -> list[str]:
    """One escalation of each way it can go, an assumption and a team run; their frames are taken in at once."""
    question = {"kind": "question", "role": "manager", "mode": "balanced", "text": "Which port?"}
    answered, dismissed = (api.append("GembaAsk", question) for _ in range(2))
    typed = api.append("GembaAsk", question, "typed")
    api.append("UserPromptSubmit", {"prompt": "typed"}, "typed")
    options = {"options": ["red", "green"], "title": "Colour", "bead_id": "gm-1"}
    asked = api.append("GembaAsk", {**question, **options}, "other")
    permission = api.permission()
    assumed = api.assume()
    api.post(f"/api/escalations/{answered}/respond", {"text": "yes"})
    api.post(f"/api/escalations/{dismissed}/dismiss", {})
    with api.app.database.transaction() as tx:
        run = new_run(tx)
    api.post(f"/api/teams/{run}/messages", {"type": "state_update", "summary": "x", "data": {"task_id": TASKS[0]}})
    return [answered, dismissed, typed, asked, permission, assumed, run]


def fresh(api: Api, operation: Operation) -> str:
    return api.assume() if "assumptions" in operation.path else api.ask(options=["red", "green"])
