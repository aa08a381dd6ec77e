"""The browser fixtures keep their own promises: a real page, an accessibility check that sees, nothing shared."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Error, Page

ADDRESS = "http://localhost/"
# As strict as the product's own: what runs under it runs on the real page.
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'"
GOOD = "<!doctype html><html lang=en><title>t</title><main><h1>Inbox</h1><button>Answer</button></main></html>"
BAD = "<!doctype html><title>t</title><main><h1>Inbox</h1><button></button></main>"


def show(page: Page, html: str) -> None:
    headers = {"content-security-policy": POLICY, "content-type": "text/html"}
    page.route(ADDRESS, lambda route: route.fulfill(body=html, headers=headers))
    page.goto(ADDRESS)


def test_axe_has_nothing_against_a_sound_page(page: Page, axe: Callable[[Page], list[str]]) -> None:
    show(page, GOOD)

    assert axe(page) == []


def test_axe_finds_what_is_wrong_under_a_strict_content_policy(page: Page, axe: Callable[[Page], list[str]]) -> None:
    show(page, BAD)

    assert {line.split(" ")[0] for line in axe(page)} == {"button-name", "html-has-lang"}


@pytest.mark.parametrize("round_", [1, 2])
def test_a_page_remembers_nothing_of_the_test_before(page: Page, round_: int) -> None:
    show(page, GOOD)

    assert page.evaluate("localStorage.getItem('round')") is None
    page.evaluate("round => localStorage.setItem('round', round)", round_)


def test_the_browser_reaches_nothing_outside(page: Page) -> None:
    with pytest.raises(Error, match="ERR_NAME_NOT_RESOLVED"):
        page.goto("http://outside.example/")
