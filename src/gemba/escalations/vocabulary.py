"""Words of the questions that agents ask: which say nothing, which mean the same, and what a word's stem is. Pure.

General words of English, German and Spanish, folded (small letters, no accents). `likeness.py` reads them.
"""

from __future__ import annotations

import functools
import re


@functools.lru_cache(16_384)
def stem_of(word: str) -> str:
    """A folded word without its English ending, as one word for all that mean the same."""
    known = _SYNONYMS.get(word)
    if known is not None:
        return known
    stem = _ending_off(word)
    return _SYNONYMS.get(stem, stem)


_VOWEL = re.compile("[aeiouy]")


def _ending_off(word: str) -> str:
    stem = word
    if len(stem) > 4 and stem.endswith("ies"):
        stem = stem[:-3] + "y"
    elif len(stem) > 3 and stem.endswith("s") and not stem.endswith(("ss", "us", "is")) and _VOWEL.search(stem):
        stem = stem[:-1]
    for ending in ("ing", "ed"):
        if stem.endswith(ending) and len(stem) > len(ending) + 2 and _VOWEL.search(stem[: -len(ending)]):
            stem = stem[: -len(ending)]
            if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
                stem = stem[:-1]
            break
    if len(stem) > 3 and stem.endswith("e"):
        stem = stem[:-1]
    return stem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Say nothing about what is asked; folded, not stemmed.
_ENGLISH = _words("""
    a an the this that these those i me my we us our you your he him his she her it its they them their
    am is are be been being do does doing done have has having
    should shall can could may might must will would ought
    please kindly thanks thank hi hello hey sorry question quick quickly tell know let lets say wonder wondering
    decide want wants wanted wish like prefer preferred rather think guess supposed
    use uses using used choose chosen pick picked select selected take go going
    ok okay fine alright acceptable possible best just also now here there so then well if whether
    really actually exactly maybe perhaps currently simply
    in on at of for with by as via to into onto from about within regarding concerning and
""")
_GERMAN = _words("""
    ich wir mir mich uns du dir er sie es ihr ihnen der die das den dem des ein eine einen einem einer eines
    soll sollen sollte sollten wurde darf durfen durfte kann konnen konnte muss mussen will wollen mochte mochten
    bitte danke hallo sag sage sagen fur auf im an mit zu zum zur von vom bei als und ist sind sein wird werden
    dieser diese dieses diesen hier jetzt ob verwenden verwende verwendet benutzen benutze benutzt nutzen nutze nehmen
    nehme wahlen
""")
_SPANISH = _words("""
    el la los las un una unos unas de del en al por para con yo nosotros tu usted debo debemos deberia deberiamos puedo
    podemos puede podria quieres quiere favor gracias hola es son esta este estos estas y se nos lo usar uso usamos
    utilizar utilizo elegir
""")
FILLER = _ENGLISH | _GERMAN | _SPANISH
# A text with one of these puts its verbs last: who does it to whom is in the order of the others.
VERB_FINAL = _GERMAN - _ENGLISH - _SPANISH
NEGATIONS = _words(
    "not no never without cannot nor neither nicht kein keine keinen keinem keiner nie niemals ohne nunca sin jamas"
)
# How a question begins: what it wants, and whether the word says so only where a clause begins.
OPENING = {
    word: (wants, needs_start)
    for wants, needs_start, words in (
        (
            "decision",
            True,
            "should shall can could may might must will would ought soll sollen sollte darf durfen kann muss",
        ),
        ("decision", True, "debo debemos deberia puedo podemos"),
        ("decision", False, "ok okay fine alright acceptable want prefer allowed"),
        ("fact", True, "is are was were do does did has have had ist sind wurde war es son"),
    )
    for word in words.split()
}
REQUESTING = _words("can could would will")
# Words for what is asked for. A question that has one wants no yes or no.
ASKING = _words("which how why when where who")
EMPTY = ASKING | {"or"}
# What a word means depends on which of these it stands behind.
DIRECTIONS = _words("from to into onto with before after than over under against desde hasta nach von vor")

_SAME_WORDS = """
    which what welche welcher welches welchen welchem que cual cuales
    how wie
    why warum wieso
    when wann cuando
    where wo wohin donde
    who whom wer wen quien
    or vs versus oder o
    did was were had
    delete remove erase
    folder directory dir
    database db
    repository repo
    configuration config cfg
    environment env
    production prod
    development dev
    documentation docs doc
    dependency dep
    application app
    parameter param
    argument arg
    variable var
    temporary temp tmp
    maximum max maximal
    minimum min minimal
    message msg
    package pkg
    library lib
    specification spec
    administrator admin
    information info
    postgresql postgres
    javascript js
    typescript ts
    kubernetes k8s
    color colour
    license licence
    behavior behaviour
    execute run
    modify change alter
    keep kept retain
    build built
    find found
    give given gave
    hide hidden
    hold held
    make made
    send sent
    show shown
    throw thrown
    write written
    allow permit
    fix repair
    begin start
    proceed continue
    pr pullrequest
    example sample
    authentication authn
    authorization authz authorisation
    millisecond ms
    second sec
"""
_SYNONYMS = {
    form: _ending_off(line.split()[0])
    for line in _SAME_WORDS.strip().splitlines()
    for word in line.split()
    for form in {word, _ending_off(word)}
}
# Written as one word or as two.
_TWO_WORDS = """
    back end, change log, check list, code base, data set, file name, front end, host name, key word, life cycle,
    lock file, log in, log out, name space, place holder, pull request, roll back, run time, set up, sub module,
    time out, time stamp, time zone, user name, web hook, web site, white space, work flow, work space
"""
# With the plural of the second, whose ending goes off the whole.
COMPOUNDS = {
    (first, second + ending): first + second + ending
    for first, second in map(str.split, _TWO_WORDS.split(","))
    for ending in ("", "s")
}
COMPOUNDS["go", "ahead"] = "proceed"
SECONDS = frozenset(second for _, second in COMPOUNDS)
