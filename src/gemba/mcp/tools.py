"""The table of the tools: what every MCP client is told of them, and the verbs behind them. Standard library only.

`call` is the one way in, for the pipe and for HTTP: arguments judged by the tool's schema, then the verb. It raises
Refused, in the words of the commands; `refused` makes of that what a client shows its model.
"""

from gemba import wire
from gemba.mcp import arguments, asking, context, handing_in, messaging, working
from gemba.mcp.tool import Answer, Tool
from gemba.skills.consult.tool_names import TOOL_NAMES
from gemba.speaker import explain, shown
from gemba.wire import Refused

TYPE_CHECKING = False  # a type checker takes it for true; `typing` would have to be loaded for it
if TYPE_CHECKING:
    from gemba.mcp.tool import Document, Server, Waiting
    from gemba.speaker import Session

INSTRUCTIONS = (
    "Gemba is how you reach your operator. Ask with ask_question; go on or stop as its answer says. Report what you "
    "are doing with report_state, read what you were given with get_context, and end your turn with submit_handoff."
)

_LONGEST_WAIT = 86_400
_MOST_LINES = 10_000

_TEXT = {"type": "string", "maxLength": wire.MAX_TEXT, "description": "What you ask."}
_ASK: "Document" = {
    "text": _TEXT,
    "title": {"type": "string", "maxLength": wire.MAX_TITLE, "description": "The same in a few words."},
    "bead_id": {"type": "string", "maxLength": wire.MAX_ID, "description": "The work item it is about."},
    "options": {
        "type": "array",
        "items": {"type": "string", "maxLength": wire.MAX_OPTION},
        "maxItems": wire.MAX_OPTIONS,
        "description": "Answers to choose from, each once.",
    },
    "schema": {
        "type": "object",
        "description": "A JSON Schema: the reply is then JSON that fits it. Not with options.",
    },
    "wait": {"type": "boolean", "description": "Wait until there is a reply, and answer with it."},
    "wait_seconds": {
        "type": "number",
        "minimum": 0,
        "maximum": _LONGEST_WAIT,
        "description": "Wait so long at most. The question stays open afterwards.",
    },
}


_LINES = {
    "type": "array",
    "items": {"anyOf": [{"type": "object"}, {"type": "string"}]},
    "maxItems": _MOST_LINES,
    "description": "The lines as the skill defines them: objects, or texts.",
}


def _object(properties: "Document", *required: str) -> "Document":
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


def _number(description: str, least: int, most: int) -> "Document":
    return {"type": "number", "minimum": least, "maximum": most, "description": description}


