"""Secrets at rest and in memory."""

from __future__ import annotations

import pickle

import pytest
from pytest_django.fixtures import Settings

from search.models.sealed import Secret, Unsealable, seal, unseal

KEY = "sk-kestrel-1234567890"


def test_what_is_sealed_is_not_to_be_read_and_comes_back() -> None:
    sealed = seal(Secret(KEY))
    assert KEY not in sealed
    assert unseal(sealed).reveal() == KEY
    assert seal(Secret(KEY)) != sealed


def test_nothing_stays_nothing() -> None:
    assert seal(Secret()) == ""
    assert not unseal("")


def test_another_secret_key_cannot_unseal_it_unless_the_old_one_is_among_the_fallbacks(settings: Settings) -> None:
    sealed, old = seal(Secret(KEY)), settings.SECRET_KEY
    settings.SECRET_KEY = "another"
    with pytest.raises(Unsealable, match="enter the key again"):
        unseal(sealed)
    settings.SECRET_KEY_FALLBACKS = [old]
    assert unseal(sealed).reveal() == KEY


@pytest.mark.parametrize("damaged", ["nonsense", "ä", "gAAAAA=="])
def test_what_is_damaged_is_said_to_be(damaged: str) -> None:
    with pytest.raises(Unsealable):
        unseal(damaged)


def test_no_way_of_showing_a_secret_shows_it() -> None:
    secret = Secret(KEY)
    for shown in (str(secret), repr(secret), f"{secret}", f"{secret!r}", f"{[secret]}", repr({"key": secret})):
        assert KEY not in shown
    assert KEY.encode() not in pickle.dumps(secret)
    assert secret.cut_from(f"your key {KEY} is wrong, {KEY}") == "your key *** is wrong, ***"
