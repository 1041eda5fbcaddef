"""Orders and conditions by what is computed from neighbours; what is right is computed from the demo's files."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from search.domain.plan import Count, Filter, Order
from tests.search.stages.plan.demo_planners import PlannedDemo, planned

FILES = Path("search/fixtures/demo/products")
OF_PRODUCTS = Count("HAS_BRAND", "in", "product")


@pytest.fixture(scope="module")
def products(tmp_path_factory: pytest.TempPathFactory) -> PlannedDemo:
    return planned("products", tmp_path_factory.mktemp("products"))


def of_brands(field: str, computed: Callable[[Sequence[float]], float]) -> dict[str, float]:
    """Return the name of each brand with what is computed from a field of its products."""
    lines = (FILES / "nodes.jsonl").read_text(encoding="utf-8").splitlines()
    nodes: dict[str, dict[str, Any]] = {node["id"]: node for node in map(json.loads, lines)}
    values: dict[str, list[float]] = defaultdict(list)
    with (FILES / "edges.tsv").open(encoding="utf-8") as file:
        for edge in csv.DictReader(file, delimiter="\t"):
            value = nodes[edge["source"]].get("fields", {}).get(field)
            if edge["relation"] == "HAS_BRAND" and value is not None:
                values[nodes[edge["target"]]["name"]].append(value)
    return {name: computed(numbers) for name, numbers in values.items()}


def computed(plan_of: PlannedDemo, text: str) -> tuple[Any, ...]:
    order = plan_of.best(text).plan.order
    assert order is not None
    assert isinstance(order.by, Count)
    return order.by.rel, order.by.direction, order.by.function, order.by.of, order.direction, order.limit


@pytest.mark.parametrize(
    ("text", "function", "direction", "limit"),
    [
        ("brands by average price", "mean", "desc", None),
        ("brands by total price of their products", "sum", "desc", None),
        ("which brand has the highest average price", "mean", "desc", 1),
        ("the 3 brands with the lowest average price", "mean", "asc", 3),
        ("average price per brand", "mean", "desc", None),
        ("average price of products for each brand", "mean", "desc", None),
    ],
)
def test_an_aggregate_of_neighbours_puts_in_order(
    products: PlannedDemo, text: str, function: str, direction: str, limit: int | None
) -> None:
    assert computed(products, text) == ("HAS_BRAND", "in", function, "price", direction, limit)


def test_the_first_brand_is_that_with_the_highest_mean_of_its_products_prices(products: PlannedDemo) -> None:
    means = of_brands("price", mean)
    assert products.answers("which brand has the highest average price") == [max(means, key=means.__getitem__)]


def test_brands_stand_in_the_order_of_the_sums_of_their_products_prices(products: PlannedDemo) -> None:
    sums = of_brands("price", sum)
    found = products.answers("brands by total price of their products")
    # A brand without any price has no sum and stands behind the others.
    assert [sums[name] for name in found[: len(sums)]] == sorted(sums.values(), reverse=True)
    assert not set(found[len(sums) :]) & set(sums)


def test_a_mean_is_compared_with_a_number(products: PlannedDemo) -> None:
    plan = products.best("brands with an average price over 200").plan
    by = Count("HAS_BRAND", "in", "product", function="mean", of="price")
    assert plan.filters == (Filter("T", "", ">", 200, by),)
    assert set(products.answers("brands with an average price over 200")) == {
        name for name, value in of_brands("price", mean).items() if value > 200
    }


def test_a_number_of_nodes_puts_in_order_behind_by(products: PlannedDemo) -> None:
    assert products.best("brands by number of products").plan.order == Order(OF_PRODUCTS, "desc")


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("products sorted by price", "asc"),
        ("products sorted by rating", "desc"),
        ("products sorted by price, highest first", "desc"),
    ],
)
def test_answers_are_sorted_by_a_field_that_is_named(products: PlannedDemo, text: str, direction: str) -> None:
    order = products.best(text).plan.order
    assert order is not None
    assert (order.by, order.direction, order.limit) == (text.split()[3].strip(","), direction, None)
