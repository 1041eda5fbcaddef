"""Tables that name each other instead of giving ids; large numbers with commas; one column refers to the own table."""

from tests.search.ingest.reallife.expected import Expected, Folder, table

COUNTRIES = [
    ["France", "Paris", "67,800,000", "€2.64 tn"],
    ["Italy", "Rome", "58,900,000", "€1.95 tn"],
    ["Japan", "Tokyo", "124,500,000", "€3.9 tn"],
    ["Brazil", "Brasília", "203,100,000", "€2.0 tn"],
    ["Norway", "Oslo", "5,500,000", "€0.45 tn"],
]
STUDIOS = [
    ["Lumina", "France", "1931"],
    ["Cine Uno", "Italy", "1950"],
    ["Hoshi", "Japan", "1962"],
    ["Fjordfilm", "Norway", "1988"],
]
FIRST, LAST = ["Aline", "Bruno", "Chiyo", "Davi", "Elsa", "Franco"], ["Moreau", "Conti", "Tanaka", "Silva"]
PEOPLE = [
    [
        f"{FIRST[number % 6]} {LAST[number // 6]}",
        str(1930 + number * 3),
        COUNTRIES[number % 5][0],
    ]
    for number in range(24)
]
TITLES = [
    "The Quiet Shore",
    "Paper Moonlight",
    "Seven Bridges",
    "A Late Summer",
    "Iron Garden",
    "The Ferryman",
    "Blue Hour",
    "Northbound",
    "The Tailor's Son",
    "Salt",
    "Glass Town",
    "First Snow",
    "The Orchardist",
    "Low Tide",
    "Two Clocks",
    "The Understudy",
    "Winter Train",
    "Lanterns",
    "The Cartographer",
    "Open Water",
    "Seven Bridges II",
    "Blue Hour Returns",
    "Small Hours",
    "Echo Valley",
    "The Watchmaker",
    "Dust Road",
    "Harbour Lights",
    "The Long Table",
    "Red Kites",
    "Still Life",
]
FILMS = [
    [
        title,
        str(1970 + number),
        PEOPLE[number % 6][0],
        STUDIOS[number % 4][0],
        {"Seven Bridges II": "Seven Bridges", "Blue Hour Returns": "Blue Hour"}.get(title, ""),
    ]
    for number, title in enumerate(TITLES)
]
CAST = [
    [TITLES[number % 30], PEOPLE[6 + (number * 5 + number // 30) % 18][0], ["lead", "support", "voice"][number % 3]]
    for number in range(90)
]

FOLDER = Folder(
    files={
        "films.csv": table([["Film", "Year", "Director", "Studio", "Sequel of"], *FILMS]),
        "people.csv": table([["Name", "Born", "Country"], *PEOPLE]),
        "studios.csv": table([["Studio", "Country", "Founded"], *STUDIOS]),
        "countries.csv": table([["Country", "Capital", "Population", "GDP"], *COUNTRIES]),
        "cast.csv": table([["Film", "Actor", "Part"], *CAST]),
    },
    expected=Expected(
        types={"film": 30, "person": 24, "studio": 4, "countr": 5},
        relations={
            ("film", "person"): 30 + 90,
            ("film", "studio"): 30,
            ("film", "film"): 2,
            ("person", "countr"): 24,
            ("studio", "countr"): 4,
        },
        values={
            ("countr", "Italy", "Population"): 58900000,
            ("film", "The Quiet Shore", "Year"): 1970,
            ("studio", "Hoshi", "Founded"): 1962,
        },
    ),
)
