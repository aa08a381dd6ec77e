"""A shell line is read as the shell takes it, or not at all: nothing runs that was not read."""

import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.handoff.shell_line import DEEPEST, Command, read_line
from gemba.handoff.shell_word import CERTAIN, GLOB, OPEN, SPLIT, Word
from gemba.testing import effort, seeds


def words(line: str) -> list[list[str]]:
    """The words of every command of a line that can be read and in which all are certain."""
    read = read_line(line)
    assert read.problem is None
    assert all(word.sure == CERTAIN for command in read.commands for word in command.words)
    return [[word.text for word in command.words] for command in read.commands]


def only(line: str) -> Command:
    read = read_line(line)
    assert read.problem is None
    assert len(read.commands) == 1
    return read.commands[0]


# ---- words --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ls", ["ls"]),
        ("  ls\t-l  a ", ["ls", "-l", "a"]),
        (r"l\s", ["ls"]),
        ('"rm" -rf x', ["rm", "-rf", "x"]),
        ("'r'\"m\" x", ["rm", "x"]),
        ("r''m", ["rm"]),
        ("l\\\ns -\\\nl", ["ls", "-l"]),
        ("ls \\\n  -l", ["ls", "-l"]),
        (r"a\ b c\;d \'", ["a b", "c;d", "'"]),
        ("'a \\ $x `b` \" c'", ['a \\ $x `b` " c']),
        (r'"a \" \\ \$ \` \x"', ['a " \\ $ ` \\x']),
        ('"a\\\nb"', ["ab"]),
        ("''", [""]),
        ("a#b #c", ["a#b"]),
        ("echo if then", ["echo", "if", "then"]),
        ("a=b", []),
        ("x a=b", ["x", "a=b"]),
        ("[ a ]", ["[", "a", "]"]),
        ("find {} +", ["find", "{}", "+"]),
        ("echo $ a$", ["echo", "$", "a$"]),
        ("ls\u00a0-l", ["ls\u00a0-l"]),
        ("ls\r", ["ls\r"]),
        ("! ls", ["ls"]),
    ],
)
def test_quotes_and_escapes_are_taken_away(line: str, expected: list[str]) -> None:
    assert words(line) == [expected]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("x $a", Word("", SPLIT)),
        ('x "$a"', Word("", OPEN)),
        ('x "$@"', Word("", SPLIT)),
        ("x src/$a", Word("src/", SPLIT)),
        ('x "src/$a.py"', Word("src/", OPEN)),
        ("x ${a}", Word("", SPLIT)),
        ("x b${a:-c}", Word("b", SPLIT)),
        ('x "${a%.py}"', Word("", OPEN)),
        ("x $(a)", Word("", SPLIT)),
        ('x "b $(a) c"', Word("b ", OPEN)),
        ("x `a`", Word("", SPLIT)),
        ("x src/*.py", Word("src/", GLOB)),
        ("x a?", Word("a", GLOB)),
        ("x [ab]c", Word("", GLOB)),
        ("x b{a,c}", Word("b", GLOB)),
        ("x ~/a", Word("", OPEN)),
        ("x a~", Word("a~")),
        ("x =a", Word("", OPEN)),
        ("x $'a'", Word("", OPEN)),
        ('x $"a"', Word("", OPEN)),
        ("x $((1 + 2))", Word("", OPEN)),
        ("x <(a)", Word("/dev/fd/", OPEN)),
        ("x $1", Word("", SPLIT)),
        ("x --a=$b", Word("--a=", SPLIT)),
    ],
)
def test_of_an_uncertain_word_what_stands_before_the_expansion_is_kept(line: str, word: Word) -> None:
    assert read_line(line).problem is None
    assert [command.words[1] for command in read_line(line).commands if command.words[0].text == "x"] == [word]


@pytest.mark.parametrize(
    ("word", "may_be"),
    [
        (Word("-a"), False),
        (Word("", OPEN), True),
        (Word("-a", OPEN), True),
        (Word("--a=", OPEN), False),
        (Word("src/", OPEN), False),
        (Word("src/", GLOB), False),
        (Word("", GLOB), True),
        (Word("src/", SPLIT), True),
    ],
)
def test_an_uncertain_word_may_be_an_option_unless_its_beginning_says_no(word: Word, may_be: bool) -> None:
    assert word.may_be_option is may_be


