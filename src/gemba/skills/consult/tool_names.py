"""Under which name an agent gives the output of each consult skill. Standard library only.

The one place of these names: `registry` takes them from here, and so does `gemba.mcp.tools`, of which every agent has a
process that loads nothing else of the skills.
"""

TOOL_NAMES = {
    "epic_order": "emit_ordering",
    "ask": "emit_answer",
    "refine": "emit_refinement",
    "escalation_handoff": "emit_escalation_handoff",
    "what_remains": "emit_remaining",
    "add_to_backlog": "emit_backlog",
    "change_this": "emit_change",
    "sprint_retro": "emit_retro",
    "perspective": "emit_perspective",
    "walk_summary": "emit_walk_summary",
    "team_plan": "emit_team_plan",
}
