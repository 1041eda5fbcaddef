"""A sheet saved as CSV: a title above the header, an empty line inside, sums below, an empty last column."""

from tests.search.ingest.reallife.expected import Expected, Folder, table

KINDS = ["Lesung", "Konzert", "Vortrag", "Führung"]
OF = ["Böll", "Händel", "Humboldt", "Altstadt", "Kästner", "Bach", "Curie", "Hafen", "Mann"]
GUESTS = [40 + (number * 37) % 160 for number in range(36)]
TAKEN = [number * 212.5 + 1000 for number in range(36)]


def german(amount: float) -> str:
    return f"{amount:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")


EVENTS = [
    [
        f"{KINDS[number % 4]} {OF[number // 4]}",
        f"{number % 28 + 1}.{number % 12 + 1}.2024",
        ["Stadthalle", "Rathaus", "Bibliothek"][number % 3],
        str(GUESTS[number]),
        f"{german(TAKEN[number])} €",
        f"{number % 20 + 1},5 %",
        "",
    ]
    for number in range(36)
]
EMPTY = [""] * 7
SUMS = ["Summe", "", "", str(sum(GUESTS)), f"{german(sum(TAKEN))} €", "", ""]

FOLDER = Folder(
    files={
        "Veranstaltungen 2024.csv": table(
            [
                ["Kulturamt – Veranstaltungen 2024", *EMPTY[1:]],
                ["Stand: 31.12.2024", *EMPTY[1:]],
                EMPTY,
                ["Titel", "Datum", "Ort", "Besucher", "Einnahmen", "Anteil", ""],
                *EVENTS[:18],
                EMPTY,
                *EVENTS[18:],
                SUMS,
            ],
            separator=";",
            encoding="cp1252",
        )
    },
    expected=Expected(
        types={"Veranstaltung": 36},
        values={
            ("Veranstaltung", "Lesung Böll", "Einnahmen"): 1000,
            ("Veranstaltung", "Konzert Böll", "Einnahmen"): 1212.5,
            ("Veranstaltung", "Führung Mann", "Besucher"): GUESTS[35],
            ("Veranstaltung", "Führung Böll", "Datum"): "2024-04-04",
            ("Veranstaltung", "Vortrag Böll", "Anteil"): 3.5,
        },
        may_be_nodes=("Ort",),
        warned=(),
    ),
)
