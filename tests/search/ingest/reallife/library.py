"""A library: ids with leading zeros, ISBNs, empty days of return, tabs between the cells."""

from tests.search.ingest.reallife.expected import Expected, Folder, table

WRITERS = ["Okafor, Ngozi", "Lind, Karin", "Sato, Emi", "Brook, Thomas", "Vega, Luis"]
NOUNS = ["Garden", "Harbour", "Letter", "Mountain", "Clock", "Orchard", "River", "Window", "Station", "Mirror"]
BOOKS = [
    [
        f"{number * 37 + 12:06}",
        f"0{306406150 + number * 7}",
        f"The {['Silent', 'Last', 'Hidden', 'Second', 'Green'][number // 10]} {NOUNS[number % 10]}",
        WRITERS[number % 5],
        str(1960 + number),
        f"{number % 12 + 1:03}",
    ]
    for number in range(50)
]
READERS = [
    [
        f"{number + 7:05}",
        f"{['Ann', 'Bob', 'Cy', 'Dee', 'Eli'][number % 5]} {['Hart', 'Ives', 'Jones', 'Kerr'][number // 5]}",
    ]
    + [f"0{4000 + number * 13}"]
    for number in range(20)
]
LOANS = [
    [
        f"{number + 1:07}",
        BOOKS[(number * 11) % 50][0],
        READERS[(number * 3) % 20][0],
        f"2023-{number % 12 + 1:02}-{number % 28 + 1:02}",
        f"2023-{number % 12 + 1:02}-{number % 28 + 1:02}" if number % 4 else "",
    ]
    for number in range(90)
]

FOLDER = Folder(
    files={
        "books.tsv": table(
            [["Book No", "ISBN", "Title", "Author", "Year", "Shelf"], *BOOKS], separator="\t", newline="\n"
        ),
        "borrowers.tsv": table([["Card No", "Name", "Postcode"], *READERS], separator="\t", newline="\n"),
        "loans.tsv": table(
            [["Loan No", "Book No", "Card No", "Lent", "Returned"], *LOANS], separator="\t", newline="\n"
        ),
    },
    expected=Expected(
        types={"book": 50, "borrower": 20, "loan": 90},
        relations={("loan", "book"): 90, ("loan", "borrower"): 90},
        values={
            ("book", "The Silent Garden", "Shelf"): "001",
            ("book", "The Silent Garden", "ISBN"): "0306406150",
            ("book", "The Last Garden", "Year"): 1970,
            ("borrower", "Ann Hart", "Postcode"): "04000",
        },
        may_be_nodes=("Author", "Shelf"),
        #: A loan has no name of its own: that its number stands in for one has to be said.
        warned=("Loan No",),
    ),
)
