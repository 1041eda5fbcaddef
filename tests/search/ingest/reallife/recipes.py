"""One table of recipes without ids: lists in cells with two separators, durations with a unit, a rating."""

from tests.search.ingest.reallife.expected import Expected, Folder, table

DISHES = ["Soup", "Salad", "Curry", "Stew", "Pie", "Pasta"]
OF = ["Lentil", "Tomato", "Pumpkin", "Mushroom", "Spinach", "Bean", "Leek"]
TAGS = ["vegan", "quick", "winter", "family", "spicy", "cheap"]
THINGS = ["onion", "garlic", "olive oil", "salt", "cream", "rice", "sweet potato", "lemon juice"]
RECIPES = [
    [
        f"{OF[number % 7]} {DISHES[number // 7]}",
        ["Italian", "Indian", "French"][number % 3],
        " | ".join(TAGS[(number + step) % 6] for step in range(number % 3 + 1)),
        "; ".join([OF[number % 7].lower(), *(THINGS[(number + step) % 8] for step in range(2 + number % 3))]),
        f"{15 + 5 * (number % 10)} min",
        str(2 + number % 5),
        f"{3 + (number % 20) / 10:.1f}",
        f"https://example.org/recipes/{number}",
    ]
    for number in range(42)
]

FOLDER = Folder(
    files={
        "My recipes.csv": table(
            [["Title", "Cuisine", "Tags", "Ingredients", "Time", "Servings", "Rating", "Link"], *RECIPES]
        )
    },
    expected=Expected(
        types={"recipe": 42},
        values={
            ("recipe", "Lentil Soup", "Time"): 15,
            ("recipe", "Mushroom Soup", "Time"): 30,
            ("recipe", "Mushroom Soup", "Rating"): 3.3,
            ("recipe", "Mushroom Soup", "Servings"): 5,
        },
        lists={
            ("recipe", "Pumpkin Soup", "Tags"): frozenset({"winter", "family", "spicy"}),
            ("recipe", "Lentil Soup", "Tags"): frozenset({"vegan"}),
            ("recipe", "Lentil Soup", "Ingredients"): frozenset({"lentil", "onion", "garlic"}),
            ("recipe", "Spinach Soup", "Ingredients"): frozenset({"spinach", "cream", "rice", "sweet potato"}),
        },
        may_be_nodes=("Cuisine", "Tags", "Ingredients"),
    ),
)
