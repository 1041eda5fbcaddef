"""Celery speaks to Valkey through the site's transport, which makes one client for many messages."""

from __future__ import annotations

import uuid

import pytest
from celery import current_app
from kombu import Connection

from grasp_site.addresses import celery_url
from grasp_site.broker import Transport
from grasp_site.embedded.home import Home


@pytest.mark.parametrize("url", ["unix:///run/valkey.sock", "redis://127.0.0.1:6379/0", "rediss://127.0.0.1:6380/0"])
def test_every_form_of_the_brokers_address_uses_it(url: str) -> None:
    assert isinstance(Connection(celery_url(url)).transport, Transport)


def test_the_site_uses_it(services: Home) -> None:
    assert isinstance(current_app.connection().transport, Transport)


def test_messages_go_and_come_through_one_client_until_the_pool_is_new(services: Home) -> None:
    name = f"test-{uuid.uuid4().hex}"
    with Connection(celery_url(services.redis_url)) as connection, connection.SimpleQueue(name) as queue:
        channel = queue.channel
        first = channel._create_client()
        for number in range(3):
            queue.put({"number": number})
        for number in range(3):
            message = queue.get(timeout=10)
            assert message.payload == {"number": number}
            message.ack()
        assert channel._create_client() is first
        assert not any(name.encode() in value for value in first.hvals("unacked"))
        channel._disconnect_pools()
        assert channel._create_client() is not first
        queue.put({"number": 3})
        message = queue.get(timeout=10)
        message.ack()
        queue.clear()


def test_clients_that_wait_for_tasks_are_not_shared(services: Home) -> None:
    with Connection(celery_url(services.redis_url)) as connection:
        channel = connection.channel()
        assert channel._create_client(asynchronous=True) is not channel._create_client()
