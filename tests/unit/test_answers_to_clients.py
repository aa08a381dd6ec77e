"""An answer that is typed to a client is words to it, whatever it begins with."""

import pytest

from gemba.sessions.inputs import as_words


@pytest.mark.parametrize(
    ("client", "text", "typed"),
    [
        ("claude", "!reboot", "Reply: !reboot"),
        ("claude", "C:\\", "C:\\ ."),
        ("gemini", "/memory show", "Reply: /memory show"),
        ("gemini", "!reboot", "!reboot"),
        ("gemini", "C:\\", "C:\\"),
        ("codex", "/clear", "/clear"),
        ("opencode", "/init", "/init"),
        ("none", "/bin/true", "/bin/true"),
    ],
)
def test_what_a_client_would_take_for_a_command_stands_behind_a_word(client: str, text: str, typed: str) -> None:
    assert as_words(text, client) == typed
