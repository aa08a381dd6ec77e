"""A new skill to start from, which the linter accepts as it is. Called by `gemba skills new`."""

from __future__ import annotations

import json

from gemba.skills.skill import Variety

DESCRIPTION = "Say in one sentence when an agent uses this."

_BODY = """
# {title}

Say in a sentence or two what the agent is to achieve, and what it leaves alone.

## Do

1. Report what you are doing:

   ```bash
   gemba-state working --note "what you are doing"
   ```

2. Write the steps here, each one short, with the exact commands.

## Ask

{when}

```bash
gemba-ask --kind {kind} --role {variety} --title "the decision in a few words" \\
  --text "what you found, what you tried, what you recommend" \\
  --option "the first way" --option "the other way" --wait
```

Exit code 0 or 10: do what stdout says. 11, 12 or 13: leave it undone and go on. 1: do what stderr says.

## End

Say how the agent knows that it is done, and what it hands over.
"""

_WHEN = {
    "coach": "You advise, and decide nothing. When a person has to choose:",
    "manager": "When you cannot go on without a person, or would have to break a rule to go on:",
}
_KIND = {"coach": "question", "manager": "blocker"}


def draft(skill_id: str, variety: Variety, description: str = DESCRIPTION) -> str:
    """The text of a new file. JSON's strings are YAML's too."""
    title = skill_id.partition(".")[2].replace("_", " ").replace("-", " ").capitalize()
    told = json.dumps(description, ensure_ascii=False)
    head = f"---\nskill_id: {skill_id}\nvariety: {variety}\ndescription: {told}\n---\n"
    return head + _BODY.format(title=title, variety=variety, when=_WHEN[variety], kind=_KIND[variety])
