"""Where the doors of search open."""

from django.urls import URLPattern, URLResolver, include, path

from search.api.description import Description, Viewer
from search.views.account import change_password, password_changed, sign_in, sign_out
from search.views.answers import answers, answers_csv
from search.views.entity import entity
from search.views.export import results_csv
from search.views.feedback import feedback
from search.views.follow_up import follow
from search.views.paths import paths
from search.views.plan import edit_plan
from search.views.refine import refine
from search.views.results import cancel, live, results
from search.views.runs import trace
from search.views.search import home
from search.views.settings import knowledge_settings, settings_back, settings_list
from search.views.status import status
from search.views.suggest import suggest
from search.views.theme import theme

urlpatterns: list[URLPattern | URLResolver] = [
    # First, for it registers the converter `anything`, which the addresses of entities use too.
    path("api/v1/", include("search.api.urls")),
    path("", home, name="search-home"),
    path("search/<uuid:run_id>/", results, name="search-results"),
    path("search/<uuid:run_id>/live/", live, name="search-live"),
    path("search/<uuid:run_id>/cancel/", cancel, name="search-cancel"),
    path("search/<uuid:run_id>/feedback/", feedback, name="search-feedback"),
    path("search/<uuid:run_id>/plan/", edit_plan, name="search-plan"),
    path("search/<uuid:run_id>/follow/", follow, name="search-follow"),
    path("search/<uuid:run_id>/refine/", refine, name="search-refine"),
    path("search/<uuid:run_id>/answers/", answers, name="search-answers"),
    path("search/<uuid:run_id>/answers.csv", answers_csv, name="search-answers-csv"),
    path("search/<uuid:run_id>/results/<int:rank>/paths/", paths, name="search-paths"),
    path("search/<uuid:run_id>/results.csv", results_csv, name="search-csv"),
    path("search/<uuid:run_id>/trace/", trace, name="search-trace"),
    path("kb/<str:name>/suggest/", suggest, name="search-suggest"),
    path("kb/<str:name>/settings/", knowledge_settings, name="search-settings"),
    path("kb/<str:name>/settings/back/", settings_back, name="search-settings-back"),
    path("kb/<str:name>/nodes/", entity, name="search-entity-by-id"),
    path("kb/<str:name>/nodes/<anything:node_id>/", entity, name="search-entity"),
    path("settings/", settings_list, name="search-settings-list"),
    path("status/", status, name="search-status"),
    path("theme/", theme, name="search-theme"),
    path("account/sign-in/", sign_in, name="sign-in"),
    path("account/sign-out/", sign_out, name="sign-out"),
    path("account/password/", change_password, name="password"),
    path("account/password/changed/", password_changed, name="password-changed"),
    path("api/schema/", Description.as_view(), name="api-schema"),
    path("api/docs/", Viewer.as_view(url_name="api-schema"), name="api-docs"),
]
