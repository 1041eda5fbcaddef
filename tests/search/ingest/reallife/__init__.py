"""Ten folders of tables as people have them, each with the graph that it should become."""

from tests.search.ingest.reallife import (
    club,
    courses,
    films,
    garden,
    library,
    museum,
    programme,
    recipes,
    shop,
    survey,
)

FOLDERS = {
    module.__name__.rsplit(".", 1)[1]: module.FOLDER
    for module in (museum, club, recipes, library, shop, garden, courses, films, survey, programme)
}