# ---- commands -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "a; b",
        "a;b",
        "a && b",
        "a||b",
        "a | b",
        "a |& b",
        "a & b",
        "a & b &",
        "a\nb",
        "a\n\n\nb\n",
        "a &&\n\n b",
        "a # c; d\nb",
        "(a; b)",
        "(a) && (b)",
        "{ a; b; }",
        "if a; then b; fi",
        "while a; do b; done",
        "until a\ndo b\ndone",
        "! a | ! b",
        "a \\\n | b",
    ],
)
def test_every_command_of_a_line_is_found(line: str) -> None:
    assert words(line) == [["a"], ["b"]]


@pytest.mark.parametrize(
    "line",
    [
        "b $(a)",
        "b `a`",
        'b "$(a)"',
        'b "`a`"',
        'b "x $(a) y"',
        "b <(a)",
        "b >(a)",
        "x=$(a) b",
        "b > $(a)",
        "b <<< $(a)",
        "b <<E\n$(a)\nE",
        "b <<E\n`a`\nE\n",
        "b <<-E\n\t$(a)\n\tE\n",
        'b "$(a "c")"',
        "b $( (a) )",
        "b `x=\\`a\\``",
        "for x in $(a); do b; done",
        "b $(a <<'E'\nx\nE\n)",
        '"b" "$(a <<\'E\' 2>&1\nit\'s "fine" $(c) `d`\nE\n)"',
    ],
)
def test_a_command_in_a_substitution_is_found(line: str) -> None:
    read = read_line(line)
    found = [command.words[0].text for command in read.commands if command.words]

    assert read.problem is None
    assert sorted(found) == ["a", "b"]


@pytest.mark.parametrize(
    "line",
    ["b '$(a)'", "b \\$\\(a\\)", 'b "\\$(a)"', "b '`a`'", "b <<'E'\n$(a) `a`\nE", "b <<E\n\\$(a)\nE", "b # $(a)"],
)
def test_what_is_quoted_is_no_substitution(line: str) -> None:
    assert [command.words[0].text for command in read_line(line).commands] == ["b"]


def test_variables_in_front_are_set_and_those_behind_are_words() -> None:
    command = only('A=1 B+="x y" C= cmd D=2')

    assert command.variables == (("A", Word("1")), ("B", Word("x y")), ("C", Word("")))
    assert command.words == (Word("cmd"), Word("D=2"))
    assert only('"A=1" b').variables == ()
    assert only("A\\\n=1 b").variables == (("A", Word("1")),)


def test_the_variable_of_a_loop_is_set_to_anything() -> None:
    read = read_line("for f in a b; do cat $f; done")

    assert read.problem is None
    assert read.commands[0].variables == (("f", Word("", SPLIT)),)
    assert read.commands[0].words == ()


@pytest.mark.parametrize(
    ("line", "redirects"),
    [
        ("a > f", [(">", "f")]),
        ("a >f 2>&1", [(">", "f"), (">&", "1")]),
        ("a 2>/dev/null", [(">", "/dev/null")]),
        ("a>>f", [(">>", "f")]),
        ("a >| f", [(">|", "f")]),
        ("a &> f", [("&>", "f")]),
        ("a &>> f", [("&>>", "f")]),
        ("a >& f", [(">&", "f")]),
        ("a 2>&-", [(">&", "-")]),
        ("a < f", [("<", "f")]),
        ("a <> f", [("<>", "f")]),
        ("a <&3", [("<&", "3")]),
        ("a <<< f", [("<<<", "f")]),
        ("> f a", [(">", "f")]),
        ("a '>' f", []),
        ("a \\> f", []),
        ("a '2'", []),
    ],
)
def test_redirections_are_found_wherever_they_stand(line: str, redirects: list[tuple[str, str]]) -> None:
    command = only(line)

    assert command.words[0] == Word("a")
    assert [(operator, target.text) for operator, target in command.redirects] == redirects


