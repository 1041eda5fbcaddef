"""A club's members in two columns of names, US dates, events with dates written in two ways, who came to what."""

from tests.search.ingest.reallife.expected import Expected, Folder, table

FIRST = ["Ada", "Ben", "Carla", "Dan", "Eve", "Frank", "Grace", "Hugo", "Iris", "Jack"]
LAST = ["Miller", "Ortiz", "Chen", "Novak"]
MEMBERS = [
    [
        str(101 + number),
        FIRST[number % 10],
        LAST[number // 10],
        f"{FIRST[number % 10].lower()}.{LAST[number // 10].lower()}@example.org",
        f"{number % 12 + 1}/{number % 28 + 1}/{2010 + number % 12}",
        f"(555) 010-{1000 + number * 7}",
        ["yes", "no", "yes"][number % 3],
    ]
    for number in range(40)
]
EVENTS = [
    ["E1", "Spring Regatta", "4/14/2024", "Lake House", "60"],
    ["E2", "Summer Picnic", "2024-06-22", "Riverside Park", "120"],
    ["E3", "Night Sail", "7/19/2024", "Lake House", "24"],
    ["E4", "Knot Workshop", "2024-08-03", "Boat Shed", "16"],
    ["E5", "Autumn Cup", "9/28/2024", "Lake House", "60"],
    ["E6", "Winter Dinner", "2024-12-07", "Town Hall", "90"],
    ["E7", "New Year Swim", "1/1/2025", "Riverside Park", "200"],
    ["E8", "Safety Day", "2025-03-15", "Boat Shed", "30"],
]
CAME = [
    [str(101 + number % 40), f"E{(number * 3 + number // 40) % 8 + 1}", ["yes", "no"][number % 2]]
    for number in range(120)
]

FOLDER = Folder(
    files={
        "members.csv": table(
            [["Member No", "First Name", "Last Name", "E-Mail", "Joined", "Phone", "Newsletter"], *MEMBERS]
        ),
        "events.csv": table([["Event ID", "Title", "Date", "Place", "Max Guests"], *EVENTS]),
        "attendance.csv": table([["Member No", "Event ID", "Paid"], *CAME]),
    },
    expected=Expected(
        types={"member": 40, "event": 8},
        relations={("member", "event"): 120},
        values={
            ("member", "Ada Miller", "Joined"): "2010-01-01",
            ("member", "Dan Ortiz", "Joined"): "2011-02-14",
            ("member", "Dan Ortiz", "Phone"): "(555) 010-1091",
            ("event", "Night Sail", "Date"): "2024-07-19",
            ("event", "Summer Picnic", "Date"): "2024-06-22",
            ("event", "Winter Dinner", "Max Guests"): 90,
        },
        may_be_nodes=("Place",),
    ),
)
