"""Parts of a result that are made without a template: the same marks, escaped alike."""

from __future__ import annotations

from types import SimpleNamespace
from uuid import UUID

from django.template import Context

from search.templatetags.result_parts import conditions, foot


def condition(label: str, **values: str) -> SimpleNamespace:
    return SimpleNamespace(
        **{"kind": "anchor", "label": label, "status": "met", "mark": "✓", "word": "met", "note": ""} | values
    )


def test_conditions_are_a_list_and_everything_in_it_is_escaped() -> None:
    result = SimpleNamespace(ordered="", ticks=[condition("<b>A & B</b>", note='say "x"')])
    assert conditions(result) == (
        '<ul class="conditions" aria-label="Conditions of the plan"><li class="met" title="say &quot;x&quot;">'
        '<span class="tick" aria-hidden="true">✓</span><span class="what">&lt;b&gt;A &amp; B&lt;/b&gt;</span>'
        '<span class="word">met</span></li></ul>'
    )


def test_an_order_that_the_result_tells_itself_is_left_out_and_a_long_label_is_cut() -> None:
    order, long = condition("by price", kind="order"), condition("x" * 91)
    assert conditions(SimpleNamespace(ordered="price 24", ticks=[order])).count("<li") == 0
    assert conditions(SimpleNamespace(ordered="", ticks=[order])).count("<li") == 1
    assert f">{'x' * 89}…<" in conditions(SimpleNamespace(ordered="", ticks=[long]))
    assert conditions(SimpleNamespace(ordered="", ticks=[])) == ""


def test_a_judgment_that_was_given_is_taken_back_by_the_same_button() -> None:
    result = SimpleNamespace(id='a"1', name="<Mug>", rank=1)
    search = SimpleNamespace(id=UUID(int=1), only_stored=False, pending=False, searchable=False)
    asked = foot(Context({"search": search}), result)
    given = foot(Context({"search": search, "marks": {result.id: "wrong"}}), result)
    assert 'name="right" value="a&quot;1" data-kind="right" aria-pressed="false"' in asked
    assert 'name="wrong" value="a&quot;1" data-kind="wrong" aria-pressed="false"' in asked
    assert "– &lt;Mug&gt;</span></button>" in asked
    assert 'name="withdraw" value="a&quot;1" data-kind="wrong" aria-pressed="true"' in given
    assert given.count("withdraw") == 1
