"""The demo: a small project and built-in agents that work in it, ask, wait, hand off, and go on with what they hear.

`project.toml` and `stories.toml` are its content; `floor` makes the workspace, `past` its past, `crew` runs the agents,
`agent` is one of them. Called by `gemba demo`.
"""
