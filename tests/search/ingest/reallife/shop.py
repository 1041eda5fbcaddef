"""A shop's export with a byte order mark: prices with currency, percent, weights, yes and no, names as references."""

from tests.search.ingest.reallife.expected import Expected, Folder, table

SUPPLIERS = [
    ["Northwind Ltd.", "United Kingdom", "4.5"],
    ["Blue Pine Co.", "Canada", "3.9"],
    ["Alpina GmbH", "Austria", "4.8"],
    ["Sol & Mar, S.L.", "Spain", "4.1"],
]
KINDS = ["Tent", "Backpack", "Stove", "Lamp", "Jacket"]
MODELS = ["Basic", "Trail", "Pro", "Ultra", "Family", "Storm", "Mini", "Duo"]
PRODUCTS = [
    [
        f"SKU-{1000 + number}",
        f"{KINDS[number % 5]} {MODELS[number // 5]}",
        KINDS[number % 5] + "s",
        f"${(number + 1) * 49.5:,.2f}",
        f"{number % 6 * 5}%",
        f"{0.3 + number / 10:.1f} kg",
        ["yes", "no", "yes", "yes"][number % 4],
        SUPPLIERS[number % 4][0],
    ]
    for number in range(40)
]
ORDERS = [
    [
        str(70001 + number),
        f"SKU-{1000 + (number * 7) % 40}",
        str(number % 4 + 1),
        f"2024-{number % 12 + 1:02}-{number % 28 + 1:02} {number % 24:02}:30",
    ]
    for number in range(100)
]

FOLDER = Folder(
    files={
        "products_export.csv": table(
            [["SKU", "Product", "Category", "Price", "Discount", "Weight", "In Stock", "Supplier"], *PRODUCTS],
            encoding="utf-8-sig",
        ),
        "suppliers.csv": table([["Supplier", "Country", "Rating"], *SUPPLIERS], encoding="utf-8-sig"),
        "orders.csv": table([["Order No", "SKU", "Quantity", "Ordered"], *ORDERS], encoding="utf-8-sig"),
    },
    expected=Expected(
        types={"product": 40, "supplier": 4, "order": 100},
        relations={("product", "supplier"): 40, ("order", "product"): 100},
        values={
            ("product", "Tent Basic", "Price"): 49.5,
            ("product", "Jacket Duo", "Price"): 1980,
            ("product", "Backpack Basic", "Discount"): 5,
            ("product", "Stove Basic", "Weight"): 0.5,
            ("product", "Backpack Basic", "In Stock"): "no",
            ("supplier", "Sol & Mar, S.L.", "Rating"): 4.1,
        },
        may_be_nodes=("Category", "Country"),
        warned=("Order No",),
    ),
)
