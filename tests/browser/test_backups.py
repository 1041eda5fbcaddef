"""The whole site backed up from the admin, without a shell: made, checked, downloaded, removed."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from search.services.backup.archive import ArchiveReader
from tests.browser.conftest import Site
from tests.browser.test_jobs import LONGEST, faults, shot, signed_in

pytestmark = pytest.mark.browser


def test_a_backup_is_made_checked_downloaded_and_removed_on_pages(
    open_page: Callable[..., Page], site: Site, tmp_path: Path
) -> None:
    page = signed_in(open_page, "/admin/search/backuprun/", accept_downloads=True)
    expect(page.get_by_role("heading", name="No backups yet")).to_be_visible()
    shot(page, "backups-none")
    assert faults(page) == []

    page.get_by_role("link", name="Make a backup").click()
    page.get_by_role("button", name="Launch").click()
    page.wait_for_url("**/change/")
    expect(page.locator(".tag")).to_have_text("done", timeout=LONGEST)
    expect(page.get_by_role("table")).to_contain_text("Rows")
    page.get_by_role("link", name=re.compile(r"^site-.*\.grasp$")).click()
    expect(page.get_by_text("every part is as it was written")).to_be_visible()
    held = page.get_by_text(re.compile(r"\d+ knowledge bases?, "))
    expect(held).to_be_visible()
    bases = int(held.inner_text().split(" knowledge base")[0].split()[-1])
    name = page.locator("#backup-name").inner_text().split()[-1]
    file = site.home / "backups" / name
    expect(page.get_by_text(f"restore {file} --fingerprint")).to_have_count(2)
    shot(page, "backup-one")
    assert faults(page) == []

    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download").click()
    downloading.value.save_as(tmp_path / name)
    assert downloading.value.suggested_filename == name
    assert (tmp_path / name).read_bytes() == file.read_bytes()
    with ArchiveReader(tmp_path / name) as reader:
        assert reader.manifest["counts"]["knowledge_bases"] == bases

    _cut_and_continue(page, site, f"{downloading.value.url}", file, tmp_path / "cut.grasp")

    page.get_by_role("button", name="Check").click()
    page.wait_for_url("**/search/job/**")
    expect(page.locator(".tag")).to_have_text("done", timeout=LONGEST)

    page.goto("/admin/search/backuprun/")
    shot(page, "backups")
    assert faults(page) == []
    page.get_by_role("row").filter(has_text=name).get_by_role("link", name="Remove").click()
    expect(page.get_by_text("nothing can be restored")).to_be_visible()
    assert faults(page) == []
    page.get_by_role("button", name="Delete it").click()
    expect(page.get_by_text(f"{name} was removed.")).to_be_visible()
    assert not file.exists()


def _cut_and_continue(page: Page, site: Site, address: str, file: Path, copy: Path) -> None:
    """Close the connection of a download in its middle, and let curl get the rest: the same bytes in the end."""
    curl = shutil.which("curl")
    if curl is None:
        return
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in page.context.cookies(site.url))
    command = [curl, "--silent", "--show-error", "--fail", "--cookie", cookies, address]
    half = file.stat().st_size // 2
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        copy.write_bytes(process.stdout.read(half))
        process.stdout.close()
        process.kill()
    assert copy.stat().st_size == half
    subprocess.run([*command, "--continue-at", "-", "--output", str(copy)], check=True)
    assert copy.read_bytes() == file.read_bytes()
