"""The page about policies names every key there is, and its example is one that `gemba policy check` takes."""

import re
from pathlib import Path

import pytest

from gemba.config import ChannelSettings, PolicySettings, Workspace
from gemba.escalations.policy_check import checked_settings

PAGE = (Path(__file__).parents[2] / "docs" / "policies.md").read_text()


@pytest.mark.parametrize("key", [*PolicySettings.__struct_fields__, *ChannelSettings.__struct_fields__])
def test_every_key_is_told(key: str) -> None:
    assert f"`{key}`" in PAGE


def test_the_table_has_no_key_that_there_is_not() -> None:
    named = {key for row in re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)}

    assert named == set(PolicySettings.__struct_fields__)


def test_its_example_has_no_fault(tmp_path: Path) -> None:
    example = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[0]
    (tmp_path / ".gemba").mkdir()
    (tmp_path / ".gemba" / "workspace.toml").write_text(example)

    assert [policy.name for policy in checked_settings(Workspace(tmp_path)).policy] == ["urgent", "questions"]
