"""The import pages ask about columns that can be read in two ways, warn, mend by a button, start nothing in vain."""

from __future__ import annotations

import html
import re

import pytest
from django.test import Client
from django.urls import reverse

from search.domain.errors import InvalidRequest
from search.models import Job, Upload
from search.services.jobs.launch import launch_job
from tests.search.admin.test_importing import START, page, send, staff, unpacked
from tests.search.ingest.reallife import FOLDERS

__all__ = ["staff"]
pytestmark = pytest.mark.django_db
PARTS = b"id;name;weight\n1;Screw;1.101\n2;Nut;2.102\n3;Bolt;3.103\n"


def sent(staff: Client, *files: tuple[str, bytes]) -> Upload:
    send(staff, *files)
    return unpacked()


def post(staff: Client, name: str, upload: Upload, data: dict[str, str]) -> str:
    answer = staff.post(reverse(f"{START}_{name}", args=[upload.pk]), data, follow=True)
    return html.unescape(answer.content.decode())


def test_a_column_that_can_be_read_in_two_ways_is_asked_about_and_the_answer_is_kept(staff: Client) -> None:
    upload = sent(staff, ("parts.csv", PARTS))
    asked = html.unescape(page(staff, "mapping", upload))
    assert "One question" in asked
    assert "1.101 → 1101" in asked
    post(staff, "mapping", upload, {"name": "parts", "f0-type": "part", "f0-c2-choice": "1"})
    upload.refresh_from_db()
    assert upload.mapping is not None
    assert upload.mapping["files"][0]["columns"]["weight"] == {"use": "number", "numbers": "1.234,5"}
    again = html.unescape(page(staff, "mapping", upload))
    assert "One question" not in again
    assert "1.101 → <strong>1,101</strong>" in again


def test_a_warning_stands_first_and_its_button_mends_the_mapping(staff: Client) -> None:
    upload = sent(staff, *FOLDERS["garden"].files.items())
    shown = html.unescape(page(staff, "check", upload))
    assert shown.index("One thing looks wrong") < shown.index("Plain files")
    assert "None of the 50 references in the column 'nursery_id'" in shown
    key = next(key for key in re.findall(r'name="mend" value="([^"]*)"', shown) if "Put 'NUR-'" in key)
    after = post(staff, "check", upload, {"mend": key})
    assert "Changed: Put 'NUR-' before the ids of nurseries.csv." in after
    assert "looks wrong" not in after
    assert "This was changed in the meantime" in post(staff, "check", upload, {"mend": key})


def test_an_import_bound_to_fail_does_not_start_and_says_why(staff: Client) -> None:
    upload = sent(staff, *FOLDERS["garden"].files.items())
    told = "63 rows are bad among those that were read, and none is tolerated, so nothing would be loaded."
    assert told in post(staff, "check", upload, {"name": "garden", "tolerance": "0"})
    assert not Job.objects.filter(kind="import").exists()
    with pytest.raises(InvalidRequest) as refused:
        launch_job(kind="import", arguments={"upload": str(upload.pk), "guess": True, "tolerance": 62})
    assert [fault.message for fault in refused.value.faults] == [told.replace("none is", "62 are")]
    post(staff, "check", upload, {"name": "garden", "tolerance": "0", "leave_out": "1"})
    assert Job.objects.get(kind="import").arguments["tolerance"] == 63


def test_faults_are_told_with_their_examples_and_what_is_lost(staff: Client) -> None:
    upload = sent(staff, *FOLDERS["garden"].files.items())
    shown = html.unescape(page(staff, "check", upload))
    for example in ("B21", "B22", "B23"):
        assert f"Column 'bed_id': there is no entity '{example}'." in shown
    assert "These 10 relations are left out." in shown
    assert "These 3 rows are left out." in shown
