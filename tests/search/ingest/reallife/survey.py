"""Answers to a survey: nobody has a name, ranges, n/a in several writings, several answers in one cell."""

from tests.search.ingest.reallife.expected import Expected, Folder, table

AGES = ["18-24", "25-34", "35-44", "45-54", "55+"]
PAY = ["€10,000–20,000", "€20,000–30,000", "over €30,000", "n/a", "prefer not to say"]
WAYS = ["Bus", "Bike", "Car", "Train", "On foot"]
KM = ["12.5", "n/a", "3", "7.25", "-", "N/A", "41", "0.8"]
ANSWERS = [
    [
        str(number + 1),
        f"{number % 28 + 1:02}/{number % 6 + 1:02}/2023",
        AGES[number % 5],
        PAY[number % 5],
        ", ".join(WAYS[(number + step) % 5] for step in range(number % 3 + 1)),
        KM[number % 8],
        ["5", "4", "n/a", "3", "1", "2"][number % 6],
        ["", "More trains, please.", "", "The bus is late; the bike is not.", ""][number % 5],
    ]
    for number in range(80)
]

FOLDER = Folder(
    files={
        "survey results.csv": table(
            [
                [
                    "Respondent",
                    "Date",
                    "Age group",
                    "Income",
                    "How do you travel?",
                    "Distance (km)",
                    "Satisfaction",
                    "Comment",
                ],
                *ANSWERS,
            ]
        )
    },
    expected=Expected(
        types={"survey": 80},
        values={
            ("survey", "1", "Distance"): 12.5,
            ("survey", "2", "Distance"): None,
            ("survey", "5", "Distance"): None,
            ("survey", "3", "Satisfaction"): None,
            ("survey", "4", "Satisfaction"): 3,
            ("survey", "1", "Age group"): "18-24",
            ("survey", "1", "Income"): "€10,000–20,000",
            ("survey", "4", "Income"): None,
            ("survey", "14", "Date"): "2023-02-14",
            ("survey", "4", "Comment"): "The bus is late; the bike is not.",
        },
        lists={
            ("survey", "1", "How do you travel"): frozenset({"Bus"}),
            ("survey", "3", "How do you travel"): frozenset({"Car", "Train", "On foot"}),
        },
        may_be_nodes=("Age group", "Income", "How do you travel"),
        warned=("Respondent",),
    ),
)
