"""What can be read of the workspace's settings, as a table: from their files as they are now."""

from __future__ import annotations

from gemba.action import Nothing
from gemba.api.read import Read
from gemba.app import App
from gemba.settings.store import SettingsText, SettingsView, read_text, view_settings


def settings(app: App, _query: Nothing, *, operator: str) -> SettingsView:
    return view_settings(app.workspace, app.settings, operator)


def settings_text(app: App, _query: Nothing, *, file: str, operator: str) -> SettingsText:
    return read_text(app.workspace, file, operator)


READS = (
    Read(
        "/api/settings",
        settings,
        Nothing,
        SettingsView,
        "What the settings say, each with its file and line, and what is wrong with them",
        personal=True,
    ),
    Read("/api/settings/{file}", settings_text, Nothing, SettingsText, "A settings file's text", personal=True),
)
