"""Decisions that are given with a key: the fallback for a dialog of an agent's client that no hook of ours waits for.

A key is pressed only in a terminal of ours, only for a yes or a no without words, only where it is known what the key
does in that dialog, and only while frames say that this dialog is open and no other one is. Everything else is decided
in the agent's window. Called where an escalation is settled.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from gemba.escalations.escalation import Channel, Reply
from gemba.sessions import runs
from gemba.sessions.agents.claude_dialogs import key_for
from gemba.sessions.store import open_prompts
from gemba.store.database import Transaction


def key_of(tx: Transaction, row: Row[Any], answer: Reply) -> str | None:
    """The key that gives a person's answer to this dialog; None where there is none for sure."""
    is_decision = answer.by == "operator" and answer.outcome == "answered" and answer.text == answer.decision
    if row.channel != Channel.NOTIFICATION or not is_decision:
        return None
    run = runs.find(tx.connection, row.session_id)
    if run is None or run.ended_at is not None or not run.wanted:
        return None
    agent = runs.agent_of(run)
    prompts = open_prompts(tx.connection, row.session_id)
    if agent.backend != "tmux" or agent.hooks != "claude" or [prompt.ref for prompt in prompts] != [row.id]:
        return None
    return key_for(prompts[0].tool, answer.decision)
