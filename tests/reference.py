"""The generated parts of the documentation. `python -m tests.reference` writes them; test_docs.py compares.

`docs/commands.md` is generated whole, from the commands' own help. In the other pages a part between
`<!-- generated: NAME -->` and `<!-- end -->` is, from the table in the code that it shows. In the site's navigation the
decisions are, from their folder.
"""

import json
import re
from functools import cache
from pathlib import Path

import click
import msgspec
from msgspec import inspect

from gemba import wire
from gemba.autodispatch.start import START
from gemba.cli import ask, bridge, mcp, state
from gemba.cli.main import COMMANDS, cli
from gemba.escalations.escalation import MACHINE
from gemba.event import NAMES
from gemba.handoff import approval, status
from gemba.handoff.reference import reference_page
from gemba.personas.consult import CONSULT
from gemba.skills.consult.order_rules import RULES, WHOLE
from gemba.sprints import sprint
from gemba.teams import run, task
from gemba.teams.measuring import ROWS
from gemba.teams.message import TYPES
from gemba.teams.roles import rules as role_rules
from gemba.teams.roles.patterns import REFERENCE
from gemba.walks.walk import WALK
from gemba.work import item
from tests import reference_tables

DOCS = Path(__file__).parents[1] / "docs"
SITE = DOCS.parent / "zensical.toml"
_BLOCK = re.compile(r"(?<=<!-- generated: )(?P<name>[a-z]+) -->\n.*?(?=<!-- end -->)", re.DOTALL)

_DECISIONS = re.compile(r"(?<=# generated: decisions\n).*?(?=^ *# end$)", re.DOTALL | re.MULTILINE)

_INTRODUCTION = """\
# Commands

`gemba` is yours, `gemba-ask` and `gemba-state` are your agents', `gemba-bridge` is for their client's hooks,
`gemba-mcp` for clients that speak MCP, and `gemba-program` does [a task without a model](team-programs.md). Every
command has `--help`, and all but those three have `--json` (one object, or one a line where it goes on). Errors are one
line on stderr.

| exit code | of `gemba` | of `gemba-ask` and `gemba-state` |
|---|---|---|
| 0 | done | done, or answered |
| 1 | refused, or failed | every error, and a wait that nobody has answered yet |
| 2 | the command line is wrong | |
| 10, 11, 12, 13 | | of a wait: answered by default, expired, declined, withdrawn |
| 14 | | of `gemba-ask --next`: no answer waits |

`gemba` works with a running server and without one, and prints the same. Its workspace is that of `-C FOLDER`, else
`GEMBA_WORKSPACE`, else the nearest folder above that has `.gemba/`. An ID may be the beginning or the end of an id;
`gemba inbox` shows its end. `NO_COLOR` turns colours off.

This page is generated from the commands.
"""


def commands_page() -> str:
    sections = [("gemba", _help("gemba", cli))]
    for name in COMMANDS:
        found = cli.get_command(click.Context(cli), name)
        assert found is not None
        sections += _sections(f"gemba {name}", found)
    sections += [(of.COMMAND.name, of.COMMAND.help()) for of in (ask, state, bridge, mcp)]
    return "\n".join([_INTRODUCTION, *(f"## {name}\n\n```\n{text}\n```\n" for name, text in sections)])


def _sections(name: str, command: click.Command) -> list[tuple[str, str]]:
    """A command and, behind it, each that is in it."""
    sections = [(name, _help(name, command))]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for part in list(command.commands) or command.list_commands(context):
            found = command.get_command(context, part)
            assert found is not None
            sections += _sections(f"{name} {part}", found)
    return sections


def _help(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=name, terminal_width=100, max_content_width=100)
    context.help_option_names = ["-h", "--help"]
    return "\n".join(line.rstrip() for line in command.get_help(context).splitlines())


def states() -> str:
    return f"```mermaid\n{MACHINE.diagram()}\n```\n"


def statuses() -> str:
    return f"```mermaid\n{status.MACHINE.diagram()}\n```\n"


def requests() -> str:
    return f"```mermaid\n{approval.REQUEST.diagram()}\n```\n"


def grants() -> str:
    return f"```mermaid\n{approval.GRANT.diagram()}\n```\n"


def moves() -> str:
    return f"```mermaid\n{item.MACHINE.diagram()}\n```\n"


def consults() -> str:
    return f"```mermaid\n{CONSULT.diagram()}\n```\n"


def walks() -> str:
    return f"```mermaid\n{WALK.diagram()}\n```\n"


def starts() -> str:
    return f"```mermaid\n{START.diagram()}\n```\n"


def teams() -> str:
    return f"```mermaid\n{run.RUN.diagram()}\n```\n"


def tasks() -> str:
    return f"```mermaid\n{task.TASK.diagram()}\n```\n"


def sprints() -> str:
    return f"```mermaid\n{sprint.MACHINE.diagram()}\n```\n"


def urgencies() -> str:
    rows = [f"| {kind} | {' | '.join(_urgency(kind, mode) for mode in wire.MODES)} |" for kind in wire.KINDS]
    return "\n".join([f"| | {' | '.join(wire.MODES)} |", f"|---|{'---|' * len(wire.MODES)}", *rows, ""])


