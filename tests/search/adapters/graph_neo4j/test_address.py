import pytest

from search.adapters.graph_neo4j.address import Address

SECRET = "pässwörd-9$"


def test_every_part_is_read_and_decoded() -> None:
    read = Address.parse("neo4j+s://us%40er:p%3Aw%2Fd%40@graph.example:7688/films")
    assert (read.uri, read.user, read.password, read.database) == (
        "neo4j+s://graph.example:7688", "us@er", "p:w/d@", "films",
    )  # fmt: skip


def test_port_and_database_may_be_left_out() -> None:
    read = Address.parse("bolt://neo4j:secret@[::1]")
    assert (read.uri, read.database) == ("bolt://[::1]:7687", "neo4j")


def test_the_password_shows_in_no_representation() -> None:
    assert SECRET not in repr(Address.parse(f"neo4j://neo4j:{SECRET}@127.0.0.1"))


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        (f"http://neo4j:{SECRET}@host/neo4j", "begins with none of"),
        (f"neo4j:{SECRET}@host", "names no host"),
        (f"neo4j://neo4j:{SECRET}@/neo4j", "names no host"),
        ("neo4j://host:7687/neo4j", "lacks user or password"),
        (f"neo4j://{SECRET}@host", "lacks user or password"),
        (f"neo4j://neo4j:{SECRET}@host:port/neo4j", "cannot be read"),
        (f"neo4j://neo4j:{SECRET}@host:99999", "cannot be read"),
        (f"neo4j://neo4j:{SECRET}@[host/neo4j", "cannot be read"),
        (f"neo4j://neo4j:{SECRET}@host/one/two", "continues after"),
        (f"neo4j://neo4j:{SECRET}@host/neo4j?password={SECRET}", "continues after"),
    ],
)
def test_what_cannot_be_read_is_answered_with_what_would_be_right_and_without_the_password(
    url: str, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint) as caught:
        Address.parse(url)
    assert "neo4j://user:password@host:port/database" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
