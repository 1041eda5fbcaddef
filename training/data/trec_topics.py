"""Questions in TREC's formats: topics, and qrels with the relevant documents of each topic.

Topics come as `<top>` or `<topic>` elements (https://trec.nist.gov/data/topics_eng/), or as lines of id, tab and text.
A line of qrels is `topic iteration document relevance` (https://trec.nist.gov/data/qrels_eng/); a relevance above 0
makes the document an answer. Where not all of them are 1, they are kept as grades; documents with a relevance below 0
were not judged, as for trec_eval. Ids are percent-decoded, because `evaluate` writes white space and `%`
percent-encoded.
"""

from __future__ import annotations

import html
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from training.data.examples import BadQuestions, Example, numbered_lines, usable

_TAG = re.compile(r"<([^<>]*)>")
_RELEVANCE = re.compile(r"-?[0-9]{1,9}")
_TOPIC = ("top", "topic")
_TEXTS = ("title", "query", "question", "desc", "description")
"""Fields that may hold a question; the first one present is used."""
_LABELS = {"num": "Number:", "title": "Topic:", "desc": "Description:"}
"""Labels at the beginning of some fields in old collections."""
_TOPIC_FILES, _QRELS_FILES = ("topic", "quer", "question"), ("qrel",)
_ENDINGS = frozenset({"txt", "tsv", "trec", "xml", "gz", "qrels", "topics"})


def read_trec(path: Path, qrels: Path | None = None) -> list[Example]:
    """Return the topics of a file for which its qrels have an answer, in the order of the topics.

    Without `qrels`, `path` is a folder with files whose names contain `topics` (or `queries`) and `qrels`. The part
    of a name after `qrels` is the split of its topics, as in `qrels.val.txt`. Topics without an answer are left out, as
    by trec_eval. Raises BadQuestions with every fault.
    """
    topic_files, qrels_files = _files(path) if qrels is None else ([path], [qrels])
    faults: list[str] = []
    topics: dict[str, str] = {}
    judged: dict[str, dict[str, int]] = {}
    splits: dict[str, str] = {}
    try:
        for file in topic_files:
            for name, text in _topics(file, faults):
                if name in topics:
                    faults.append(f"{file.name}: the topic {name!r} is there twice.")
                topics[name] = text
        for file in qrels_files:
            _judge(file, topics, judged, splits, faults)
    except (OSError, EOFError, zlib.error) as error:
        faults.append(f"{path}: cannot be read as UTF-8 text, plain or gzip: {error}")
    answers = {name: tuple(one for one, grade in of.items() if grade > 0) for name, of in judged.items()}
    graded = any(grade != 1 for of in judged.values() for grade in of.values())
    examples = [
        Example(name, text, answers[name], splits.get(name, ""), {}, judged[name] if graded else {})
        for name, text in topics.items()
        if answers.get(name)
    ]
    return usable(examples, faults, f"{path.name} has no topic to which its qrels have an answer.")


def _files(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the files of a folder with topics, and those with qrels. Raises BadQuestions if one kind is missing."""
    if not folder.is_dir():
        raise BadQuestions([f"{folder}: there is no such folder."])
    files = sorted(file for file in folder.iterdir() if file.is_file())
    qrels = [file for file in files if any(word in file.name.casefold() for word in _QRELS_FILES)]
    named = [file for file in files if any(word in file.name.casefold() for word in _TOPIC_FILES)]
    topics = [file for file in named if file not in qrels]
    missing = [word for word, found in (("topics", topics), ("qrels", qrels)) if not found]
    if missing:
        raise BadQuestions([f"{folder.name} has no file whose name holds {word!r}." for word in missing])
    return topics, qrels


def _topics(file: Path, faults: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the id and the text of each topic of a file."""
    lines = list(numbered_lines(file))
    if lines and lines[0][1].lstrip("\ufeff \t").startswith("<"):
        yield from _elements("".join(line for _, line in lines), file.name, faults)
        return
    for number, line in lines:
        name, tab, text = line.strip("\ufeff\r\n").partition("\t")
        if tab and name.strip() and text.strip():
            yield unquote(name.strip()), text.strip()
        else:
            faults.append(f"{file.name}:{number}: a topic is an id, a tab and a text.")


def _elements(content: str, name: str, faults: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the id and the text of each `<top>` or `<topic>`. The fields in it need no end tags."""
    fields: dict[str, str] | None = None
    tags = list(_TAG.finditer(content))
    ends = [*(tag.start() for tag in tags[1:]), len(content)]
    for tag, end in zip(tags, ends, strict=False):
        word, _, attributes = tag.group(1).strip().partition(" ")
        kind = word.casefold()
        if kind in _TOPIC:
            fields = {"num": _number(attributes)}
        elif kind.startswith("/") and kind[1:] in _TOPIC and fields is not None:
            text = next((fields[field] for field in _TEXTS if fields.get(field)), "")
            if fields["num"] and text:
                yield unquote(fields["num"]), text
            else:
                faults.append(f"{name}: a topic takes a number and a title; {fields['num'] or text[:80]!r} lacks one.")
            fields = None
        elif fields is not None and not kind.startswith("/"):
            said = content[tag.end() : end]
            said = " ".join(html.unescape(said).split()).removeprefix(_LABELS.get(kind, "")).strip()
            fields[kind] = fields.get(kind) or said
    if fields is not None:
        faults.append(f"{name}: the last topic does not end.")


def _number(attributes: str) -> str:
    """Return the value of `number="…"` or `id="…"`."""
    for attribute in ("number", "id"):
        _, found, rest = attributes.partition(f"{attribute}=")
        if found and rest[:1] in ("'", '"'):
            return rest[1:].partition(rest[0])[0].strip()
    return ""


def _judge(
    file: Path, topics: dict[str, str], judged: dict[str, dict[str, int]], splits: dict[str, str], faults: list[str]
) -> None:
    """Read a file of qrels into `judged` (relevance by document, by topic) and `splits` (from the file's name)."""
    split = _split(file.name)
    for number, line in numbered_lines(file):
        where, columns = f"{file.name}:{number}", line.split()
        if len(columns) != 4 or not _RELEVANCE.fullmatch(columns[3]):
            faults.append(f"{where}: a line of qrels is a topic, an iteration, a document and a whole number.")
            continue
        name, document = unquote(columns[0]), unquote(columns[2])
        if name not in topics:
            faults.append(f"{where}: there is no topic {name!r}.")
        elif splits.setdefault(name, split) != split:
            faults.append(f"{where}: the topic {name!r} is in the split {splits[name]!r} already.")
        elif int(columns[3]) >= 0:
            judged.setdefault(name, {})[document] = int(columns[3])


def _split(name: str) -> str:
    """Return the part after `qrels` in a file's name, without its endings."""
    _, _, rest = name.casefold().partition("qrels")
    words = [word for word in re.split(r"[._-]", rest) if word and word not in _ENDINGS]
    return "-".join(words)
