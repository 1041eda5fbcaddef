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
