"""Numbers of tokens, as people write them on a command line."""

import click
import pytest

from gemba.cli.sprint_text import TOKENS


@pytest.mark.parametrize(
    ("said", "tokens"),
    [("2M", 2_000_000), ("1.5m", 1_500_000), ("500k", 500_000), ("2,000", 2_000), ("1_000_000", 1_000_000), ("1", 1)],
)
def test_a_number_of_tokens_is_read_as_people_write_it(said: str, tokens: int) -> None:
    assert TOKENS.convert(said, None, None) == tokens


@pytest.mark.parametrize("said", ["0", "-1", "2G", "1.5", "2,00", "many", "", "0.0001k", "9" * 40])
def test_what_is_no_number_of_tokens_is_refused(said: str) -> None:
    with pytest.raises(click.BadParameter, match=r"is no number of tokens; allowed: such as 2000000, 1\.5M or 500k"):
        TOKENS.convert(said, None, None)
