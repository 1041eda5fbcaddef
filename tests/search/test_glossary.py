"""The glossary: every word that a template explains is in it, and its explanations stay short."""

import re

from django.conf import settings

from search.glossary import ACRONYMS, GLOSSARY

_TERM = re.compile(r"""\{%\s*term\s+"([^"]+)\"""")


def test_templates_explain_only_words_of_the_glossary() -> None:
    used = {
        word for path in (settings.BASE_DIR / "templates").rglob("*.html") for word in _TERM.findall(path.read_text())
    }
    assert {"risk", "bucket", "release"} <= used
    assert used <= {*GLOSSARY, *ACRONYMS}


def test_every_word_has_a_plain_word_and_a_short_explanation() -> None:
    assert list(GLOSSARY) == sorted(GLOSSARY)
    for word, term in {**GLOSSARY, **ACRONYMS}.items():
        assert term.plain, word
        assert term.meaning.endswith("."), word
        assert len(term.meaning) < 250, word
