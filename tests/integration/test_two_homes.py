"""Several machines on one database: each has its own logs and replies. Here they are two homes on one."""

from pathlib import Path

from sqlalchemy import select

from gemba import wire
from gemba.app import App
from gemba.config import Settings, Workspace
from gemba.escalations.escalation import Respond
from gemba.escalations.verbs import respond
from gemba.sessions.store import frames


def ask(app: App, session: str) -> str:
    event_id = wire.new_event_id()
    payload: dict[str, object] = {"kind": "blocker", "role": "manager", "text": "Which?", "mode": "balanced"}
    root = str(app.workspace.root)
    line = wire.encode_frame("GembaAsk", payload, session_id=session, workspace=root, event_id=event_id)
    wire.append_frame(str(app.home), session, line)
    app.ingest.drain()
    return event_id


def other_home(app: App, tmp_path: Path) -> App:
    return App.open(Workspace(app.workspace.root), Settings(), tmp_path / "another machine")


def test_a_reply_goes_to_the_home_that_its_ask_came_from(app: App, tmp_path: Path) -> None:
    other = other_home(app, tmp_path)
    try:
        id = ask(app, "s1")
        with other.database.transaction() as tx:
            respond(tx, Respond(text="8080"), id=id)

        other.write_replies()
        assert not Path(wire.reply_path(str(other.home), id)).exists()
        app.write_replies()

        assert '"8080"' in Path(wire.reply_path(str(app.home), id)).read_text()
    finally:
        other.close()


def test_what_one_home_forgets_the_other_keeps(app: App, tmp_path: Path) -> None:
    other = other_home(app, tmp_path)
    try:
        id = ask(app, "s1")
        ask(other, "s2")
        with other.database.transaction() as tx:
            other.ingest.forget_old(tx, older_than=tx.now + 1)

        with app.database.read() as connection:
            assert id in connection.execute(select(frames.c.event_id)).scalars().all()
        assert app.ingest.drain() == 0
    finally:
        other.close()


def test_a_home_keeps_its_name(app: App, tmp_path: Path) -> None:
    again = App.open(Workspace(app.workspace.root), Settings(), app.home)
    other = other_home(app, tmp_path)
    try:
        assert again.origin == app.origin != other.origin
    finally:
        again.close()
        other.close()
