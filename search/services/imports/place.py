"""Where an import comes from: an upload, a folder of this machine, or a Neo4j database."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit
from uuid import UUID

from django.conf import settings

from search.adapters.graph_neo4j.address import DEFAULT_PORT, SCHEMES, Address
from search.domain.errors import Fault, InvalidRequest
from search.models import ServerFolder, Upload


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """One of: the id of an upload, a folder, the address of a Neo4j database without user and password."""

    upload: str = ""
    folder: str = ""
    neo4j: str = ""

    def __str__(self) -> str:
        return f"upload {self.upload}" if self.upload else self.folder or self.neo4j


def is_neo4j(text: str) -> bool:
    """Whether the text is the address of a Neo4j database."""
    return text.partition("://")[0] in SCHEMES and "://" in text


def check_place(place: SourcePlace) -> Path | Address:
    """Return the folder or the database of a place that a page or the API names.

    Folders have to lie below one of `import_roots`, databases on GRASP_IMPORT_NEO4J_HOSTS. Raises InvalidRequest.
    """
    if sum(map(bool, (place.upload, place.folder, place.neo4j))) != 1:
        raise InvalidRequest([Fault("", "Name one source: an upload, a folder, or a Neo4j database.")])
    if place.upload:
        return content_of(place.upload)
    if place.folder:
        return _below_roots(place.folder)
    address = database(place.neo4j)
    server = address.uri.partition("://")[2]
    if server not in settings.GRASP_IMPORT_NEO4J_HOSTS:
        message = f"{server} is not among the servers that may be read (GRASP_IMPORT_NEO4J_HOSTS)."
        raise InvalidRequest([Fault("/neo4j", message)])
    return address


def content_of(upload_id: str) -> Path:
    """Return the folder of an upload's content; InvalidRequest if there is none."""
    try:
        upload = Upload.objects.filter(pk=UUID(upload_id)).first()
    except ValueError:
        upload = None
    if upload is None:
        raise InvalidRequest([Fault("/upload", f"There is no upload {upload_id[:80]!r}.")])
    if upload.state != Upload.State.READY:
        reason = f": {upload.reason}" if upload.reason else "; unpack it first."
        raise InvalidRequest([Fault("/upload", f"The upload is {upload.get_state_display()}{reason}")])
    if is_neo4j(upload.source):
        raise InvalidRequest([Fault("/upload", "This is a database, which has no files.")])
    return _below_roots(upload.source) if upload.source else upload.content


def import_roots() -> list[Path]:
    """Return the folders of this machine that may be read: those of the environment, then those of the admin."""
    added = ServerFolder.objects.values_list("path", flat=True)
    return list(dict.fromkeys(Path(root).resolve() for root in (*settings.GRASP_IMPORT_ROOTS, *added)))


def root_fault(text: str) -> str:
    """Return why imports may not read everything below a folder, or an empty text."""
    if not text.startswith("/") or "\0" in text or not (folder := Path(text).resolve()).is_dir():
        return "There is no such folder on this server; give its full path, such as /srv/data."
    home = Path(settings.GRASP_HOME).resolve()
    if home.is_relative_to(folder) or folder.is_relative_to(home):
        return f"{home} holds this site's database and keys, so imports may read neither it nor a folder around it."
    return ""


def _below_roots(text: str) -> Path:
    roots = import_roots()
    if not roots:
        message = "Importing from folders of the server is off until a superuser adds some: Folders of the server."
        raise InvalidRequest([Fault("/folder", message)])
    folder = Path(text).resolve() if text.startswith("/") and "\0" not in text else Path("/")
    if not any(folder.is_relative_to(root) for root in roots) or not folder.is_dir():
        # The same sentence for both, so that nobody learns which folders exist elsewhere.
        message = f"There is no such folder below {', '.join(map(str, roots))}."
        raise InvalidRequest([Fault("/folder", message)])
    for path in folder.rglob("*"):
        if path.is_symlink() and not any(path.resolve().is_relative_to(root) for root in roots):
            message = f"{path.relative_to(folder)} is a link that leads out of {', '.join(map(str, roots))}; put the "
            raise InvalidRequest([Fault("/folder", f"{message}file itself there.")])
    return folder


def database(url: str) -> Address:
    """Return the address with the credentials of the settings; InvalidRequest if the address cannot be used.

    User and password in the address are refused, because addresses are logged, recorded and shown.
    """
    parts = urlsplit(url)
    if parts.username or parts.password:
        message = (
            "Leave user and password out of the address, which is recorded: set GRASP_IMPORT_NEO4J_USER and "
            "GRASP_IMPORT_NEO4J_PASSWORD in the environment."
        )
        raise InvalidRequest([Fault("/neo4j", message)])
    user, password = settings.GRASP_IMPORT_NEO4J_USER, settings.GRASP_IMPORT_NEO4J_PASSWORD
    if not user or not password:
        message = "Set GRASP_IMPORT_NEO4J_USER and GRASP_IMPORT_NEO4J_PASSWORD in the environment."
        raise InvalidRequest([Fault("/neo4j", message)])
    scheme, _, rest = url.partition("://")
    try:
        return Address.parse(f"{scheme}://{quote(user, safe='')}:{quote(password, safe='')}@{rest}")
    except ValueError:
        message = f"The address of a database is neo4j://host:{DEFAULT_PORT}/database; {url[:80]!r} is none."
        raise InvalidRequest([Fault("/neo4j", message)]) from None
