"""Where the doors of search open."""

from django.urls import URLPattern, URLResolver, include, path

from search.api.description import Description, Viewer
from search.views.account import change_password, password_changed, sign_in, sign_out
from search.views.answers import answers, answers_csv
from search.views.changes import again, changes, changes_live
from search.views.collect import collect
from search.views.collection_files import export
from search.views.collections import change_collection, change_item, collection, collections, shared
from search.views.compare import compare, compare_live
from search.views.embed import embed_script
from search.views.entity import alike, entity
from search.views.explore import explore_file, explore_page
from search.views.export import results_csv
from search.views.feedback import feedback
from search.views.follow_up import follow
from search.views.gallery.pages import data, framed, gallery, state
from search.views.glossary import glossary
from search.views.internal_files import internal_file
from search.views.other_plans import other_plans
from search.views.own_searches import change_saved, forget, save, searches
from search.views.paths import paths
from search.views.paths_between import paths_of_two, paths_of_two_csv, paths_of_two_svg
from search.views.plan import edit_plan
from search.views.refine import refine
from search.views.results import cancel, facets, live, results
from search.views.runs import trace
from search.views.search import home
from search.views.settings import knowledge_settings, settings_back, settings_list
from search.views.status import status
from search.views.suggest import suggest, suggest_any
from search.views.theme import theme
from search.views.why import why
from search.views.written import written

urlpatterns: list[URLPattern | URLResolver] = [
    # First, for it registers the converter `anything`, which the addresses of entities use too.
    path("api/v1/", include("search.api.urls")),
    path("", home, name="search-home"),
    path("compare/", compare, name="search-compare"),
    path("compare/live/", compare_live, name="search-compare-live"),
    path("searches/", searches, name="search-own"),
    path("searches/saved/<uuid:saved_id>/", change_saved, name="search-saved"),
    path("search/<uuid:run_id>/save/", save, name="search-save"),
    path("search/<uuid:run_id>/forget/", forget, name="search-forget"),
    path("search/<uuid:run_id>/again/", again, name="search-again"),
    path("search/<uuid:run_id>/changes/<uuid:before_id>/", changes, name="search-changes"),
    path("search/<uuid:run_id>/changes/<uuid:before_id>/live/", changes_live, name="search-changes-live"),
    path("collect/", collect, name="collect"),
    path("collections/", collections, name="collections"),
    path("collections/<uuid:collection_id>/", collection, name="collection"),
    path("collections/<uuid:collection_id>/change/", change_collection, name="collection-change"),
    path("collections/<uuid:collection_id>/items/<int:entry_id>/", change_item, name="collection-item"),
    path("collections/<uuid:collection_id>/export.<str:kind>", export, name="collection-export"),
    path("collections/shared/<str:key>/", shared, name="collection-shared"),
    path("collections/shared/<str:key>/export.<str:kind>", export, name="collection-shared-export"),
    path("embed/grasp.js", embed_script, name="embed-script"),
    path("search/<uuid:run_id>/", results, name="search-results"),
    path("search/<uuid:run_id>/live/", live, name="search-live"),
    path("search/<uuid:run_id>/facets/", facets, name="search-facets"),
    path("search/<uuid:run_id>/cancel/", cancel, name="search-cancel"),
    path("search/<uuid:run_id>/feedback/", feedback, name="search-feedback"),
    path("search/<uuid:run_id>/plan/", edit_plan, name="search-plan"),
    path("search/<uuid:run_id>/plans/", other_plans, name="search-plans"),
    path("search/<uuid:run_id>/follow/", follow, name="search-follow"),
    path("search/<uuid:run_id>/refine/", refine, name="search-refine"),
    path("search/<uuid:run_id>/answers/", answers, name="search-answers"),
    path("search/<uuid:run_id>/answers.csv", answers_csv, name="search-answers-csv"),
    path("search/<uuid:run_id>/written/", written, name="search-written"),
    path("search/<uuid:run_id>/results/<int:rank>/why/", why, name="search-why"),
    path("search/<uuid:run_id>/results/<int:rank>/paths/", paths, name="search-paths"),
    path("search/<uuid:run_id>/results.csv", results_csv, name="search-csv"),
    path("search/<uuid:run_id>/trace/", trace, name="search-trace"),
    path("suggest/", suggest_any, name="search-suggest-any"),
    path("kb/<str:name>/suggest/", suggest, name="search-suggest"),
    path("kb/<str:name>/paths/", paths_of_two, name="search-paths-between"),
    path("kb/<str:name>/paths.csv", paths_of_two_csv, name="search-paths-between-csv"),
    path("kb/<str:name>/paths.svg", paths_of_two_svg, name="search-paths-between-svg"),
    path("kb/<str:name>/explore/", explore_page, name="search-explore"),
    path("kb/<str:name>/explore.<str:kind>", explore_file, name="search-explore-file"),
    path("kb/<str:name>/alike/", alike, name="search-alike"),
    path("kb/<str:name>/settings/", knowledge_settings, name="search-settings"),
    path("kb/<str:name>/settings/back/", settings_back, name="search-settings-back"),
    path("kb/<str:name>/nodes/", entity, name="search-entity-by-id"),
    path("kb/<str:name>/nodes/<anything:node_id>/", entity, name="search-entity"),
    path("settings/", settings_list, name="search-settings-list"),
    path("words/", glossary, name="glossary"),
    path("gallery/", gallery, name="gallery"),
    path("gallery/<str:component>/<str:name>/", state, name="gallery-state"),
    path("gallery/<str:component>/<str:name>/framed/", framed, name="gallery-framed"),
    path("gallery/<str:component>/<str:name>/data/<str:part>/", data, name="gallery-data"),
    path("status/", status, name="search-status"),
    path("internal/files/<path:name>", internal_file, name="internal-file"),
    path("theme/", theme, name="search-theme"),
    path("account/sign-in/", sign_in, name="sign-in"),
    path("account/sign-out/", sign_out, name="sign-out"),
    path("account/password/", change_password, name="password"),
    path("account/password/changed/", password_changed, name="password-changed"),
    path("api/schema/", Description.as_view(), name="api-schema"),
    path("api/docs/", Viewer.as_view(url_name="api-schema"), name="api-docs"),
]
