"""The input envelope of a dispatch, as its agent's own processes find it on disk. Standard library only,
and little of it: a hook process pays for this import.

Called by the gate at the end of a turn, and by the MCP tools.
"""

import json

from gemba import wire
from gemba.wire import Refused

_LARGEST = 16 * 1024 * 1024


def input_envelope(home: str, dispatch_id: str) -> dict[str, object] | None:
    """The envelope, None when there is none. One that cannot be read is no reason to ask for less."""
    if not dispatch_id:
        return None
    path = wire.envelope_path(home, dispatch_id)
    try:
        document = json.loads(wire.read_file(path, _LARGEST))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:
        raise Refused(f"{path} is no JSON: {str(error)[:200]}") from None
    if not isinstance(document, dict):
        raise Refused(f"{path} is no input envelope: it holds no JSON object")
    return document


def dispatched_agent(given: dict[str, object] | None) -> str:
    """The agent that it is for, "" where nobody is named."""
    metadata = (given or {}).get("metadata")
    found = metadata.get("agent_id") if isinstance(metadata, dict) else None
    return found if isinstance(found, str) else ""
