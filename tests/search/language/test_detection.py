"""The language of short questions; a wrong guess must not break English questions full of foreign names."""

import pytest

from search.language.detection import language_of

ENGLISH = """papers by Juan de la Cruz
films by François Truffaut
Étienne Marchbank's lamps
institutions in São Paulo
Which lamps are sold in Zürich?
der Spiegel articles
who wrote Die Verwandlung
Lua Linux
is El Niño covered
winter Ingunn Aas
papers by 王小明 on machine learning
what does La Dolce Vita cite
vitamin D
Le Monde journalists
""".splitlines()


@pytest.mark.parametrize("text", [*ENGLISH, "", "?!", "42", "xkcd"])
def test_the_default_stays_without_words_that_say_otherwise(text: str) -> None:
    assert language_of(text, "en") == "en"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("de", "Welche Medikamente behandeln Asthma?"),
        ("de", "Autoren in Japan"),
        ("fr", "Qui a réalisé Titanic ?"),
        ("fr", "effets secondaires de la metformine"),
        ("es", "lámparas por menos de 20 euros"),
        ("es", "¿Cuánto cuesta la Harmonica Lamp?"),
        ("it", "chi ha diretto Titanic"),
        ("pt", "autores que trabalham no Japão"),
        ("nl", "welke lampen zijn goedkoop"),
        ("sv", "vilka läkemedel behandlar astma"),
        ("pl", "jakie leki leczą astmę"),
        ("ru", "побочные эффекты метформина"),
        ("ja", "日本の著者"),
        ("zh", "哪些作者在日本工作？"),
        ("ko", "천식 치료제는 무엇입니까?"),
        ("he", "אילו תרופות?"),
    ],
)
def test_other_languages_are_found(code: str, text: str) -> None:
    assert language_of(text, "en") == code


def test_the_language_of_the_base_is_the_default() -> None:
    assert language_of("Asthma", "de") == "de"
    assert language_of("which drugs treat asthma", "de") == "en"
    assert language_of("東京大学", "ja") == "ja"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("de", "hoechster berg in alaska"),
        ("de", "kürzester fluss"),
        ("de", "alle fluesse in colorado"),
        ("es", "cual es la montana mas alta"),
        ("es", "que rio atraviesa mas estados"),
        ("it", "qual e il fiume piu lungo"),
        ("it", "qual è la superficie dell'Alaska?"),
        ("pt", "qual e a populacao de illinois"),
        ("pt", "que estados atravessa o mississippi"),
        ("pt", "que montanhas ha no alasca"),
        ("nl", "grootste stad van wyoming"),
        ("nl", "alle rivieren in Colorado"),
        ("fr", "toutes les rivieres du colorado"),
        ("nl", "bevolking van texas"),
        ("it", "popolazione del texas"),
        ("it", "Qual è l'area del Texas?"),
    ],
)
def test_short_questions_without_accents_have_their_language(code: str, text: str) -> None:
    assert language_of(text, "en") == code


@pytest.mark.parametrize(
    "text",
    [
        "population of boulder", "rio grande length", "san jose", "adams m.w.w. review", "papers by wilson r.g.",
        "paracetamol",
        "rio de janeiro beaches", "el paso population", "montana mountains", "pasta recipes", "berg lake",
    ],
)  # fmt: skip
def test_foreign_names_in_lower_case_leave_a_question_english(text: str) -> None:
    assert language_of(text, "en") == "en"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("fr", "Quels articles citent Tidal flexure at the hinge of an ice shelf ?"),
        ("de", "Wer führte bei Butch Cassidy and the Sundance Kid Regie?"),
        ("es", "¿De qué año es The Bridge on the River Kwai?"),
        ("en", "Cosa Nostra films that are not from Italy"),
        ("en", "dove species in Europe"),
        ("en", "what did Marcel Pagnol direct?"),
    ],
)
def test_a_name_or_title_does_not_change_the_language_of_a_question(code: str, text: str) -> None:
    assert language_of(text, "en") == code
