"""The admin's style sheets and menu, as django-unfold reads them (`settings.UNFOLD`)."""

from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy


def _admin_link(title: str, icon: str, model: str, app: str = "search") -> dict[str, Any]:
    return {"title": title, "icon": icon, "link": reverse_lazy(f"admin:{app}_{model}_changelist")}


def _link_out(title: str, icon: str, link: Any) -> dict[str, Any]:
    """Return a menu entry for a page outside the admin; the menu never marks it as the current page."""
    return {"title": title, "icon": icon, "link": link, "active": False}


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "GRASP search",
    "SITE_HEADER": "GRASP search",
    "SITE_ICON": lambda request: static("search/logo.svg"),
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("search/logo.svg")},
    ],
    "STYLES": [lambda request: static("search/look.css"), lambda request: static("search/admin.css")],
    "SCRIPTS": [lambda request: static("search/admin.js")],
    "SITE_URL": "/",
    "SHOW_HISTORY": True,
    "DASHBOARD_CALLBACK": "search.admin.dashboard.dashboard",
    "SIDEBAR": {
        "show_search": True,
        "navigation": [
            {
                "items": [
                    {"title": "Overview", "icon": "dashboard", "link": reverse_lazy("admin:index")},
                    _admin_link("Jobs", "play_circle", "job"),
                    _admin_link("Schedules", "schedule", "jobschedule"),
                    _admin_link("Backups", "backup", "backuprun"),
                    {"title": "Services", "icon": "monitor_heart", "link": reverse_lazy("admin:search_services")},
                    _link_out("Search page", "search", "/"),
                    _link_out("API", "api", "/api/docs/"),
                ],
            },
            {
                "title": "Knowledge",
                "separator": True,
                "items": [
                    # The pages of imports lie below those of knowledge bases, but have their own menu entry.
                    _admin_link("Knowledge bases", "hub", "knowledgebase")
                    | {"active": lambda request: request.resolver_match.url_name.startswith("search_knowledgebase_")},
                    {
                        "title": "Import",
                        "icon": "upload_file",
                        "link": reverse_lazy("admin:search_import"),
                        "permission": lambda request: request.user.has_perm("search.add_job"),
                    },
                    _admin_link("Folders of the server", "folder_open", "serverfolder")
                    | {"permission": lambda request: request.user.is_superuser},
                    _link_out("What planners are told", "tune", reverse_lazy("search-settings-list")),
                    _admin_link("Releases", "new_releases", "release"),
                    _admin_link("Imported data", "database", "snapshot"),
                    _admin_link("Vector sets", "scatter_plot", "vectorset"),
                ],
            },
            {
                "title": "Searches",
                "separator": True,
                "items": [
                    # The address of the page "Services" begins like the addresses of searches, but the page has its own
                    # menu entry. So only the pages of searches mark this entry as current.
                    _admin_link("Searches", "manage_search", "searchrun")
                    | {"active": lambda request: request.resolver_match.url_name.startswith("search_searchrun_")},
                    _admin_link("Feedback", "thumbs_up_down", "feedback"),
                    _admin_link("Pipeline versions", "account_tree", "pipelineversion"),
                ],
            },
            {
                "title": "Learning",
                "separator": True,
                "items": [
                    _admin_link("Question sets", "library_books", "questionset", app="training"),
                    _admin_link("Questions", "quiz", "question", app="training"),
                    _admin_link("Evaluations", "monitoring", "evaluation", app="training"),
                    _admin_link("Trained parts", "model_training", "artifact"),
                ],
            },
            {
                "title": "Language models",
                "separator": True,
                "items": [
                    _admin_link("Servers", "dns", "endpoint"),
                    _admin_link("Calls", "forum", "languagemodelcall"),
                    {
                        "title": "Prompt of a question",
                        "icon": "article",
                        "link": reverse_lazy("admin:search_endpoint_prompt"),
                    },
                ],
            },
            {
                "title": "People",
                "separator": True,
                "collapsible": True,
                "items": [
                    _admin_link("Accounts", "person", "user", app="auth"),
                    _admin_link("Groups", "group", "group", app="auth"),
                    _admin_link("API tokens", "key", "apitoken"),
                    _admin_link("Audit log", "history", "auditentry"),
                ],
            },
        ],
    },
}
