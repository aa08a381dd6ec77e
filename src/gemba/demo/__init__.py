"""The demo: a small project and six built-in agents that work in it, ask, wait, and go on with what they are told.

`project.toml` and `stories.toml` are its content; `floor` makes the workspace, `seed` its past, `crew` runs the agents,
`agent` is one of them. Called by `gemba demo`.
"""