TOOLS = (
    Tool(
        "ask_question",
        "Ask the operator",
        """Ask your operator a question. Without wait it is recorded, and the answer tells whether to stop and wait \
for the reply or to go on. With wait the reply itself is the answer.

Examples:
{"text": "Which database?", "options": ["SQLite", "PostgreSQL"], "wait": true}
{"text": "May I drop Python 3.10?", "title": "Drop 3.10", "bead_id": "shop-12", "wait_seconds": 50}
{"resume": "EVENT_ID", "wait_seconds": 50}    waits for the reply to an earlier ask; asks nothing again
{"text": "Which port?", "chose": "8080"}    records a decision that you took alone; nobody is asked""",
        _object(
            {
                **_ASK,
                "chose": {
                    "type": "string",
                    "maxLength": wire.MAX_TEXT,
                    "description": "What you decided yourself. Allowed in every mode; nobody answers it.",
                },
                "resume": {
                    "type": "string",
                    "maxLength": 128,
                    "description": "The event id of an earlier ask, to wait for its reply.",
                },
            }
        ),
        asking.ask_question,
    ),
    Tool(
        "raise_blocker",
        "Raise a blocker",
        """Tell your operator that the work cannot go on without a decision. For managers only: a coach asks a \
question. Stop and wait for the reply, unless you wait here.

Example:
{"text": "The release needs the signing key, which I must not read.", "title": "Signing key", "wait": true}""",
        _object(_ASK, "text"),
        asking.raise_blocker,
    ),
    Tool(
        "report_state",
        "Report your state",
        """Tell your operator what you are doing. bead-done says that a work item is ready for review.

Example:
{"state": "working", "bead_id": "shop-12", "note": "writing the tests"}""",
        _object(
            {
                "state": {"type": "string", "enum": list(wire.STATES), "description": "What you are doing."},
                "bead_id": {"type": "string", "maxLength": wire.MAX_ID, "description": "The work item it is about."},
                "note": {"type": "string", "maxLength": wire.MAX_NOTE, "description": "A few words for the operator."},
            },
            "state",
        ),
        asking.report_state,
    ),
    Tool(
        "emit_skill_output",
        "Give a skill's output",
        """Give the output of the skill that you were started for: its lines, in order. Several calls add up.

Example:
{"skill_id": "ask", "lines": [{"type": "strategy", "reasoning": "Read the open items."}, {"type": "summary", \
"notes": "Two of three epics are done."}]}""",
        _object(
            {
                "skill_id": {"type": "string", "maxLength": wire.MAX_ID, "description": "Which skill: its id."},
                "lines": _LINES,
            },
            "skill_id",
            "lines",
        ),
        asking.emit_skill_output,
    ),
    Tool(
        "submit_handoff",
        "Hand over the end of your turn",
        """End your turn: hand over the output envelope of your work. It is judged at once; what is wrong with it is \
told, and you hand it in again. A COMPLETE is compared with the world, so claim what was done.

Example:
{"envelope": {"agent_status": {"plan_status": "COMPLETE", "agent_id": "a1b2c3d4e5f60718", "pending_steps": [], \
"next_action": "none"}, "evidence_report": {"patterns_checked": [], "files_checked": ["src/app.py"], "commands_run": \
["make test"], "key_outputs": ["The port is configurable."], "verbatim_outputs": [], "cross_layer_impacts": [], \
"open_gaps": [], "verification": {"result": "pass", "verification_method": "test", "command": "make test", \
"exit_code": 0}}}}""",
        _object(
            {
                "envelope": {
                    "type": "object",
                    "description": "The output envelope: agent_status, evidence_report and what else belongs to it.",
                }
            },
            "envelope",
        ),
        handing_in.submit_handoff,
    ),
    Tool(
        "get_context",
        "Read what you were given",
        """Read what you were given to work with: the input envelope of your dispatch (goal, acceptance criteria, \
scope, what you may write), or else what is known of this project.

Example:
{}""",
        _object({}),
        context.get_context,
        reads_only=True,
    ),
    Tool(
        "list_work",
        "List the work that is ready",
        """List the work items that are ready to be worked on, the first to be done first. Needs the workspace's server.

Example:
{"limit": 5}""",
        _object(
            {
                "limit": {
                    "type": "number",
                    "minimum": 1,
                    "maximum": working.MOST,
                    "description": f"At most this many; {working.USUAL} unless it is said.",
                }
            }
        ),
        working.list_work,
        reads_only=True,
    ),
    Tool(
        "claim_work",
        "Claim a work item",
        """Claim a work item for your session, so that nobody else works on it until the lease is over. One that is \
blocked is refused with what is in its way: list_work has what can be begun. For managers only: a coach does not write \
to the work plane. Say bead-done with report_state when it is ready for review. Needs the workspace's server.

Example:
{"item_id": "shop-4k2m", "lease_seconds": 3600}""",
        _object(
            {
                "item_id": {
                    "type": "string",
                    "maxLength": wire.MAX_ID,
                    "description": "The work item, by its whole id.",
                },
                "lease_seconds": {
                    "type": "number",
                    "minimum": 1,
                    "maximum": working.LONGEST_LEASE,
                    "description": "How long it is yours; an hour unless it is said.",
                },
            },
            "item_id",
        ),
        working.claim_work,
    ),
    Tool(
        "team_msg",
        "Talk in a team run",
        """Post, read and acknowledge messages of the team run that you take part in. log posts one message, or \
several in messages; broadcast posts to everybody; list shows the latest, or those after since; read shows one; status \
shows who has read what; get_state shows what was reported of tasks; ack says how far you have read. You speak as your \
role. Needs the workspace's server.

Examples:
{"operation": "log", "session_id": "team-3fa9c1d2e4b5", "type": "state_update", "summary": "login works", "data": \
{"key_findings": ["tokens expire after an hour"], "files_modified": ["src/login.py"], "verification": "tested"}}
{"operation": "list", "session_id": "team-3fa9c1d2e4b5", "to": "tester", "since": 12}
{"operation": "ack", "session_id": "team-3fa9c1d2e4b5", "up_to": 14}""",
        _object(
            {
                "operation": {
                    "type": "string",
                    "enum": list(messaging.OPERATIONS),
                    "description": "What to do.",
                },
                "session_id": {"type": "string", "maxLength": wire.MAX_ID, "description": "The team run, by its id."},
                "type": {
                    "type": "string",
                    "maxLength": wire.MAX_ID,
                    "description": "What a message is: state_update, progress, blocker, error …; of list, which.",
                },
                "summary": {"type": "string", "maxLength": wire.MAX_NOTE, "description": "What it says, in a line."},
                "data": {"type": "object", "description": "What its type has, such as task_id."},
                "from": {"type": "string", "maxLength": wire.MAX_ID, "description": "Who says it; of list, whose."},
                "to": {
                    "type": "string",
                    "maxLength": wire.MAX_ID,
                    "description": "To whom; coordinator unless it is said, all for everybody. Of list, for whom.",
                },
                "messages": {
                    "type": "array",
                    "items": {"type": "object"},
                    "maxItems": messaging.MOST,
                    "description": "Of log: several messages, each with type, summary and what else it has.",
                },
                "since": _number("Of list: those after this message.", 0, messaging.BIGGEST),
                "limit": _number("Of list and get_state: at most this many.", 1, messaging.MOST),
                "id": _number("Of read: which message.", 1, messaging.BIGGEST),
                "task_id": {"type": "string", "maxLength": wire.MAX_ID, "description": "Of get_state: which task."},
                "recipient": {
                    "type": "string",
                    "maxLength": wire.MAX_ID,
                    "description": "Of ack: who has read; you unless it is said.",
                },
                "up_to": _number("Of ack: up to this message; the last one otherwise.", 0, messaging.BIGGEST),
            },
            "operation",
            "session_id",
        ),
        messaging.team_msg,
    ),
)

BY_NAME = {tool.name: tool for tool in TOOLS}


def _output_of(skill_id: str, name: str) -> Tool:
    def emit(session: "Session", given: "Document", server: "Server") -> Answer:
        return asking.emit_skill_output(session, {"skill_id": skill_id, **given}, server)

    return Tool(name, "Give a skill's output", f"The output of {skill_id}.", _object({"lines": _LINES}, "lines"), emit)


# emit_skill_output under the name that a consult skill has for it: taken from whoever calls it, listed to nobody, since
# only a session of that skill would have a use for it.
_OUTPUTS = {name: _output_of(skill_id, name) for skill_id, name in TOOL_NAMES.items()}


def call(name: str, given: object, session: "Session", server: "Server") -> "Answer | Waiting":
    """Do what a tool does. Refused, or OSError, when it cannot be done; then nothing was written."""
    tool = BY_NAME.get(name) or _OUTPUTS.get(name)
    if tool is None:
        raise Refused(f"unknown tool {shown(name)}; allowed: {', '.join(BY_NAME)}")
    return tool.verb(session, arguments.fitting(tool.schema, given), server)


def refused(error: Refused | OSError) -> Answer:
    return Answer(explain(error) if isinstance(error, OSError) else str(error), is_error=True)
