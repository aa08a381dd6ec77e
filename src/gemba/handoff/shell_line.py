"""A shell line in words: every command in it, with its variables, program, arguments and redirections.

One pass over the line, linear in it, for lines as bash takes them and zsh and dash read them alike. What is not sure
until the line runs (expansions, globs, braces) is marked so in its word; grammar that is not read here (functions,
arrays, arithmetic, case, [[ … ]]) is a problem that ends the reading: nothing is passed over that could run. Called
by `risk`, on every command of an agent, and so of the standard library only.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gemba.handoff.shell_word import CERTAIN, NAME, SPLIT, Unreadable, Word, WordReader

DEEPEST = 24  # substitutions and subshells in each other
SHOWN = 200  # characters of a command that are kept to be shown


class Redirect(NamedTuple):
    operator: str
    target: Word


class Command(NamedTuple):
    """A simple command: variables set in front, the program and its arguments, redirections."""

    text: str
    variables: tuple[tuple[str, Word], ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]


class Line(NamedTuple):
    """Every command of a line, those in substitutions too, and what kept the rest from being read, if anything."""

    commands: list[Command]
    problem: str | None


def read_line(text: str) -> Line:
    """The line as bash (and, where they agree, zsh and dash) takes it. Never fails; a line is passed over once."""
    reader = _Reader(text)
    try:
        reader.commands_until("")
    except Unreadable as error:
        return Line(reader.commands, str(error))
    return Line(reader.commands, None)


_BLANK = re.compile(r"(?:[ \t]|\\\n)*+")
_OPERATOR = re.compile(r"&&|\|\||\|&|[;&|\n]")
_REDIRECT = re.compile(r"(&>>?)|[0-9]*+(<<<|<<-?|<>|[<>]&|<(?!\()|>>|>\||>(?!\())")
ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=")
_ENDS_JOINED = re.compile(r"(?<!\\)(?:\\\\)*\\$", re.MULTILINE)
# Controls, reordering marks, what has no width, and spaces that part no words: what runs is not what a reader sees.
DECEPTIVE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180e\u2000-\u200f"
    "\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)

_IN_DOCUMENT = re.compile(r"[^\\$`]++")

_OPENING = {"if": "fi", "while": "done", "until": "done", "for": "done", "{": "}"}
_CLOSING = frozenset(_OPENING.values())
_BETWEEN = frozenset(("then", "elif", "else", "do"))
_NOT_READ = frozenset(("case", "esac", "select", "function", "coproc", "[[", "]]", "in"))


class _Document(NamedTuple):
    """A here-document whose text comes after the line."""

    end: str
    takes_tabs: bool
    is_quoted: bool


class _Draft:
    """A command while it is read."""

    def __init__(self) -> None:
        self.start: int | None = None
        self.variables: list[tuple[str, Word]] = []
        self.words: list[Word] = []
        self.redirects: list[Redirect] = []
        self.is_closed = False  # it was a block: only redirections may follow

    @property
    def is_empty(self) -> bool:
        return self.start is None and not self.is_closed


class _Reader(WordReader):
    def __init__(self, text: str, depth: int = 0) -> None:
        super().__init__(text)
        self.depth = depth
        self.commands: list[Command] = []
        self._documents: list[_Document] = []
        self._had_document = False  # in the substitution that is read

    def commands_until(self, end: str) -> None:
        """Read commands up to the end of the text, or up to a `)`, which is passed."""
        outer, blocks, draft, wants_more = len(self._documents), list[str](), _Draft(), False
        while True:
            self._skip(_BLANK)
            char = self.text[self.at : self.at + 1]
            if char == "#":
                self._skip_comment()
            elif char in ("", ")"):
                self._close(draft, char, end)
                if blocks or wants_more or len(self._documents) > outer:
                    missing = blocks[-1] if blocks else "a command" if wants_more else "the text of a here-document"
                    self.fail(f"{missing} is missing at its end")
                self.at += len(end)
                return
            elif self._had_document and self._is_apart(char):
                self.fail("a command after a here-document in a substitution")
            elif char == "(":
                self._subshell(draft)
                wants_more = False
            elif found := _REDIRECT.match(self.text, self.at):
                self._redirect(draft, found)
                wants_more = False
            elif found := _OPERATOR.match(self.text, self.at):
                self._operator(found[0], draft, is_allowed=not draft.is_empty or found[0] == "\n", outer=outer)
                wants_more = found[0] in ("&&", "||", "|", "|&") or (wants_more and found[0] == "\n")
                draft = _Draft()
            elif self._word_of(draft, blocks):
                wants_more = False

    def _operator(self, operator: str, draft: _Draft, *, is_allowed: bool, outer: int) -> None:
        if not is_allowed:
            self.fail(f"{operator} without a command before it")
        self._finish(draft)
        self.at += len(operator)
        if operator == "\n" and self._documents:
            if outer:
                self.fail("a here-document begins within another")
            self._read_documents()

    def _is_apart(self, char: str) -> bool:
        """Whether this begins a command that is not of the pipeline of a here-document.

        Of two such commands in a substitution bash 5.2 makes one, in which the words of both stand.
        """
        is_pipeline = self.text.startswith(("&&", "||", "|", "&>"), self.at)
        return char in ";(" or (char == "&" and not is_pipeline) or (not self._documents and char != "\n")

    def _close(self, draft: _Draft, char: str, end: str) -> None:
        if char != end:
            self.fail(") is missing at its end" if end else ") without a (")
        self._finish(draft)

    def _finish(self, draft: _Draft) -> None:
        if draft.start is None:
            return
        text = self.text[draft.start : min(self.at, draft.start + SHOWN)].strip()
        made = Command(text, tuple(draft.variables), tuple(draft.words), tuple(draft.redirects))
        self.commands.append(made)

    def _subshell(self, draft: _Draft) -> None:
        if not draft.is_empty or self.text.startswith("((", self.at):
            self.fail("a ( that opens no subshell")
        self.nested(1)
        draft.is_closed = True

    def nested(self, opening: int) -> int:
        before = len(self.commands)
        self._check_depth()
        self.at += opening
        self.depth += 1
        self.commands_until(")")
        self.depth -= 1
        self._had_document = self._had_document and self.depth > 0
        return len(self.commands) - before

    def read_apart(self, text: str) -> None:
        self._check_depth()
        reader = _Reader(text, self.depth + 1)
        try:
            reader.commands_until("")
        finally:
            self.commands += reader.commands

    def _check_depth(self) -> None:
        if self.depth >= DEEPEST:
            self.fail(f"more than {DEEPEST} substitutions in each other")

    # -- words of a command

    def _word_of(self, draft: _Draft, blocks: list[str]) -> bool:
        """Take the next word into the command; False where it was a word of the grammar after which one must come."""
        start = self.at
        word = self.word()
        raw = self.text[start : self.at].replace("\\\n", "")
        if self.text[self.at : self.at + 1] in ("<", ">") and (raw[0] == "{" or word.text.isdigit()):
            self.fail("a redirection of a file that is not certain")
        if draft.is_empty and self._is_grammar(raw, draft, blocks):
            return draft.is_closed or raw == "for"
        if draft.is_closed:
            self.fail("a word after the end of a block")
        if draft.start is None:
            draft.start = start
        if not draft.words and (found := ASSIGNMENT.match(raw)):
            draft.variables.append((found[1], Word(word.text[found.end() :], word.sure)))
        else:
            draft.words.append(word)
        return True

    def _is_grammar(self, raw: str, draft: _Draft, blocks: list[str]) -> bool:
        if raw in _NOT_READ:
            self.fail(f"{raw} is grammar that is not read here")
        if raw in _OPENING:
            blocks.append(_OPENING[raw])
            if raw == "for":
                self._loop_variable(draft)
        elif raw in _CLOSING:
            if not blocks or blocks.pop() != raw:
                self.fail(f"{raw} without its beginning")
            draft.is_closed = True
        elif raw in _BETWEEN:
            if not blocks:
                self.fail(f"{raw} without its beginning")
        else:
            return raw == "!"
        return True

    def _loop_variable(self, draft: _Draft) -> None:
        """`for x in …`: a variable that takes any value; the words of the list are read on as of a command."""
        self._skip(_BLANK)
        draft.start = self.at
        name = self.word() if self._begins_word() else Word("")
        self._skip(_BLANK)
        if name.sure != CERTAIN or not NAME.fullmatch(name.text):
            self.fail("for without the name of a variable")
        if self._begins_word() and self.word().text != "in":
            self.fail("for without in")
        draft.variables.append((name.text, Word("", SPLIT)))
        self._skip(_BLANK)
        while self._begins_word():
            self.word()
            self._skip(_BLANK)

    def _begins_word(self) -> bool:
        char = self.text[self.at : self.at + 1]
        return char not in ("", "#") and char not in " \t\n|&;()<>"

    # -- redirections

    def _redirect(self, draft: _Draft, found: re.Match[str]) -> None:
        operator = found[1] or found[2]
        if draft.start is None:
            draft.start = self.at
        self.at = found.end()
        self._skip(_BLANK)
        start = self.at
        if self.text[start : start + 1] in ("", "\n"):
            self.fail(f"{operator} without a target")
        target = self.word()
        if operator in ("<<", "<<-"):
            raw = self.text[start : self.at]
            if target.sure != CERTAIN or "\n" in raw:
                self.fail("a here-document whose end is not certain")
            self._had_document = self.depth > 0
            self._documents.append(_Document(target.text, operator == "<<-", any(char in raw for char in "'\"\\")))
        draft.redirects.append(Redirect(operator, target))

    def _read_documents(self) -> None:
        documents, self._documents = self._documents, []
        for document in documents:
            start = self.at
            stop = self._document_end(document)
            if document.is_quoted:
                continue
            self._read_document(self.text[start:stop])

    def _read_document(self, body: str) -> None:
        """The commands in a document, which is read like a text in quotes."""
        if _ENDS_JOINED.search(body):  # lines are joined before one of them is taken for the end
            self.fail("a here-document with joined lines")
        self._check_depth()
        reader = _Reader(body, self.depth + 1)
        try:
            while reader.at < len(body):
                reader.quoted_piece(_IN_DOCUMENT, "\\$`")
        finally:
            self.commands += reader.commands

    def _document_end(self, document: _Document) -> int:
        """Pass the document; the place where its last line, the end, begins."""
        while True:
            if self.at >= len(self.text):
                self.fail(f"the here-document does not end: {document.end[:40]} is missing")
            start, end = self.at, self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end
            self.at = min(end + 1, len(self.text))
            line = self.text[start:end].lstrip("\t" if document.takes_tabs else "")
            if line == document.end:
                return start
            if self.depth and line.startswith(document.end):  # in a substitution `EOF)` is an end too
                self.fail("a line of a here-document that may be its end")

    def _skip_comment(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
