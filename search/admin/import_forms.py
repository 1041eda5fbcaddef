"""Forms of the import pages: where the source is, and how it is imported."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget, UnfoldBooleanWidget

from search.ingest.manifest import BASE_NAME, NAME_RULE
from search.models import KnowledgeBase
from search.services.imports.place import import_roots

UNCHANGED = ""
FILES = "files"
PLACE = "place"


class PlaceForm(forms.Form):
    """A folder of the server, or the address of a database."""

    place = forms.CharField(
        max_length=1000, label="Folder or address",
        widget=UnfoldAdminTextInputWidget(attrs={"spellcheck": "false", "autocapitalize": "none"}),
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        roots, hosts = import_roots(), settings.GRASP_IMPORT_NEO4J_HOSTS
        folders = f"Folders below {', '.join(map(str, roots))}." if roots else (
            "No folder of the server may be read yet; a superuser adds some under Folders of the server."
        )  # fmt: skip
        databases = f"Databases such as neo4j://{hosts[0]}/neo4j." if hosts else (
            "Neo4j databases are off: GRASP_IMPORT_NEO4J_HOSTS lists the servers that may be read."
        )  # fmt: skip
        self.fields[PLACE].help_text = f"{folders} {databases}"


class ImportForm(forms.Form):
    """How a source is imported."""

    name = forms.CharField(
        required=False, max_length=100, label="Name of the knowledge base", widget=UnfoldAdminTextInputWidget
    )
    visibility = forms.ChoiceField(required=False, label="Who may search it", widget=UnfoldAdminSelectWidget)
    tolerance = forms.IntegerField(
        required=False, min_value=0, max_value=1_000_000_000, initial=0, label="Bad rows that are tolerated",
        help_text="They are left out. With more than these, nothing is loaded.",
        widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "numeric"}),
    )  # fmt: skip
    index = forms.BooleanField(
        required=False, initial=True, widget=UnfoldBooleanWidget, label="Index it",
        help_text="Text index, graph and vectors, and then a release. Without, only the graph is loaded.",
    )  # fmt: skip
    vectors = forms.BooleanField(
        required=False, initial=True, widget=UnfoldBooleanWidget, label="Encode its texts",
        help_text="Finds texts by their meaning, too; takes most of the time. Without, the release is searched by "
        "words and by the graph, and the job Index makes one with vectors later.",
    )  # fmt: skip
    activate = forms.BooleanField(
        required=False, initial=True, widget=UnfoldBooleanWidget, label="Let it answer",
        help_text="Searches use the release as soon as it is ready.",
    )  # fmt: skip

    def __init__(self, *args: Any, there: KnowledgeBase | None = None, **kwargs: Any) -> None:
        """`there` is the knowledge base that has the name which the page begins with."""
        super().__init__(*args, **kwargs)
        self.there = there
        field = self.fields["visibility"]
        choices = KnowledgeBase.Visibility.choices
        if there is not None:
            choices = [(UNCHANGED, f"As now: {there.get_visibility_display()}"), *choices]
        field.choices = choices  # type: ignore[attr-defined]
        field.initial = UNCHANGED if there is not None else KnowledgeBase.Visibility.PUBLIC
        field.help_text = (
            "Everybody who reaches this site, only accounts that are members (chosen on its page afterwards), or only "
            "staff. Its page changes it at any time."
        )

    def clean(self) -> dict[str, Any]:
        """Leave the visibility of a knowledge base alone that the page did not ask about."""
        cleaned = super().clean() or {}
        shown = self.there.name if self.there else ""
        name = cleaned.get("name", "")
        if name != shown and KnowledgeBase.objects.filter(name=name).exists():
            cleaned["visibility"] = UNCHANGED
        return cleaned

    def clean_name(self) -> str:
        """Return the name. Raises ValidationError with the rule of names."""
        name = str(self.cleaned_data["name"])
        if name and not BASE_NAME.fullmatch(name):
            raise forms.ValidationError(f"This is not a valid name for a knowledge base: {NAME_RULE}.")
        return name

    def options(self) -> dict[str, Any]:
        """Return the arguments of the job, from a form that is valid."""
        given = self.cleaned_data
        return {**given, "tolerance": given["tolerance"] or 0}
