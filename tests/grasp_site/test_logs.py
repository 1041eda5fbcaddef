import io
import json
import logging
import logging.config
import sys
from collections.abc import Iterator

import pytest

from grasp_site.logs import hide_secrets, logging_settings


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What a logger of its own writes, in the format of the processes under the supervisor."""
    stream = io.StringIO()
    configuration = logging_settings("INFO", as_json=True)
    factory = configuration["formatters"]["grasp"]
    formatter = factory.pop("()")(**factory)
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    logger = logging.getLogger("tests.logs")
    logger.addHandler(handler)
    logger.setLevel("INFO")
    logger.propagate = False
    yield stream
    logger.removeHandler(handler)


def test_a_line_is_one_json_object_with_time_level_and_logger(written: io.StringIO) -> None:
    logging.getLogger("tests.logs").info("loaded %d nodes", 12, extra={"knowledge_base": "movies"})
    line = json.loads(written.getvalue())
    assert line["event"] == "loaded 12 nodes"
    assert line["knowledge_base"] == "movies"
    assert (line["level"], line["logger"]) == ("info", "tests.logs")
    assert line["timestamp"].endswith("Z")


def test_a_password_in_an_address_does_not_reach_the_log(written: io.StringIO) -> None:
    logging.getLogger("tests.logs").error("cannot reach %s", "postgresql://app:hush@db.example/grasp")
    assert "hush" not in written.getvalue()
    assert "postgresql://app:***@db.example/grasp" in written.getvalue()


def test_a_password_in_a_traceback_does_not_reach_the_log(written: io.StringIO) -> None:
    error = ConnectionError("redis://:hush@q.example/0 refused")
    logging.getLogger("tests.logs").error("no broker", exc_info=error)
    assert "refused" in written.getvalue()
    assert "hush" not in written.getvalue()


def test_text_for_people_shows_no_local_variables_of_a_traceback() -> None:
    factory = logging_settings("INFO", as_json=False)["formatters"]["grasp"]
    formatter = factory.pop("()")(**factory)
    question = "a confidential " + "question"
    try:
        raise ValueError(len(question))
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, __file__, 1, "it failed", None, sys.exc_info())
    text = formatter.format(record)
    assert "ValueError: 23" in text
    assert "a confidential question" not in text
    assert "\x1b[" not in text


@pytest.mark.parametrize("key", ["password", "LLM_API_KEY", "secret_key", "Authorization"])
def test_values_under_telling_keys_are_masked_at_any_depth(key: str) -> None:
    event = hide_secrets(None, "info", {"event": "x", "settings": {key: "hush"}})
    assert event["settings"] == {key: "***"}


def test_counts_of_tokens_are_figures_and_stay() -> None:
    assert hide_secrets(None, "info", {"prompt_tokens": "812", "tokens": 5}) == {"prompt_tokens": "812", "tokens": 5}


def test_a_long_word_costs_no_more_than_its_length() -> None:
    # Tried from every letter this would take minutes, not a moment.
    assert hide_secrets(None, "info", {"path": "x" * 300_000})["path"] == "x" * 300_000
