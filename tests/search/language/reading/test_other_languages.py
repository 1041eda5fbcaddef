"""German, French and Spanish questions: the same cues as in English, written by hand."""

from datetime import date

import pytest

from search.language.reading import read_cues

TODAY = date(2026, 7, 15)


@pytest.mark.parametrize(
    ("code", "text", "turned", "kind"),
    [
        ("de", "Welche Boote kann man in keinem Laden kaufen?", ["Laden kaufen"], "lack"),
        ("de", "Artikel, die nie zitiert wurden", ["zitiert"], "not"),
        ("de", "Lampen ohne Batterie, die leuchten", ["Batterie"], "lack"),
        ("de", "alles von Halcyon außer Zelten und Lampen", ["Zelten und Lampen"], "except"),
        ("de", "Welche Medikamente interagieren nicht mit Aspirin?", ["mit Aspirin"], "not"),
        ("de", "weder Wolle noch Baumwolle", ["Wolle", "Baumwolle"], "not"),
        ("de", "glutenfreies Brot", ["gluten"], "lack"),
        ("fr", "Quels médicaments n'ont aucun effet ?", ["effet"], "lack"),
        ("fr", "Quels médicaments ne traitent pas l'asthme ?", ["traitent pas l'asthme"], "not"),
        ("fr", "lampes sans pile qui brillent", ["pile"], "lack"),
        ("fr", "tout sauf les tentes", ["tentes"], "except"),
        ("fr", "ni laine ni coton", ["laine", "coton"], "not"),
        ("es", "medicamentos que no tratan el asma", ["tratan el asma"], "not"),
        ("es", "artículos que nadie ha citado", ["citado"], "lack"),
        ("es", "todo excepto las tiendas", ["tiendas"], "except"),
        ("es", "ni lana ni algodón", ["lana", "algodón"], "not"),
    ],
)
def test_a_turning_word_turns_its_clause(code: str, text: str, turned: list[str], kind: str) -> None:
    turnings = read_cues(text, code).turnings
    assert [text[turning.scope[0] : turning.scope[1]] for turning in turnings] == turned
    assert {turning.kind for turning in turnings} == {kind}


@pytest.mark.parametrize(
    ("code", "text", "said", "direction", "first_name", "limit"),
    [
        ("de", "die drei neuesten Lampen", "drei neuesten", "desc", "date", 3),
        ("de", "das schwerste Boot", "schwerste", "desc", "weight", 1),
        ("de", "die billigste Lampe", "billigste", "asc", "price", 1),
        ("fr", "la lampe la plus chère", "la plus chère", "desc", "price", 1),
        ("fr", "les trois films les plus récents", "les plus récents", "desc", "date", 3),
        ("fr", "le meilleur film", "le meilleur", "desc", "rating", 1),
        ("es", "la lámpara más barata", "más barata", "asc", "price", 1),
        ("es", "las tres lámparas más caras", "más caras", "desc", "price", 3),
        ("es", "la institución más antigua", "más antigua", "asc", "date", 1),
    ],
)
def test_a_property_is_ordered(code: str, text: str, said: str, direction: str, first_name: str, limit: int) -> None:
    cues = read_cues(text, code)
    [found] = cues.superlatives
    assert (text[found.start : found.end], found.direction) == (said, direction)
    assert (found.scale[0], found.limit) == (first_name, limit)
    assert cues.quantities == ()


@pytest.mark.parametrize(
    ("code", "text", "counted"),
    [
        ("de", "welche Marke hat die meisten Produkte", "Produkte"),
        ("fr", "la marque avec le plus de produits", "produits"),
        ("es", "la marca con más productos", "productos"),
        ("fr", "l'article le plus cité", "cité"),
    ],
)
def test_what_is_counted_is_known_by_its_place(code: str, text: str, counted: str) -> None:
    [found] = read_cues(text, code).superlatives
    assert found.counted is not None
    assert text[slice(*found.counted)] == counted


