"""Folders of the server are added in the admin, by superusers alone, and never those of the site itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from search.domain.errors import InvalidRequest
from search.models import ServerFolder
from search.services.access.roles import give_role, make_roles
from search.services.imports.place import SourcePlace, check_place

pytestmark = pytest.mark.django_db
ADD = "admin:search_serverfolder_add"


def test_an_import_reads_a_folder_that_was_added_and_no_more_once_it_is_gone(
    client: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.GRASP_IMPORT_ROOTS = []
    inside = tmp_path / "data" / "museum"
    inside.mkdir(parents=True)
    with pytest.raises(InvalidRequest, match="a superuser adds some"):
        check_place(SourcePlace(folder=str(inside)))
    client.force_login(User.objects.create_superuser("keeper"))
    assert client.post(reverse(ADD), {"path": str(tmp_path / "data"), "note": ""}).status_code == 302
    assert check_place(SourcePlace(folder=str(inside))) == inside
    with pytest.raises(InvalidRequest, match="no such folder below"):
        check_place(SourcePlace(folder=str(tmp_path)))
    assert str(tmp_path / "data") in client.get(reverse("admin:search_import")).content.decode()
    folder = ServerFolder.objects.get()
    client.post(reverse("admin:search_serverfolder_delete", args=[folder.pk]), {"post": "yes"})
    with pytest.raises(InvalidRequest):
        check_place(SourcePlace(folder=str(inside)))


@pytest.mark.parametrize("wrong", ["museum", "/nowhere/at/all", "/", "home", "home/secrets"])
def test_what_is_no_folder_and_the_folders_of_the_site_are_refused(
    client: Client, settings: Settings, tmp_path: Path, wrong: str
) -> None:
    settings.GRASP_HOME = tmp_path / "home"
    (tmp_path / "home" / "secrets").mkdir(parents=True)
    client.force_login(User.objects.create_superuser("keeper"))
    path = str(tmp_path / wrong) if wrong.startswith("home") else wrong
    page = client.post(reverse(ADD), {"path": path, "note": ""})
    assert page.status_code == 200
    assert not ServerFolder.objects.exists()


def test_the_role_admin_does_not_widen_what_pages_may_read(client: Client, tmp_path: Path) -> None:
    make_roles()
    ada = User.objects.create_user("ada")
    give_role(ada, "admin")
    client.force_login(ada)
    assert client.post(reverse(ADD), {"path": str(tmp_path)}).status_code == 403
    assert client.get(reverse("admin:search_serverfolder_changelist")).status_code == 403
