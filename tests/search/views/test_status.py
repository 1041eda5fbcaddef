"""The page of services and queues."""

import json

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from grasp_site.embedded.home import Home
from grasp_site.heartbeat import broker, worker_key
from search.services.health import system_status

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("services")]


def test_services_and_queues_are_listed_with_their_reasons(client: Client) -> None:
    page = client.get("/status/").content.decode()

    for service in system_status():
        assert f'<th scope="row">{service["name"]}</th>' in page
    assert "search" in page


def test_the_worker_of_a_queue_is_named_in_words(client: Client, services: Home) -> None:
    valkey = broker(services.redis_url)
    valkey.set(worker_key("search"), json.dumps({"worker": "search@here", "pid": 20901}))
    try:
        page = client.get("/status/").content.decode()
    finally:
        valkey.delete(worker_key("search"))

    assert "search@here" in page
    assert "process 20901" in page
    assert "{&#x27;" not in page


def test_a_broker_that_is_away_is_named(client: Client, settings: Settings) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"

    page = client.get("/status/").content.decode()

    assert "Something is down" in page
    assert "Valkey does not answer" in page
    assert "Unknown while the broker does not answer" in page


def test_only_the_table_is_sent_to_a_page_that_follows(client: Client) -> None:
    part = client.get("/status/", headers={"HX-Request": "true"}).content.decode()

    assert part.startswith('<div id="services"')