@pytest.mark.parametrize(
    ("code", "text", "op", "reference"),
    [
        ("de", "Lampen billiger als die Laterne", "<", "die Laterne"),
        ("de", "genauso teuer wie die Laterne", "=", "die Laterne"),
        ("de", "Schulen, die vor der Universität Bonn gegründet wurden", "<", "der Universität Bonn"),
        ("fr", "lampes moins chères que la Lanterne", "<", "la Lanterne"),
        ("fr", "fondées avant Maplethorn", "<", "Maplethorn"),
        ("es", "lámparas más caras que la Linterna", ">", "la Linterna"),
    ],
)
def test_a_thing_is_compared(code: str, text: str, op: str, reference: str) -> None:
    cues = read_cues(text, code)
    [found] = cues.comparisons
    assert (found.op, text[slice(*found.reference)]) == (op, reference)
    assert cues.superlatives == ()


@pytest.mark.parametrize(
    ("code", "text", "op", "low", "unit"),
    [
        ("de", "unter 1.200,50 Euro", "<", 1200.5, "euros"),
        ("de", "mindestens drei Autoren", ">=", 3, "autoren"),
        ("de", "leichter als 2 Kilo", "<", 2, "kg"),
        ("fr", "plus de 1 200,50 euros", ">", 1200.5, "euros"),
        ("fr", "au moins trois auteurs", ">=", 3, "auteurs"),
        ("es", "menos de veinte euros", "<", 20, "euros"),
        ("es", "más de 1.200,50 euros", ">", 1200.5, "euros"),
    ],
)
def test_numbers_are_written_as_the_language_does(code: str, text: str, op: str, low: float, unit: str) -> None:
    [found] = read_cues(text, code).quantities
    assert (found.op, found.low, found.unit) == (op, low, unit)


@pytest.mark.parametrize(
    ("code", "text", "op", "first", "last"),
    [
        ("de", "aus den letzten fünf Jahren", "=", date(2021, 7, 15), TODAY),
        ("de", "vor dem 3. Mai 2020", "<", date(2020, 5, 3), date(2020, 5, 3)),
        ("de", "im 19. Jahrhundert", "=", date(1801, 1, 1), date(1900, 12, 31)),
        ("fr", "au cours des cinq dernières années", "=", date(2021, 7, 15), TODAY),
        ("fr", "l'année dernière", "=", date(2025, 1, 1), date(2025, 12, 31)),
        ("fr", "au XIXe siècle", "=", date(1801, 1, 1), date(1900, 12, 31)),
        ("es", "antes del 3 de mayo de 2020", "<", date(2020, 5, 3), date(2020, 5, 3)),
        ("es", "el año pasado", "=", date(2025, 1, 1), date(2025, 12, 31)),
        ("es", "en el siglo XIX", "=", date(1801, 1, 1), date(1900, 12, 31)),
    ],
)
def test_a_date_is_a_range_of_days(code: str, text: str, op: str, first: date, last: date) -> None:
    [found] = read_cues(text, code, TODAY).dates
    assert (found.op, found.first, found.last) == (op, first, last)


@pytest.mark.parametrize(
    ("code", "text", "ask"),
    [
        ("de", "Wie viele Lampen gibt es?", "how many"),
        ("de", "Gibt es Lampen aus Wolle?", "whether"),
        ("de", "Können Sie mir Lampen zeigen?", None),
        ("fr", "combien de lampes y a-t-il ?", "how many"),
        ("fr", "Est-ce que l'aspirine traite l'asthme ?", "whether"),
        ("fr", "Qu'est-ce que la laine ?", None),
        ("es", "¿Cuántas lámparas hay?", "how many"),
        ("es", "¿Hay lámparas de lana?", "whether"),
        ("es", "¿Qué lámparas hay?", None),
    ],
)
def test_the_kind_of_answer_is_read(code: str, text: str, ask: str | None) -> None:
    asking = read_cues(text, code).asking
    assert (asking.ask if asking else None) == ask


def test_a_language_without_data_says_so() -> None:
    cues = read_cues("어떤 약이 2020 천식을", "ko")
    assert (cues.whole, cues.turnings, cues.superlatives, cues.language) == (False, (), (), "ko")
    assert [quantity.low for quantity in cues.quantities] == [2020]
