"""What differs between two specifications is said in the words of the stages, not by the places in the JSON."""

from __future__ import annotations

from typing import Any

from search import wiring
from search.domain.differences import MISSING
from search.services.pipelines.differing_settings import differing_settings, setting_about, setting_label


def test_a_setting_has_the_title_of_its_stage_and_says_what_it_does() -> None:
    schema = wiring.pipeline("grasp").settings_schema()["properties"]
    assert setting_label("grasp", "fuse.k") == "Fuse: k"
    assert setting_about("grasp", "fuse.k") == schema["fuse.k"]["description"]
    assert setting_label("grasp", "retrieve") == "Retrieve: variant"
    # A pipeline, and a setting, that the site has no more.
    assert (setting_label("gone", "fuse.name_k"), setting_about("gone", "fuse.name_k")) == ("Fuse: name k", "")
    assert setting_about("grasp", "fuse.name_k") == ""


def test_the_variant_of_a_stage_is_told_once() -> None:
    grasp = wiring.pipeline("grasp")
    found = differing_settings(grasp.specification({}), grasp.specification({"retrieve": "bm25", "fuse.k": 7}))
    told = [(one.label, one.before, one.after) for one in found]
    assert told[0] == ("Retrieve: variant", "hybrid", "bm25")
    assert told[-1] == ("Fuse: k", 3.0, 7)
    assert not any("search.stages" in str(values) for values in told)
    gone = next(one for one in found if one.key == "retrieve.words")
    # The variant bm25 has no such setting; what it does is still said.
    assert (gone.before, gone.after) == (8.0, MISSING)
    assert gone.about


def stored(specification: dict[str, Any]) -> dict[str, Any]:
    """Return a specification as the database gives it back: without the order of its stages."""
    return specification | {"stages": dict(sorted(specification["stages"].items()))}


def test_a_stage_that_only_one_side_has_is_one_difference() -> None:
    found = differing_settings(
        stored(wiring.pipeline("grasp").specification({})), wiring.pipeline("bm25").specification({})
    )
    link = next(one for one in found if one.key.startswith("link"))
    assert (link.key, link.whole, link.before, link.after) == ("link", True, "Link", MISSING)
    choice = next(one for one in found if one.key == "retrieve")
    # The step is on both sides; only one of them has a choice there.
    assert (choice.label, choice.whole, choice.before, choice.after) == ("Retrieve: variant", False, "hybrid", MISSING)
    assert [one.key for one in found].count("link") == 1
    assert [one.key for one in found][:2] == ["plan", "link"]
