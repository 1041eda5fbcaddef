"""Writes the index of all documents and of each field."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search.adapters.string_table import write_strings
from search.adapters.text_bm25.analyzer import Analyzer, Codes
from search.adapters.text_bm25.corpus import Corpus


def build(
    directory: Path,
    documents: Iterable[tuple[str, Mapping[str, str]]],
    types: NDArray[np.int16],
    language: str = "en",
    computed: Callable[[float], None] = lambda share: None,
) -> None:
    """Write the index of (document, field name → text), one pair for each node in the order of keys, into `directory`.

    The given fields can also be searched on their own; the index of a field covers the nodes that have it. After all
    documents have been read, `computed` receives the share of the scores that has been computed, again and again; the
    exception that it raises ends the work.
    """
    codes = Codes(Analyzer(language))
    whole, fields = Corpus(directory / "whole.words"), dict[str, Corpus]()
    for key, (document, texts) in enumerate(documents):
        whole.add(key, codes.of(document))
        for name, text in texts.items():
            if name not in fields:
                fields[name] = Corpus(directory / f"{len(fields)}.words")
            fields[name].add(key, codes.of(text))
    vocabulary = sorted(codes.stems, key=str.encode)
    places = np.empty(len(vocabulary), dtype=np.int32)
    places[[codes.stems[stem] for stem in vocabulary]] = np.arange(len(vocabulary), dtype=np.int32)
    write_strings(directory / "vocabulary", vocabulary)
    np.save(directory / "types.npy", np.asarray(types, dtype=np.int16))
    corpora = {"whole": whole} | {f"field-{place}": fields[name] for place, name in enumerate(sorted(fields))}
    written = {folder: corpus for folder, corpus in corpora.items() if corpus.words}
    # Each word is sorted into a run, and merged.
    steps, done = 2 * sum(corpus.words for corpus in written.values()), 0

    def told(words: int) -> None:
        nonlocal done
        done += words
        computed(done / steps)

    for folder, corpus in written.items():
        (directory / folder).mkdir()
        corpus.write(directory / folder, places, told)
    named = {name: f"field-{place}" for place, name in enumerate(sorted(fields)) if f"field-{place}" in written}
    manifest = {"language": language, "whole": "whole" in written, "fields": named}
    (directory / "bm25.json").write_text(json.dumps(manifest, ensure_ascii=False))