def test_a_number_before_a_redirection_is_part_of_it_only_where_it_stands_alone() -> None:
    assert only("a 2>f").words == (Word("a"),)
    assert only("a b2>f").words == (Word("a"), Word("b2"))
    assert only("a 2 >f").words == (Word("a"), Word("2"))
    assert only("a 2&>f").words == (Word("a"), Word("2"))


def test_redirections_of_a_block_are_a_command_of_their_own() -> None:
    assert [[redirect.operator for redirect in command.redirects] for command in read_line("{ a; } > f").commands] == [
        [],
        [">"],
    ]


def test_a_command_is_shown_as_it_was_written_and_not_longer_than_that() -> None:
    read = read_line("cd 'a  b' && git \\\n status; echo " + "x" * 500)

    assert [command.text for command in read.commands[:2]] == ["cd 'a  b'", "git \\\n status"]
    assert len(read.commands[2].text) == 200


@pytest.mark.parametrize("line", ["", " \n\t\n", "# a", "  # a; b\n# c", "!"])
def test_nothing_is_no_command(line: str) -> None:
    assert read_line(line) == ([], None)


# ---- what is not read ---------------------------------------------------------------------------------------------

NOT_READ = {
    "an open quote": "a 'b",
    "an open double quote": 'a "b',
    "an open substitution": "a $(b",
    "an open substitution in quotes": 'a "$(b"',
    "open backticks": "a `b",
    "an open subshell": "(a",
    "a closed one": "a)",
    "an open block": "{ a",
    "a block closed by another": "if a; then b; done",
    "a word after a block": "{ a; } b",
    "a backslash at the end": "a \\",
    "an operator at the end": "a &&",
    "a pipe at the end": "a |",
    "an operator at the beginning": "&& a",
    "two of them": "a && && b",
    "two semicolons": "a ;; b",
    "a redirection to nowhere": "a >",
    "a function": "ls() { rm x; }",
    "a function with its word": "function ls { rm x; }",
    "an array": "a=(1 2)",
    "a subscript": "a[$(rm)]=1 $a[1]",
    "case": "case x in a) rm;; esac",
    "a condition of bash": "[[ -v a[$(rm)] ]]",
    "an arithmetic command": "((x))",
    "arithmetic over variables, which are evaluated": "echo $((x))",
    "old arithmetic": "echo $[x]",
    "a prompt, in which substitutions run": "echo ${x@P}",
    "an indirect parameter": "echo ${!x}",
    "a default with a substitution": "echo ${x:-$(rm)}",
    "a parameter that is assigned": "echo ${PATH:=/tmp}",
    "a pattern of ksh": "ls !(a)",
    "a qualifier of zsh": "ls *(e:'rm x':)",
    "a process of zsh": "cat =(a)",
    "a dollar joined with what follows": 'a "$\\\n(rm x)"',
    "the same in a document": "a <<E\n$\\\n(rm x)\nE",
    "a redirection that sets a variable": "ls {PATH}>/dev/null",
    "a number joined with its redirection": "2\\\n>f ls",
    "an empty process": "sort <()-of",
    "a document without an end": "a <<E\nb",
    "a document without its text": "a <<E",
    "a document in a substitution without its text": "a $(b <<E)",
    "an end that is made of two lines": "cat <<E\n\\\nE\nrm x\nE",
    "an end of a document in a substitution that a parenthesis follows": "a \"$(cat <<'E'\nx\nE) ; rm y\nE\n)\"",
    "commands after a document in a substitution": "a $(tee <<E\nx\nE\ntee; ls)",
    "a document in the line of another": "a <<E $(b\nc)\nE",
    "quotes in backticks in quotes": 'a "`b "c"`"',
    "an uncertain end": "a <<$x\n$x",
    "coproc": "coproc rm x",
    "a loop over nothing that has a name": "for $x in a; do b; done",
    "a C loop": "for ((;;)); do a; done",
}


@pytest.mark.parametrize("line", NOT_READ.values(), ids=NOT_READ.keys())
def test_what_is_not_understood_is_a_problem(line: str) -> None:
    assert read_line(line).problem


