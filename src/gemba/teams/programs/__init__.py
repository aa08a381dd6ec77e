"""Programs that do a team's tasks without a model: `gemba-program NAME`, a capability each.

Each looks at the repository it stands in and at what upstream tasks have written, and writes Markdown that a person
reads: the same for the same tree, bounded in time and size, and plain about what it did not look at. None of them
invents anything, and one that only looked says that what was asked for is left. Standard library only, so that they
start as quickly as the agent that runs them.
"""
