"""A museum's export from a German database: semicolons, cp1252, decimal commas, dotted thousands, days first."""

from tests.search.ingest.reallife.expected import Expected, Folder, table

ARTISTS = [
    ["K-01", "Käthe Löwenthal", "1878", "1942", "Berlin"],
    ["K-02", "Jörg Groß", "1901", "1977", "München"],
    ["K-03", "Anna Weiß", "1855", "1931", "Köln"],
    ["K-04", "Émile Bérard", "1830", "1899", "Paris"],
    ["K-05", "Günter Müller", "1924", "2003", "Düsseldorf"],
    ["K-06", "Lotte Brandt", "1899", "1968", "Hamburg"],
    ["K-07", "Søren Dahl", "1866", "1940", "København"],
    ["K-08", "Friedrich Öhler", "1812", "1880", "Weimar"],
]
THINGS = ["Stillleben", "Landschaft", "Bildnis", "Hafen", "Brücke", "Winterabend"]
VIEWS = ["mit Äpfeln", "bei Nacht", "im Frühling", "am Fluß", "von Süden", "mit Vögeln", "im Nebel", "ohne Titel"]
INSURED = ["27.808", "950", "1.250.000", "3.450", "12.000", "780", "64.125", "8.300"]

OBJECTS = [
    [
        f"{1950 + number}/{number % 7 + 1:03}",
        f"{THINGS[number % 6]} {VIEWS[number // 6]}",
        f"K-{number % 8 + 1:02}",
        f"{20 + number},{(number * 5) % 10}",
        f"{30 + number},{(number * 3) % 10}",
        INSURED[number % 8],
        f"{number % 28 + 1:02}.{number % 12 + 1:02}.{1960 + number}",
        ["Saal 1", "Saal 2", "Depot"][number % 3],
    ]
    for number in range(48)
]

FOLDER = Folder(
    files={
        "Objekte.csv": table(
            [
                [
                    "Inventarnr",
                    "Bezeichnung",
                    "Künstler-Nr",
                    "Höhe (cm)",
                    "Breite (cm)",
                    "Versicherungswert",
                    "Erworben am",
                    "Standort",
                ],
                *OBJECTS,
            ],
            separator=";",
            encoding="cp1252",
        ),
        "Künstler.csv": table(
            [["Nr", "Name", "Geboren", "Gestorben", "Ort"], *ARTISTS], separator=";", encoding="cp1252"
        ),
    },
    expected=Expected(
        types={"Objekt": 48, "Künstler": 8},
        relations={("Objekt", "Künstler"): 48},
        values={
            ("Objekt", "Stillleben mit Äpfeln", "Versicherungswert"): 27808,
            ("Objekt", "Bildnis mit Äpfeln", "Versicherungswert"): 1250000,
            ("Objekt", "Landschaft mit Äpfeln", "Höhe"): 21.5,
            ("Objekt", "Hafen mit Äpfeln", "Erworben"): "1963-04-04",
            ("Objekt", "Hafen im Frühling", "Erworben"): "1975-04-16",
            ("Künstler", "Günter Müller", "Gestorben"): 2003,
            ("Künstler", "Søren Dahl", "Ort"): "København",
        },
        may_be_nodes=("Standort", "Ort"),
    ),
)