def test_the_commands_before_a_problem_are_kept() -> None:
    read = read_line("rm x\n$(rm y) 'z")

    assert [command.text for command in read.commands] == ["rm x", "rm y"]
    assert read.problem == "' is not closed"


def test_substitutions_are_read_to_a_depth() -> None:
    def deep(levels: int) -> str:
        return "a $(" * levels + "b" + ")" * levels

    assert read_line(deep(DEEPEST)).problem is None
    assert "in each other" in str(read_line(deep(DEEPEST + 1)).problem)
    assert read_line("(" * 100_000).problem
    assert read_line("a " + "$(" * 100_000).problem
    assert read_line("a " + "`\\" * 100_000).problem


# ---- bash itself --------------------------------------------------------------------------------------------------

SNIPPETS = (
    "a b 'c d' \"e $a\" | b 2>&1 >/dev/null",
    "a && (b; a) || { b; a; }",
    "b <<EOF\na $(b) x\nEOF\nb",
    "a <<'EOF' b\n$(a) \\\nEOF\nb c",
    "if a; then b; else a b; fi",
    "for a in b c; do a $a; done > EOF",
    'a "$(b <<EOF\nx\nEOF\n)" c',
    "a `b \\`a\\` x` c",
    "a <(b) >(a b)",
    'a=b b="$(a)" a b',
    "a \\\n b # c\nb",
    "a <<-EOF\n\tx\n\tEOF\nb",
    'a "b `a c` d" $\'x y\' "${a:-b}" ${b%a}',
    "! a; a & b |& a",
    "a <<A <<B b\n$(a)\nA\n`b`\nB\na b",
    "a \"$(b <<'A'\nx\nA) b\nA\n)\" c",
    "a $(b <<A; (a b; b a)\nx\nA\na b; b a\n) c",
    "a $(if a; then b; fi; { a; b; } | (b; a b)) c",
)
PIECES = (
    *(
        "a",
        "b",
        " ",
        "\t",
        "\n",
        "'",
        '"',
        "\\",
        "$",
        "(",
        ")",
        "`",
        ";",
        "&",
        "|",
        "<",
        ">",
        "#",
        "{",
        "}",
        "!",
        "=",
        "~",
    ),
    *(
        "*",
        "?",
        "<<",
        "<<-",
        "<<<",
        "EOF",
        "\nEOF\n",
        "$(",
        "${",
        "$'",
        '$"',
        "0",
        "2",
        "&&",
        "||",
        ";;",
        "|&",
        "&>",
        ">&",
    ),
    *(
        "if ",
        "then ",
        "fi",
        "for ",
        "in ",
        "do ",
        "done",
        "\\\n",
        "a=",
        "$a",
        "{a,b}",
        "$((",
        "))",
        "case ",
        "esac",
        "[[ ",
    ),
    *(" ]]", "<(", ">(", "\r", "é", "\u00a0", "a()", "{ ", "; }", "function ", "\\\\", "\\'", '\\"', "\\`"),
)
# Each line runs in a shell of its own in which no program is found, and every attempt to run one is written down.
RUNNER = r"""
command_not_found_handle() {
  local OUT; printf -v OUT '%s\x1f' "$@"; OUT=${OUT//$'\n'/$'\x1d'}; printf '%s\x1e' "$OUT" >> "$LOG"
}
N=0
while IFS= read -r -d '' LINE <&7; do
  LOG=$LOGS/$N; N=$((N + 1))
  ( eval "$LINE"
wait ) < /dev/null > /dev/null 2>&1 7<&-
done 7< "$LINES"
"""


def mutated(source: random.Random) -> str:
    line = source.choice(SNIPPETS)
    for _ in range(source.randint(0, 4)):
        start, end = sorted(source.randint(0, len(line)) for _ in range(2))
        match source.randint(0, 9):
            case 0 | 1:
                line = line[:start] + source.choice(SNIPPETS) + line[end:]
            case 2 | 3 | 4:
                line = line[:start] + line[start + 1 :]
            case _:
                line = line[:start] + source.choice(PIECES) + line[start:]
    return line


