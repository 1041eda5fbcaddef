"""Questions in other languages read in English; expected texts are written by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.language.gloss import gloss
from search.language.glossing.dictionary import LANGUAGES, dictionary
from search.language.glossing.wanted import Wanted
from search.language.languages import FOLDER


@pytest.mark.parametrize(
    ("source", "text", "read"),
    [
        ("fr", "Quels médicaments traitent l'asthme ?", "which drugs treat the asthma ?"),
        ("fr", "Quels auteurs travaillent au Japon ?", "which authors work in Japan ?"),
        ("fr", "lampes rouges en laine", "red lamps in wool"),
        ("es", "¿Qué medicamentos causan mareos?", "which drugs cause dizziness?"),
        ("es", "enfermedades raras", "rare diseases"),
        ("es", "películas dirigidas por Juan de la Cruz", "films directed by Juan de la Cruz"),
        ("de", "Welche Krebsmedikamente haben keine Nebenwirkungen?", "which cancer drugs have no side effects?"),
        ("de", "Welche Autoren arbeiten in Großbritannien?", "which authors work in Großbritannien?"),
        ("de", "Wo kann ich die Harmonica Lamp kaufen?", "where can I the Harmonica Lamp buy?"),
        ("de", "Papiere über Rachitis und Keuchhusten", "papers on rickets and pertussis"),
        ("fr", "voies des lymphocytes T", "pathways of T cell"),
        ("it", "Quali farmaci curano l'asma?", "which drugs treat the asthma?"),
        ("pt", "Quais medicamentos tratam a pressão alta?", "which drugs treat the high blood pressure?"),
        ("nl", "Welke geneesmiddelen behandelen borstkanker?", "which drugs treat breast cancer?"),
        ("sv", "Vilka läkemedel behandlar astma?", "which drugs treat asthma?"),
        ("pl", "Jakie leki leczą cukrzycę?", "which drugs treat diabetes?"),
        ("ru", "Какие авторы работают в Японии?", "which authors work in Japan?"),
        ("ja", "喘息の薬", "asthma drug"),
        ("zh", "哪些作者在日本工作？", "which authors in Japan work?"),
        ("zh", "哪些通路与帕金森病有关？", "which pathways associated with Parkinson's disease?"),
    ],
)
def test_a_question_is_read_word_by_word(source: str, text: str, read: str) -> None:
    assert gloss(text, source, "en").text == read


def test_words_in_quotes_stay_as_they_are() -> None:
    assert gloss("livres sur “la maladie”", "fr", "en").text == "books on “la maladie”"


def test_unknown_words_stay_and_are_known_by_their_places() -> None:
    read = gloss("Quels médicaments contiennent du paracétamol ?", "fr", "en")
    assert [read.text[start:end] for start, end in read.unread] == ["paracétamol"]


def test_the_way_leads_back_to_the_words_that_were_asked() -> None:
    text = "Quels médicaments contre la polyarthrite rhumatoïde ?"
    read = gloss(text, "fr", "en")
    start = read.text.index("rheumatoid")
    origin = read.origin(start, start + len("rheumatoid arthritis"))
    assert text[slice(*origin)] == "polyarthrite rhumatoïde"
    assert read.text[slice(*read.place(*origin))] == "rheumatoid arthritis"


def test_words_that_changed_places_lead_back_too() -> None:
    text = "enfermedades crónicas del corazón"
    read = gloss(text, "es", "en")
    assert text[slice(*read.origin(0, len("chronic")))] == "crónicas"


def test_a_part_of_an_unknown_word_leads_back_to_that_part() -> None:
    read = gloss("les ibuprofène", "fr", "en")
    at = read.text.index("profène")
    assert read.original[slice(*read.origin(at, at + 7))] == "profène"


@pytest.mark.parametrize(("source", "into"), [("ko", "en"), ("fr", "ko"), ("en", "en")])
def test_without_a_dictionary_the_question_stays_as_it_is(source: str, into: str) -> None:
    read = gloss("une question", source, into)
    assert (read.text, read.changed, read.read) == ("une question", False, source == into)


def test_an_english_question_is_read_in_german() -> None:
    assert gloss("which drugs treat asthma?", "en", "de").text.lower() == "welche medikamente behandeln asthma?"


@pytest.mark.parametrize("code", [code for code in LANGUAGES if code != "en"])
def test_every_language_has_its_words(code: str) -> None:
    words = dictionary(code, "en")
    assert words is not None
    assert sum(entry.kind == "n" for entry in words.phrases.values()) > 150
    assert sum(entry.kind == "name" for entry in words.phrases.values()) > 200


@given(st.text(max_size=200), st.sampled_from([code for code in LANGUAGES if code != "en"]))
def test_any_text_is_read_and_every_place_leads_back_into_it(text: str, code: str) -> None:
    read = gloss(text, code, "en")
    for piece in read.pieces:
        assert 0 <= piece.start <= piece.end <= len(read.text)
        assert 0 <= piece.origin[0] <= piece.origin[1] <= len(text)
        start, end = read.origin(piece.start, piece.end)
        assert 0 <= start <= end <= len(text)


@pytest.mark.parametrize(
    ("source", "text", "read"),
    [
        ("de", "Welche Signalwege hängen mit Brustkrebs zusammen?", "which pathways related with breast cancer?"),
        ("de", "Welche Software liest VCF-Dateien ein?", "which software input VCF-files?"),
        ("de", "Wann kam The Bridge heraus und wer führte Regie?", "when came out The Bridge and who direct?"),
        ("de", "Welche Filme spielen mit Tom Ford?", "which films starring with Tom Ford?"),
        ("nl", "In welke films speelde Keaton mee?", "in which films star Keaton?"),
    ],
)
def test_both_parts_of_a_separable_verb_are_one_word(source: str, text: str, read: str) -> None:
    """The second part ends a clause; *mit* before a name is a word of its own."""
    assert gloss(text, source, "en").text == read


def test_a_separable_verb_leads_back_to_its_first_part() -> None:
    read = gloss("Welche Wege hängen mit Krebs zusammen?", "de", "en")
    at = read.text.index("related")
    assert read.original[slice(*read.origin(at, at + 7))] == "hängen"


@pytest.mark.parametrize(
    ("source", "text", "read"),
    [
        ("de", "Welche Arbeiten arbeiten?", "which papers work?"),
        ("es", "herramientas en Mac pero no en Windows", "tools in Mac but not in Windows"),
        ("es", "herramientas en Mac y en Windows", "tools in Mac and in Windows"),
        ("es", "películas de Juan de la Cruz", "films of Juan de la Cruz"),
        ("es", "herramientas escritas en Julia", "tools write in Julia"),
        ("ru", "авторы в Японии", "authors in Japan"),
        ("fr", "articles sur the hinge of an ice shelf", "papers on the hinge of an ice shelf"),
        ("fr", "produits pour l'été", "products for summer"),
        ("fr", "articles qui ont été écrits en 2019", "papers who were write in 2019"),
        ("de", "Blutdruckmedikamente", "blood pressure drugs"),
    ],
)
def test_names_and_nouns_are_told_from_other_words(source: str, text: str, read: str) -> None:
    assert gloss(text, source, "en").text == read


def test_every_row_of_the_dictionary_has_its_columns_and_a_known_kind() -> None:
    for path in sorted(FOLDER.glob("dictionary*.txt")):
        lines = path.read_text(encoding="utf-8").splitlines()
        head = next((line for line in lines if line.startswith("# columns:")), "")
        columns = len(head.removeprefix("# columns:").split()) or len(LANGUAGES)
        for line in lines:
            if line and not line.startswith("#"):
                kind, *cells = line.split("|")
                assert kind in ("n", "a", "v", "f", "p"), line
                assert len(cells) == columns, line
                assert all(cell == cell.strip() for cell in cells), line


PLACES = Wanted(frozenset(("river", "mountain", "state", "country", "lake", "city", "population")))


@pytest.mark.parametrize(
    ("source", "text", "read"),
    [
        ("it", "il fiume più lungo", "the longest river"),
        ("it", "il fiume piu lungo del mondo", "the longest river of world"),
        ("es", "ciudad mas grande de Cuba", "biggest city of Cuba"),
        ("fr", "la rivière la moins longue", "the least long river"),
        ("fr", "la tente la plus légère", "the lightest tent"),
        ("fr", "capitale du plus grand pays", "capital of biggest country"),
        ("pt", "qual é a montanha mais alta", "which is the highest mountain"),
        # Compared things stay compared.
        ("it", "un fiume più lungo di Po", "a river more long of Po"),
        ("es", "una ciudad más grande que Cuba", "a city more big that Cuba"),
        # *More* before a noun asks for the most, unless something is compared.
        ("it", "quale fiume attraversa più paesi", "which rivers cross the most countries"),
        ("pt", "qual rio atravessa mais estados do que Tejo", "which rivers cross more states than Tejo"),
    ],
)
def test_romance_superlatives_are_english_ones(source: str, text: str, read: str) -> None:
    assert gloss(text, source, "en", PLACES).text == read


@pytest.mark.parametrize(
    ("source", "text", "read"),
    [
        ("es", "cual es la montana mas alta", "which is the highest mountain"),
        ("es", "que rios hay", "which rivers are there"),
        ("it", "qual e la capitale", "which is the capital"),
        ("it", "fiumi e laghi", "rivers and lakes"),
        ("pt", "qual e a populacao", "which is the population"),
        ("pt", "rios e lagos", "rivers and lakes"),
        ("fr", "riviere ou lac", "river or lake"),
        ("de", "groesste staedte", "largest cities"),
        ("de", "grosste stadte", "largest cities"),
    ],
)
def test_words_are_read_without_their_accents(source: str, text: str, read: str) -> None:
    """A word that is another one without its accent is so where the sentence needs it: *qual e*, *fiumi e laghi*."""
    assert gloss(text, source, "en", PLACES).text == read


def test_what_is_there_stands_behind_what_is_asked_for() -> None:
    assert gloss("Welche Flüsse gibt es in Utah?", "de", "en").text == "which rivers are there in Utah?"
    assert gloss("Gibt es Lampen?", "de", "en").text == "there are lamps?"


def test_merged_words_lead_back_to_all_that_was_said() -> None:
    text = "il fiume più lungo"
    read = gloss(text, "it", "en")
    at = read.text.index("longest")
    assert text[slice(*read.origin(at, at + len("longest")))] == "più lungo"


@pytest.mark.parametrize(
    ("source", "text", "read"),
    [
        ("it", "dopo il 2022", "after 2022"),
        ("es", "despues de 2022", "after 2022"),
        ("pt", "antes de 2022", "before 2022"),
    ],
)
def test_a_year_has_no_article(source: str, text: str, read: str) -> None:
    assert gloss(text, source, "en").text == read
