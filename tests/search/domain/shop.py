"""The schema of a small shop, for tests of plans."""

from search.domain.graph import Field, NodeType, Relation, RelationType, Schema

SHOP = Schema(
    node_types=(
        NodeType("product", 100, (Field("price", "number"), Field("released", "date"), Field("colour_code", "keyword"),
                                  Field("description")), aliases=("item", "article")),
        NodeType("brand", 10, (Field("founded", "number"),), aliases=("maker", "company")),
        NodeType("field_of_use", 5),
        NodeType("country", 4, aliases=("company",)),
        NodeType("city", 4),
    ),
    relations=(
        Relation("HAS_BRAND", "is made by", "makes", ("manufacturer",)),
        Relation("USED_FOR", "is used for", "is the use of"),
        Relation("BASED_IN", "is based in", "is home to"),
        Relation("LIES_IN", "lies in", "is home to"),
        Relation("ALSO_BUY", "is bought with", "is bought with"),
        Relation("REPLACES", "replaces", "is replaced by"),
    ),
    relation_types=(
        RelationType("product", "HAS_BRAND", "brand", 100),
        RelationType("product", "USED_FOR", "field_of_use", 80),
        RelationType("brand", "BASED_IN", "country", 10),
        RelationType("city", "LIES_IN", "country", 4),
        RelationType("product", "ALSO_BUY", "product", 60),
        RelationType("product", "REPLACES", "product", 20),
    ),
)  # fmt: skip
"""`company` is an alias of two types and `is home to` the inverse of two relations: neither says enough by itself."""