def may_run(command: Command, arguments: list[str]) -> bool:
    """Whether a command that was read may be this one."""
    for place, word in enumerate(command.words):
        if word.sure > OPEN:
            return True
        given = arguments[place] if place < len(arguments) else None
        if given is None or not (given == word.text if word.sure == CERTAIN else given.startswith(word.text)):
            return False
    return len(arguments) == len(command.words) > 0


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", seeds(1, 20))
def test_bash_runs_nothing_that_was_not_read(seed: int, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash to compare with")
    source = random.Random(seed)
    lines = [mutated(source) for _ in range(effort(1_500, 20_000))]
    (tmp_path / "logs").mkdir()
    (tmp_path / "here").mkdir()
    (tmp_path / "lines").write_bytes(b"".join(line.encode() + b"\0" for line in lines))
    environment = {"PATH": "/nonexistent", "LC_ALL": "C.UTF-8"}
    environment |= {"LOGS": str(tmp_path / "logs"), "LINES": str(tmp_path / "lines")}
    subprocess.run(
        [bash, "--norc", "-c", RUNNER],
        cwd=tmp_path / "here",
        env=environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=1_000,
    )

    ran = 0
    for number, line in enumerate(lines):
        log, read = tmp_path / "logs" / str(number), read_line(line)
        if read.problem is not None or not log.exists():
            continue
        for written in os.fsdecode(log.read_bytes()).replace("\x1d", "\n").split("\x1e")[:-1]:
            ran += 1
            arguments = written.split("\x1f")[:-1]
            assert any(may_run(command, arguments) for command in read.commands), (line, arguments)
    assert ran > len(lines) // 4


# ---- properties ---------------------------------------------------------------------------------------------------

lines = st.lists(st.sampled_from([*PIECES, *SNIPPETS, "rm", "x"]), max_size=12).map("".join)


@given(st.text() | st.text(st.characters(codec=None)) | lines)
def test_any_text_is_read_without_an_error(text: str) -> None:
    read = read_line(text)

    assert all(command.variables or command.words or command.redirects for command in read.commands)


@given(lines, lines, st.sampled_from(["\n", ";\n", "\n\n"]))
def test_lines_after_each_other_are_read_as_each_alone(one: str, other: str, between: str) -> None:
    first, second = read_line(one), read_line(other)
    if first.problem is not None or second.problem is not None or not first.commands:
        return
    if between.startswith(";") and read_line(one + ";").problem is not None:
        return
    both = read_line(one + between + other)

    assert both.problem is None
    assert [command[1:] for command in both.commands] == [
        command[1:] for command in (*first.commands, *second.commands)
    ]


SHAPES = [
    *(
        "a",
        "a ",
        "a;",
        "a|",
        "'",
        "''",
        '"',
        '""',
        "\\",
        "\\\n",
        "$",
        "$a",
        "$(",
        "$()",
        "$(a)",
        "`",
        "``",
        "`a`",
        "`\\`",
    ),
    *(
        "(",
        "()",
        "{ ",
        "{",
        ">",
        ">a",
        "2>",
        "<<E ",
        "<<E\n",
        "<(a)",
        "#",
        "\n",
        "\t",
        "a=",
        "a=1 ",
        "${",
        "${a}",
        "*",
        "[",
    ),
    *(
        "if a; then ",
        "for a in ",
        "! ",
        "1",
        "12>",
        "&",
        "é",
        "\U0001f600",
        "$'",
        "$'\\'",
        "$((1",
        "${a:-",
        '"$(',
        '"`',
        "|&",
    ),
    *("E\n", "<<E\nE\n", "<<'E'\nE\n", "a <<E\n\\\\\nE\n", "\\\\", "a$\\\n"),
]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_time_grows_with_the_line_and_not_faster(shape: str) -> None:
    """Eight times the text takes no more than about eight times the time; a square would take 64 times."""

    def seconds(size: int) -> float:
        text = (shape * size)[:size]
        best = 9.0
        for _ in range(3):
            begun = time.process_time()
            read_line(text)
            best = min(best, time.process_time() - begun)
        return best

    short, long = seconds(5_000), seconds(40_000)

    assert long < 24 * short + 0.01
