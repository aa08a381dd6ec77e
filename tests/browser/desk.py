"""The operator's side of a browser test: the page of a running server, and what is on it, found as a person finds it.

A desk also watches what nobody sees: which requests the page makes, and what its content security policy refuses.
"""

import json
from subprocess import Popen
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Locator, Page, Request, expect

from tests.fixtures.servers import RunningServer

_PATIENCE = 30


class Desk:
    def __init__(self, page: Page, server: RunningServer, operator: str | None = None) -> None:
        """As the workspace's operator, or as one that is added by this name."""
        self.page = page
        self.server = server
        self.token = server.token if operator is None else add_operator(server, operator)
        self.requests: list[Request] = []
        self.console_errors: list[str] = []
        page.on("request", lambda request: self.requests.append(request))
        page.on("console", self._hear)

    def open(self, path: str = "/inbox") -> None:
        """By the address that the server printed, at any of its screens; returns when the page is live."""
        self.page.goto(f"{self.server.url}{path}#token={self.token}")
        self.is_live()

    def is_live(self) -> None:
        expect(self.connection).to_have_text("Connection: Live")

    def go_to(self, screen: str) -> None:
        """By the navigation; on a phone some screens are behind its button."""
        navigation = self.page.get_by_role("navigation")
        link = navigation.get_by_role("link", name=screen)
        if not link.is_visible():
            navigation.get_by_role("button", name="More").click()
        link.click()
        expect(self.page.get_by_role("heading", level=1)).to_have_text(screen)

    @property
    def connection(self) -> Locator:
        return self.page.locator(".connection")

    @property
    def cards(self) -> Locator:
        """Everything that stands in the inbox as a card, settled ones too."""
        return self.page.locator(".card[data-escalation-id]")

    def card(self, words: str) -> Locator:
        """The card that shows these words; there is to be one."""
        return self.cards.filter(has_text=words)

    def reply_box(self, words: str) -> Locator:
        return self.card(words).get_by_role("textbox", name="Reply")

    def row(self, words: str) -> Locator:
        """A line below the cards: snoozed, settled or not delivered."""
        return self.page.locator(".row").filter(has_text=words)

    def unfold(self, title: str) -> None:
        self.page.locator("summary").filter(has_text=title).click()

    @property
    def focused(self) -> Locator:
        return self.page.locator(":focus")

    def api_requests(self, path: str, method: str = "GET") -> list[Request]:
        """Those made so far whose path begins so."""
        made = (one for one in self.requests if one.method == method)
        return [one for one in made if urlsplit(one.url).path.startswith(path)]

    def foreign_requests(self) -> list[str]:
        own = (f"{self.server.url}/", "data:", "blob:")
        return [one.url for one in self.requests if not one.url.startswith(own)]

    @property
    def refused_by_policy(self) -> list[str]:
        return [text for text in self.console_errors if "Content Security Policy" in text]

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.console_errors.append(message.text)


def add_operator(server: RunningServer, name: str) -> str:
    """The token of a new operator."""
    added = server.gemba("operator", "add", name, "--json")
    assert added.returncode == 0, added.stderr
    token: str = json.loads(added.stdout)["address"].partition("#token=")[2]
    return token


def ask(server: RunningServer, text: str, *more: str, kind: str = "question", session: str = "agent-1") -> Popen[str]:
    """A `gemba-ask` process that waits for its answer."""
    return server.ask("--kind", kind, "--role", "manager", "--text", text, "--wait", *more, session=session)


def outcome(asker: Popen[str]) -> tuple[str, int]:
    """What a waiting ask printed in the end, and its exit code."""
    stdout, _ = asker.communicate(timeout=_PATIENCE)
    return stdout, asker.returncode
