"""An allotment's lists: some ids stand twice, some beds are in no list, and no nursery is found."""

from tests.search.ingest.reallife.expected import Expected, Folder, table

BEDS = [
    [f"B{number + 1:02}", f"{['North', 'South', 'East'][number % 3]} bed {number + 1}", str(4 + number)]
    for number in range(12)
]
NURSERIES = [["1", "Green Thumb Nursery", "Leeds"], ["2", "Old Mill Plants", "York"], ["3", "Seed Hill", "Ripon"]]
KINDS = ["Early", "Late", "Dwarf", "Giant", "Red", "Old", "New", "Wild", "Sweet", "Hardy"]
SORTS = ["Tomato", "Bean", "Squash", "Carrot", "Kale"]
PLANTS = [
    [
        f"P{number + 1:03}",
        f"{SORTS[number % 5]} {KINDS[number // 5]}",
        # One plant in five stands in a bed that was given up: B21, B22, …
        f"B{number % 12 + 1:02}" if number % 5 else f"B{21 + number // 5}",
        f"NUR-{number % 3 + 1}",
        f"{20 + number % 30}",
    ]
    for number in range(50)
]
#: Two plants were typed in again under an id that another has, one row was pasted twice.
TWICE = [["P004", "Carrot Purple", "B01", "NUR-1", "25"], ["P010", "Kale Black", "B02", "NUR-2", "31"], PLANTS[6]]

FOLDER = Folder(
    files={
        "beds.csv": table([["bed_id", "name", "area_m2"], *BEDS]),
        "nurseries.csv": table([["id", "nursery", "town"], *NURSERIES]),
        "plants.csv": table([["plant_id", "plant", "bed_id", "nursery_id", "height_cm"], *PLANTS, *TWICE]),
    },
    expected=Expected(
        types={"bed": 12, "nurser": 3, "plant": 50},
        relations={("plant", "bed"): 40},
        values={
            ("plant", "Tomato Early", "height_cm"): 20,
            ("plant", "Bean Early", "height_cm"): 21,
            ("bed", "South bed 2", "area_m2"): 5,
        },
        may_be_nodes=("town",),
        warned=("plant_id", "bed_id", "nursery_id"),
    ),
)
