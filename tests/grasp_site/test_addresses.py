import pytest

from grasp_site.addresses import celery_url, client_url, database_settings, read_store
from grasp_site.environment import SettingError


def test_a_database_address_is_taken_apart() -> None:
    settings = database_settings("postgresql://ann:p%40ss%2Fword@db.example:6543/grasp?sslmode=require")
    assert settings == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "grasp",
        "USER": "ann",
        "PASSWORD": "p@ss/word",
        "HOST": "db.example",
        "PORT": "6543",
        "OPTIONS": {"sslmode": "require"},
    }


def test_a_database_may_be_reached_over_a_socket() -> None:
    settings = database_settings("postgresql://app:x@/grasp?host=/some/folder")
    assert (settings["HOST"], settings["PORT"], settings["OPTIONS"]) == ("/some/folder", "", {})


@pytest.mark.parametrize("url", ["mysql://a@b/c", "postgresql://host", "nonsense", ""])
def test_another_database_is_refused_without_repeating_its_password(url: str) -> None:
    with pytest.raises(SettingError, match="DATABASE_URL takes postgresql://"):
        database_settings(url)


@pytest.mark.parametrize("url", ["unix:///run/valkey.sock", "redis+socket:///run/valkey.sock"])
def test_each_library_gets_the_spelling_of_a_socket_that_it_understands(url: str) -> None:
    assert celery_url(url) == "redis+socket:///run/valkey.sock"
    assert client_url(url) == "unix:///run/valkey.sock"


def test_a_broker_on_the_network_is_the_same_for_both() -> None:
    assert celery_url("valkey://:pw@q.example:6379/1") == client_url("redis://:pw@q.example:6379/1")


def test_another_broker_is_refused() -> None:
    with pytest.raises(SettingError, match="REDIS_URL takes redis://"):
        celery_url("amqp://q.example")


@pytest.mark.parametrize("url", ["", "s3://bucket/folder", "file:///srv/objects", "gs://bucket"])
def test_a_store_is_a_url_or_nothing(url: str) -> None:
    assert read_store(url) == url


@pytest.mark.parametrize("url", ["bucket/folder", "s3:", "sftp://ann:pw-of-ann@host/folder"])
def test_another_store_is_refused_without_repeating_its_password(url: str) -> None:
    with pytest.raises(ValueError, match="takes a URL") as refused:
        read_store(url)
    assert "pw-of-ann" not in str(refused.value)
