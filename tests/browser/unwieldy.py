"""A knowledge base whose names do not fit: long words without a break, long relations, scripts from right to left."""

import json
from pathlib import Path
from typing import Any

NAME = "unwieldy"
MAKER = "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesellschaft"
TOWN = "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch"
QUESTION = f"What was manufactured under licence by {MAKER}?"
LONG_ID = f"thing:{'x' * 150}"

_WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
_TYPES = ("internationally_standardised_thing", "maker", "municipality")
_RELATIONS = {
    "MANUFACTURED_UNDER_LICENCE_BY_ITS_ORIGINAL_MAKER": (_TYPES[0], "maker"),
    "REGISTERED_IN_THE_COMMERCIAL_REGISTER_OF": ("maker", "municipality"),
}


def _node(node_id: str, kind: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"id": node_id, "type": kind, "name": name, "fields": fields}


def write_bundle(folder: Path) -> Path:
    """Write the bundle's files and return the folder."""
    text = f"A text about https://example.org/{'path/' * 30}{_WORD} and {_WORD.lower()}."
    things = [
        _node(LONG_ID, _TYPES[0], f"{_WORD} {_WORD}", description=text, serial_number_of_the_first_model="9" * 120),
        _node("thing:2", _TYPES[0], "X" * 180, description=text, features=[_WORD, "short", "الاسم طويل جدا"]),
        _node("thing:3", _TYPES[0], "محطة توليد الكهرباء الرئيسية للسفن البخارية", description="ערך"),
        _node("thing:4", _TYPES[0], "𝒲 🧑‍🚀" * 12, description="🏕️" * 80),
        _node("thing:5", _TYPES[0], "Ox", description="Short."),
    ]
    nodes = [*things, _node("maker:1", "maker", MAKER), _node("town:1", "municipality", TOWN)]
    first, second = _RELATIONS
    edges = [*((thing["id"], first, "maker:1") for thing in things), ("maker:1", second, "town:1")]
    described = {
        "name": NAME,
        "title": f"{_WORD}: a title that is one long word",
        "domain": "things",
        "language": "en",
        "licence": "CC0-1.0",
        "source": "Written for this test.",
        "description": f"{_WORD} {_WORD}",
        "examples": [QUESTION],
        "node_types": {
            _TYPES[0]: {"fields": {
                "description": {"type": "text"},
                "features": {"type": "text", "many": True},
                "serial_number_of_the_first_model": {"type": "keyword"},
            }},
            "maker": {},
            "municipality": {},
        },
        "relation_types": [{"source": a, "relation": name, "target": b} for name, (a, b) in _RELATIONS.items()],
    }  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kb.json").write_text(json.dumps(described, ensure_ascii=False))
    (folder / "nodes.jsonl").write_text("".join(json.dumps(node, ensure_ascii=False) + "\n" for node in nodes))
    (folder / "edges.tsv").write_text("source\trelation\ttarget\n" + "".join("\t".join(edge) + "\n" for edge in edges))
    return folder
