"""The table of the site's words: whole, used, and no page or message says a term that it has a plain word for."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import render_to_string

from search.glossary import ACRONYMS, GLOSSARY, plain_name
from search.language.reader import LANGUAGES, reading_in

ROOT = settings.BASE_DIR
PAGES = [path for path in (ROOT / "templates").rglob("*.html") if path.parent.name not in ("gallery", "docs", "unfold")]
UNSAID = (
    "api", "domain/mending/words.py", "management", "migrations", "models", "prompts", "signals",
    "views/gallery",
)  # fmt: skip
"""Rooms of `search` whose texts are for programs, models and who runs the site, or are looked at on pages."""
SENTENCES = [
    ROOT / "search" / "signals" / "titles.py",
    *(ROOT / "grasp_site" / "pipelines").rglob("*.py"),
    *(
        path
        for path in (ROOT / "search").rglob("*.py")
        if not path.relative_to(ROOT / "search").as_posix().startswith(UNSAID)
    ),
    *(path for room in ("admin", "jobs") for path in (ROOT / "training" / room).rglob("*.py")),
]
_TERM = re.compile(r"""\{%\s*term\s+"([^"]+)"(?:\s+"([^"]+)")?""")
_TAGS = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_NO_TEXT = re.compile(r"<(script|style|code)\b.*?</\1>", re.DOTALL)
_QUERY = re.compile(r"\s*(SELECT|WITH|EXISTS|MATCH|MERGE|CREATE|RETURN|\w+\.\w+,)")
_NAME = re.compile(r"`[^`]*`|'\w+'")
_SAID = re.compile(r'\b(?:title|aria-label|placeholder|alt|data-label)="([^"]*)"')


def said_by_page(path: Path) -> Iterator[str]:
    text = path.read_text()
    yield from (said for _, said in _TERM.findall(text))
    text = _NO_TEXT.sub(" ", _TAGS.sub(" ", text))
    yield from _SAID.findall(text)
    yield re.sub(r"<[^>]*>", " ", text)


def said_by_code(path: Path) -> Iterator[str]:
    """Yield the texts of several words, without docstrings, keys and queries; text of one word is a key.

    A text with values in it is read whole, with `…` for each value. What stands in backticks or quotes is a name.
    """
    tree = ast.parse(path.read_text())
    told = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    told |= {id(key) for one in ast.walk(tree) if isinstance(one, ast.Dict) for key in one.keys}
    told |= {id(part) for one in ast.walk(tree) if isinstance(one, ast.JoinedStr) for part in one.values}
    told |= {id(one.args[0]) for one in ast.walk(tree) if isinstance(one, ast.Call) and one.args and _is_noted(one)}
    for one in ast.walk(tree):
        said = _text(one) if id(one) not in told else ""
        if " " in said.strip() and not _QUERY.match(said):
            yield _NAME.sub(" ", said)


def _text(one: ast.AST) -> str:
    if isinstance(one, ast.JoinedStr):
        return "".join(_text(part) or "…" for part in one.values)
    return one.value if isinstance(one, ast.Constant) and isinstance(one.value, str) else ""


def _is_noted(call: ast.Call) -> bool:
    """Whether a call writes a line of the log or of the audit, whose first text is the key of an event."""
    return ast.unparse(call.func).startswith(("log.", "note"))


TOLD = [(path, said) for path in PAGES for said in said_by_page(path)]
TOLD += [(path, said) for path in SENTENCES for said in said_by_code(path)]


@pytest.mark.parametrize("word", [word for word, term in GLOSSARY.items() if term.plain != word])
def test_no_page_and_no_message_says_a_term_that_has_a_plain_word(word: str) -> None:
    term = re.compile(rf"(?<![\w/-]){re.escape(word)}(?:s|es|ed|ing)?\b", re.IGNORECASE)
    found = [f"{path.relative_to(ROOT)}: {said.strip()[:90]}" for path, said in TOLD if term.search(said)]
    assert not found, f"say “{GLOSSARY[word].plain}”"


@pytest.mark.parametrize("word", GLOSSARY)
def test_every_word_of_the_table_is_on_a_page(word: str) -> None:
    explained = {used for path in PAGES for used, _ in _TERM.findall(path.read_text())}
    plain = GLOSSARY[word].plain.lower()
    assert word in explained or any(plain.removesuffix("y") in said.lower() for _, said in TOLD)


def test_every_word_is_in_every_language_and_has_a_short_explanation() -> None:
    assert [*GLOSSARY, *ACRONYMS] == [*sorted(GLOSSARY), *sorted(ACRONYMS)]
    for word, term in {**GLOSSARY, **ACRONYMS}.items():
        assert (word, *term.words) == (word, *LANGUAGES)
        assert all(term.words.values()), word
        assert term.meaning.endswith("."), word
        assert len(term.meaning) < 250, word


def test_templates_explain_only_words_of_the_table() -> None:
    used = {word for path in PAGES for word, _ in _TERM.findall(path.read_text())}
    assert {"risk", "bucket", "release"} <= used
    assert used <= {*GLOSSARY, *ACRONYMS}


def test_a_reader_of_another_language_sees_the_word_in_it() -> None:
    shown = {}
    for language in ("de", "en"):
        with reading_in(language):
            shown[language] = render_to_string(
                "search/_term.html", {"word": "hop", "said": "step", "term": GLOSSARY["hop"], "id": "term-1"}
            )
    assert '<span class="dim" lang="de">Schritt</span>' in shown["de"]
    assert "lang=" not in shown["en"]


def test_names_of_programs_have_plain_words() -> None:
    told = {name: plain_name(name) for name in ("nodes", "node", "edges", "snapshot", "candidates", "fuse.k", "MRR")}
    assert told == {
        "nodes": "entities", "node": "entity", "edges": "relations", "snapshot": "imported data",
        "candidates": "possible answers", "fuse.k": "fuse.k", "MRR": "MRR",
    }  # fmt: skip
