"""Which node of a release a person means by an id or a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from search.models import Node, Release
from search.sentences.values import type_words
from search.services.knowledge.find_nodes import complete_name
from search.services.searches.storable import storable_text

MOST_MEANT = 8
LONGEST = 500


@dataclass(frozen=True)
class MeantNode:
    """What a field of a form means: a node's `id` and `name`, or the nodes that it may mean, or a `fault`."""

    text: str
    id: str = ""
    name: str = ""
    offers: tuple[dict[str, Any], ...] = ()
    fault: str = ""

    @property
    def shown(self) -> str:
        """What the field shows: the name of the node, or what was typed."""
        return self.name or self.text


def meant(release: Release, text: str, chosen: str = "") -> MeantNode:
    """Return the node that a text means: the one with the id `chosen` if it has that name, the one with that id, or
    the only one with that name or alias; otherwise the nodes to choose from.
    """
    text = storable_text(text).strip()[:LONGEST]
    if not text:
        return MeantNode(text)
    nodes = Node.objects.filter(snapshot_id=release.snapshot.pk)
    for node in nodes.filter(id__in=[storable_text(chosen), text]).only("id", "name", "key", "snapshot_id"):
        if (node.id == chosen and node.name == text) or (node.id == text and not chosen):
            return MeantNode(text, node.id, node.name)
    by_id = nodes.filter(id=text).first()
    if by_id is not None:
        return MeantNode(text, by_id.id, by_id.name)
    found = complete_name(release, text, MOST_MEANT)
    same = [node for node in found if node.name.lower() == text.lower()]
    if len(same) == 1:
        return MeantNode(text, same[0].id, same[0].name)
    types = release.snapshot.schema.node_types
    offers = tuple(
        {"id": node.id, "name": node.name, "type": type_words(types[node.type].name)} for node in same or found
    )
    fault = "" if offers else f"Nothing here is called “{text[:80]}”. Type the beginning of a name, or an id."
    return MeantNode(text, offers=offers, fault=fault)