def _urgency(kind: str, mode: str) -> str:
    return wire.urgency_of(kind, mode) or "refused"


def events() -> str:
    return "\n".join(
        ["| event | tells |", "|---|---|", *(f"| `{name}` | {text} |" for name, text in NAMES.items()), ""]
    )


def order() -> str:
    rules = [f"| `{rule.id}` | {rule.sentence} |" for rule in (*RULES, *WHOLE)]
    return "\n".join(["| rule | |", "|---|---|", *rules, ""])


def patterns() -> str:
    rows = [
        f"| `{name}` | {each.prefix} | {each.summary} | {', '.join(each.loads)} | {', '.join(each.publishes)} |"
        for name, each in REFERENCE.items()
    ]
    return "\n".join(["| pattern | prefix | the role | loads | publishes |", "|---|---|---|---|---|", *rows, ""])


def roles() -> str:
    rows = [
        f"| `{rule.id}` | {rule.severity} | {_cell(rule.message)} | {_cell(rule.hint)} |"
        for rule in role_rules.RULES.values()
    ]
    return "\n".join(["| rule | | says | what helps |", "|---|---|---|---|", *rows, ""])


def messages() -> str:
    more = {True: "", False: "; more may stand beside it"}
    rows = [f"| `{each.name}` | {each.says} | {_fields(each.data)}{more[each.is_closed]} |" for each in TYPES.values()]
    return "\n".join(["| type | tells | data |", "|---|---|---|", *rows, ""])


def _fields(data: type[msgspec.Struct]) -> str:
    """What a document of this type has, in words; what it must have stands in bold."""
    found = inspect.type_info(data)
    assert isinstance(found, inspect.StructType)
    names = [f"**`{field.name}`**" if field.required else f"`{field.name}`" for field in found.fields]
    return ", ".join(f"{name}{_takes(field.type)}" for name, field in zip(names, found.fields, strict=True))


def _takes(kind: inspect.Type) -> str:
    """The bounds of a field, behind its name."""
    match kind:
        case inspect.UnionType(types=types):
            return _takes(next(each for each in types if not isinstance(each, inspect.NoneType)))
        case inspect.StrType(max_length=most):
            return f" (≤ {most:,} characters)"
        case inspect.IntType(ge=least, le=most) | inspect.FloatType(ge=least, le=most):
            return f" ({least or 0:g} to {most or 0:,.0f})"
        case inspect.ListType(item_type=inspect.StructType(cls=cls), max_length=most):
            return f" (≤ {most}, each {_fields(cls)})"
        case inspect.ListType(item_type=item, max_length=most):
            return f" (≤ {most}, each {_takes(item).strip(' ()')})"
        case inspect.LiteralType(values=values):
            return f" ({', '.join(map(str, values))})"
    return " (true or false)"


def gates() -> str:
    rows = [f"| {row.dimension} | `{row.name}` | {', '.join(row.outputs)} | {_cell(row.sentence)} |" for row in ROWS]
    return "\n".join(["| dimension | check | of output | passes when |", "|---|---|---|---|", *rows, ""])


def _cell(text: str) -> str:
    """A text of the code as a cell: what was found is an ellipsis."""
    return text.replace("{found}", "…").replace("|", "\\|")


def decisions() -> str:
    """A line of the navigation for each decision, by its number; their list goes first."""
    rows = ['      "decisions/README.md",\n']
    for path in sorted(DOCS.glob("decisions/[0-9]*.md")):
        title = re.sub(r"^# (\d+\. )?", "", path.read_text().partition("\n")[0])
        name = json.dumps(f"{int(path.name[:4])}. {title}", ensure_ascii=False)
        rows.append(f'      {{{name} = "decisions/{path.name}"}},\n')
    return "".join(rows)


BLOCKS = {
    "states": states,
    "urgencies": urgencies,
    "events": events,
    "statuses": statuses,
    "requests": requests,
    "grants": grants,
    "handoff": reference_page,
    "order": order,
    "moves": moves,
    "consults": consults,
    "starts": starts,
    "sprints": sprints,
    "teams": teams,
    "tasks": tasks,
    "messages": messages,
    "patterns": patterns,
    "roles": roles,
    "gates": gates,
    "api": reference_tables.requests,
    "settings": reference_tables.settings,
    "codes": reference_tables.codes,
    "walks": walks,
}


@cache
def generated() -> dict[Path, str]:
    """Every page that has generated parts, as it has to be."""
    pages = {path: _filled(path.read_text()) for path in sorted(DOCS.glob("*.md")) if _BLOCK.search(path.read_text())}
    site = _DECISIONS.sub(lambda _: decisions(), SITE.read_text())
    return {**pages, DOCS / "commands.md": commands_page(), SITE: site}


def _filled(page: str) -> str:
    return _BLOCK.sub(lambda block: f"{block['name']} -->\n{BLOCKS[block['name']]()}", page)


if __name__ == "__main__":
    for path, page in generated().items():
        path.write_text(page)
