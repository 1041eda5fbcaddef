"""Static files have their version in their address, and a browser keeps them for good only under the right one."""

from hashlib import blake2b

from django.conf import settings
from django.templatetags.static import static
from django.test import Client

STYLES = "search/pages.css"


def test_an_address_has_the_hash_of_the_content() -> None:
    content = (settings.BASE_DIR / "static" / STYLES).read_bytes()
    assert static(STYLES) == f"/static/{STYLES}?v={blake2b(content, digest_size=4).hexdigest()}"


def test_a_file_of_its_version_is_kept_for_good(client: Client) -> None:
    assert client.get(static(STYLES))["Cache-Control"] == "public, max-age=31536000, immutable"


def test_under_another_version_or_none_it_is_kept_for_a_minute(client: Client) -> None:
    for address in (f"/static/{STYLES}", f"/static/{STYLES}?v=0000"):
        assert "immutable" not in client.get(address)["Cache-Control"], address


def test_a_file_that_there_is_not_has_no_version_and_is_not_found(client: Client) -> None:
    assert static("search/nothing.css") == "/static/search/nothing.css"
    assert client.get("/static/../settings.py?v=1").status_code in (400, 404)
