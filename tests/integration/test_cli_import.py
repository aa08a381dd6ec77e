"""`gemba import`, `gemba export` and `gemba sync` at a terminal; with a server and without."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.operator import Operator

REALISTIC = Path(__file__).parents[1] / "fixtures" / "beads" / "issues.jsonl"


def issue(id: str, *deps: tuple[str, str], **more: Any) -> str:
    links = [{"issue_id": id, "depends_on_id": other, "type": kind} for kind, other in deps]
    moments = {"created_at": "2025-01-09T12:00:00Z", "updated_at": "2025-01-10T12:00:00Z"}
    return json.dumps({"id": id, "title": f"Issue {id}", "status": "open", **moments, "dependencies": links, **more})


def write(operator: Operator, name: str, *lines: str) -> str:
    path = operator.workspace / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))
    return name


def test_a_file_is_imported_once_and_goes_out_as_it_came(operator: Operator) -> None:
    many = len(REALISTIC.read_text().splitlines())

    told = operator.ok("import", "beads", str(REALISTIC)).splitlines()
    assert told.pop() == f"{many} made, 0 changed, 0 unchanged."
    assert [line.partition(",")[0] for line in told] == [
        "unknown: dependency type 'waits-for' was taken as no relation",
        "unknown: issue_type 'gate' was taken as task",
        "unknown: issue_type 'message' was taken as task",
    ]
    assert operator.ok("import", "beads", str(REALISTIC)) == f"0 made, 0 changed, {many} unchanged.\n"
    assert operator.ok("export", "beads", "--output", "out.jsonl") == f"{many} issues in out.jsonl\n"
    out = [json.loads(line) for line in (operator.workspace / "out.jsonl").read_text().splitlines()]
    came = [json.loads(line) for line in REALISTIC.read_text().splitlines()]
    assert out == sorted(came, key=lambda each: each["id"])
    assert operator.ok("export", "beads") == (operator.workspace / "out.jsonl").read_text()
    assert operator.ok("import", "beads", "out.jsonl").endswith(f" {many} unchanged.\n")
    assert "Build the index" in operator.ok("ready")


def test_bad_lines_are_named_the_others_imported_and_with_strict_nothing_is(operator: Operator) -> None:
    lines = (issue("x-1"), "{oops", issue("x-2", priority=9), issue("x-3", ("blocks", "x-1"), ("blocks", "x-0")))
    write(operator, "i.jsonl", *lines)

    strict = operator.run("import", "beads", "i.jsonl", "--strict")
    assert (strict.returncode, strict.stdout.splitlines()[-1]) == (1, "Nothing was imported.")
    assert operator.ok("export", "beads") == ""
    done = operator.run("import", "beads", "i.jsonl")

    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        "bad: i.jsonl:2: it is not JSON: JSON is malformed: object keys must be strings (byte 1)",
        "bad: i.jsonl:3: priority is 9; allowed: 0 to 4",
        "left out: x-3 depends on x-0 (blocks): there is no such item",
        "2 made, 0 changed, 0 unchanged, 2 bad.",
    ]
    told = json.loads(operator.run("import", "beads", "i.jsonl", "--json").stdout)
    assert (told["created"], told["unchanged"], [row["line"] for row in told["bad"]]) == (0, 2, [2, 3])
    assert told["left_out"][0]["code"] == "unknown_item"


def test_words_that_are_not_known_are_told_once_each_with_where_they_stand(operator: Operator) -> None:
    odd = [issue(f"x-{n}", status="wontfix") for n in range(1, 6)]
    write(operator, "i.jsonl", *odd, issue("x-6", ("waits-for", "x-1"), issue_type="molecule"))

    done = operator.run("import", "beads", "i.jsonl", "--json")

    told = json.loads(done.stdout)["unknown_words"]
    assert done.returncode == 0
    assert [(row["line"], row["id"], row["field"], row["found"], row["taken_as"]) for row in told][-3:] == [
        (5, "x-5", "status", "wontfix", "deferred"),
        (6, "x-6", "issue_type", "molecule", "task"),
        (6, "x-6", "dependency type", "waits-for", "no relation"),
    ]
    write(operator, "j.jsonl", *(line.replace("x-", "y-") for line in (*odd, issue("x-6", issue_type="molecule"))))
    assert operator.ok("import", "beads", "j.jsonl").splitlines() == [
        "unknown: status 'wontfix' was taken as deferred, and is kept: j.jsonl:1, j.jsonl:2, j.jsonl:3 and 2 more",
        "unknown: issue_type 'molecule' was taken as task, and is kept: j.jsonl:6",
        "6 made, 0 changed, 0 unchanged.",
    ]


def test_what_names_something_further_down_in_a_long_file_is_made_all_the_same(alone: Operator) -> None:
    far = 2_100
    lines = [issue("n-0", ("related", f"n-{far}"), ("discovered-from", f"n-{far - 1}"))]
    lines += [issue(f"n-{n}") for n in range(1, far + 1)]
    write(alone, "i.jsonl", *lines)

    assert alone.ok("import", "beads", "i.jsonl") == f"{far + 1:,} made, 0 changed, 0 unchanged.\n"
    relations = json.loads(alone.ok("item", "show", "n-0", "--json"))["relations"]
    assert {each["kind"] for each in relations} == {"relates-to", "discovered-from"}


def test_a_change_made_here_later_than_the_file_is_kept_and_named(served: Operator) -> None:
    write(served, "i.jsonl", issue("x-1"))
    served.ok("import", "beads", "i.jsonl")
    served.ok("item", "edit", "x-1", "--title", "Better words")
    write(served, "i.jsonl", issue("x-1", priority=0))

    kept = served.ok("import", "beads", "i.jsonl").splitlines()
    assert kept[0].startswith("kept: x-1 (i.jsonl:1): it was changed here at ")
    assert kept[1] == "0 made, 0 changed, 0 unchanged, 1 kept as they are here."
    assert "1 changed" in served.ok("import", "beads", "i.jsonl", "--prefer-file")
    assert json.loads(served.ok("item", "show", "x-1", "--json"))["title"] == "Issue x-1"
    assert "import" in served.ok("item", "history", "x-1")


def test_a_sheet_and_a_checklist_become_items_and_ticks_become_changes(served: Operator) -> None:
    write(served, "plan.csv", "id,title,type,blocked_by", "s-1,Index,feature,", "s-2,Query,,s-1")
    write(served, "TODO.md", "# M5 Launch", "- [ ] Invite", "  - [ ] Find a room")

    assert served.ok("import", "csv", "plan.csv") == "2 made, 0 changed, 0 unchanged.\n"
    assert served.ok("import", "md", "TODO.md") == "3 made, 0 changed, 0 unchanged.\n"
    write(served, "TODO.md", "# M5 Launch", "- [ ] Invite", "  - [x] Find a room")
    assert served.ok("import", "md", "TODO.md") == "0 made, 1 changed, 2 unchanged.\n"
    assert json.loads(served.ok("item", "list", "--state", "done", "--json"))["items"][0]["title"] == "Find a room"
    assert "blocked by s-1" in served.ok("ready", "--explain", "s-2")
    assert served.ok("item", "add", "More", "--kind", "milestone").endswith(": M6 More\n")


def test_what_is_alike_in_all_else_stands_in_the_order_of_the_file(served: Operator) -> None:
    names = [f"task {n}" for n in range(30)]
    write(served, "TODO.md", "# Roadmap", *(f"- [ ] {name}" for name in names))
    write(served, "ROADMAP.md", *(line for n in (1, 2, 3) for line in (f"# Q{n}", f"- [ ] goal {n}")))
    write(served, "plan.csv", "title,blocked_by", "Deploy,Build", "Announce,", "Build,")
    for what, name in (("md", "TODO.md"), ("md", "ROADMAP.md"), ("csv", "plan.csv")):
        served.ok("import", what, name)

    ready = [item["title"] for item in json.loads(served.ok("ready", "--limit", "100", "--json"))["items"]]
    lines = [json.loads(line) for line in served.ok("plan", "order", "--json").splitlines()]
    epics = [line["epic_id"] for line in lines if line["type"] == "recommendation"]
    titles = {
        item["id"]: item["title"] for item in json.loads(served.ok("item", "list", "--limit", "100", "--json"))["items"]
    }

    assert [title for title in ready if title.startswith("task")] == names
    assert ready[:2] == ["Roadmap", "task 0"]
    assert ready[-2:] == ["Announce", "Build"]
    assert [titles[id] for id in epics] == ["Roadmap", "Q1", "Q2", "Q3"]
    made = json.loads(served.ok("item", "list", "--limit", "3", "--json"))["items"]
    assert [item["title"] for item in made] == ["Build", "Announce", "Deploy"]  # what waits for a later line as well


def test_a_renamed_line_is_a_new_item_and_what_is_no_longer_in_the_file_is_named(served: Operator) -> None:
    write(served, "TODO.md", "- [ ] Fix the query", "- [ ] Write docs", "- [x] Was done", "- [ ] Stays")
    write(served, "OTHER.md", "- [ ] Elsewhere")
    served.ok("import", "md", "TODO.md")
    served.ok("import", "md", "OTHER.md")
    write(served, "TODO.md", "- [ ] Fix the query of orders", "- [ ] Stays")

    found = json.loads(served.ok("import", "md", "TODO.md", "--json"))
    told = served.ok("import", "md", "TODO.md").splitlines()

    gone = sorted(found["gone"], key=lambda row: row["title"])
    assert [(row["file"], row["title"]) for row in gone] == [("TODO.md", "Fix the query"), ("TODO.md", "Write docs")]
    assert {f"no longer in TODO.md: {row['id']}, {row['title']}" for row in gone} == set(told[:2])
    assert told[2].startswith("these items stay open, as a line that was renamed is a new item; gemba item close ID")
    assert told[3] == "0 made, 0 changed, 2 unchanged."
    served.ok("item", "close", gone[0]["id"])
    assert [row["title"] for row in json.loads(served.ok("import", "md", "TODO.md", "--json"))["gone"]] == [
        "Write docs"
    ]
    write(served, "TODO.md", "- [?] Write docs", "- [ ] Stays")
    assert json.loads(served.run("import", "md", "TODO.md", "--json").stdout)["gone"] == []  # it may be the bad line


def test_a_file_with_nothing_in_it_or_in_another_shape_is_told_with_what_would_do(alone: Operator) -> None:
    write(alone, "list.md", "- One", "- Two")
    write(alone, "plan.csv", "title;status", "One;open")
    write(alone, "i.jsonl", "{oops", issue("x-1", status="half"))

    assert alone.ok("import", "md", "list.md").splitlines() == [
        "list.md: no entry of a checklist is in it, as `- [ ] Title` is one; --plain takes entries without a box",
        "0 made, 0 changed, 0 unchanged.",
    ]
    assert alone.ok("import", "md", "list.md", "--plain") == "2 made, 0 changed, 0 unchanged.\n"
    assert "a comma stands between columns here, not a semicolon" in alone.refused("import", "csv", "plan.csv")
    strict = alone.run("import", "beads", "i.jsonl", "--strict").stdout.splitlines()
    assert strict[1] == "unknown: status 'half' was taken as deferred, and is kept: i.jsonl:2"
    assert alone.ok("export", "--output", "out.jsonl") == "2 issues in out.jsonl\n"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("import", "beads", "none.jsonl"), 1, "none.jsonl: No such file or directory"),
        (("import", "beads", "."), 1, ". is a folder; give the file in it"),
        (("import", "csv", "empty.csv"), 1, "empty.csv:1: the first row names the columns"),
        (("import", "beads"), 2, "Missing argument 'FILE...'"),
        (("export", "beads", "--output", "no/where.jsonl"), 1, "the folder no is not there"),
        (("export", "--output", "x", "beads"), 2, "--output goes behind beads."),
        (("sync", "--once"), 1, ".beads has no issues.jsonl"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(alone: Operator, words: tuple[str, ...], code: int, said: str) -> None:
    write(alone, "empty.csv")

    assert said in alone.refused(*words, code=code)


def test_sync_takes_in_what_is_there_and_tells_of_each_change_in_a_line(operator: Operator) -> None:
    write(operator, ".beads/issues.jsonl", issue("x-1"))
    syncing = operator.watch("sync")
    syncing.until(r"^Watching .*\.beads; Ctrl-C ends it\.$")
    assert syncing.line() == "made x-1: Issue x-1"
    assert syncing.line() == "1 made, 0 changed, 0 unchanged."

    (operator.workspace / ".beads" / "beads.db-wal").write_text("somebody else's")
    write(operator, ".beads/new", issue("x-1", status="closed"), issue("x-2", ("blocks", "x-9")))
    (operator.workspace / ".beads" / "new").replace(operator.workspace / ".beads" / "issues.jsonl")
    assert syncing.line() == "made x-2: Issue x-2"
    assert syncing.line().startswith("changed x-1: state")
    assert syncing.line() == "left out: x-2 depends on x-9 (blocks): there is no such item"
    syncing.until("^1 made, 1 changed, 0 unchanged")
    dep = {"issue_id": "x-2", "depends_on_id": "x-1", "type": "blocks"}
    write(operator, ".beads/dependencies.jsonl", json.dumps(dep), "{oops")
    assert syncing.line() == "changed x-2: relations"
    assert syncing.line().startswith("bad: dependencies.jsonl:2: it is not JSON")

    assert syncing.interrupt()[::2] == (0, "")


def test_sync_waits_for_a_folder_that_is_not_there_yet_and_once_ends_by_itself(alone: Operator) -> None:
    syncing = alone.watch("sync", "later", "--json")
    write(alone, "later/beads.jsonl", issue("x-1"))

    told = json.loads(syncing.line())
    assert (told["outcome"], told["id"], told["line"]) == ("created", "x-1", 1)
    assert syncing.interrupt()[::2] == (0, "")
    assert alone.ok("sync", "later", "--once") == "0 made, 0 changed, 1 unchanged.\n"
