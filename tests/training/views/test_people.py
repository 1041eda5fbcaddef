"""The page of a queue's people: for its lead alone, with progress and without a grade; and the counts of the list."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from search.models import KnowledgeBase
from tests.training.annotating import annotator, queue_of
from training.models import AnnotationQueue
from training.services.annotation.assign import assigned_people

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue(films: KnowledgeBase) -> AnnotationQueue:
    queue = queue_of(films, 4, overlap=2)
    queue.author = annotator("lee")
    queue.save()
    return queue


def entered(name: str) -> Client:
    client = Client()
    client.force_login(annotator(name))
    return client


def test_the_lead_shares_out_and_takes_it_back(client: Client, queue: AnnotationQueue) -> None:
    people = [annotator(name) for name in ("ada", "bo", "cy")]
    client.force_login(queue.author)  # type: ignore[arg-type]
    address = reverse("annotation-people", args=[queue.pk])
    page = client.get(address).content.decode()
    assert "0 of 4 items are graded by 2 people" in page
    assert [page.count(f"> {one.username}</label>") for one in people] == [1, 1, 1]
    said = client.post(address, {"people": [people[0].pk]}, follow=True).content.decode()
    assert "Each item is judged by 2 people, so choose at least 2." in said
    assert "Choose who is to judge" in client.post(address, {}, follow=True).content.decode()
    said = client.post(address, {"people": [people[0].pk, people[1].pk, 0]}, follow=True).content.decode()
    assert "The items are shared out among 2 people." in said
    assert set(map(len, assigned_people(queue).values())) == {2}
    row = re.search(r'<th scope="row">ada</th>(.*?)</tr>', said)
    assert row is not None
    assert re.findall(r"<td[^>]*>([^<]*)", row.group(1))[:5] == ["4", "0", "0", "0", "4"]
    client.post(address, {"everybody": "1"})
    assert assigned_people(queue) == {}


def test_others_see_neither_the_page_nor_the_link(queue: AnnotationQueue) -> None:
    ada = entered("ada")
    address = reverse("annotation-people", args=[queue.pk])
    assert (ada.get(address).status_code, ada.post(address, {"everybody": "1"}).status_code) == (403, 403)
    assert address not in ada.get(reverse("annotate")).content.decode()
    assert Client().get(address).status_code == 302


def test_the_list_counts_what_is_graded_by_all_and_by_the_reader(queue: AnnotationQueue) -> None:
    ada = entered("ada")
    page = ada.get(reverse("annotate")).content.decode()
    assert "0 of 4 graded by 2 people · you graded 0 · 4 left for you" in page
    queue.items.get(position=0).people.add(*[one for one in [queue.author] if one])
    page = ada.get(reverse("annotate")).content.decode()
    assert "you graded 0 · 3 left for you" in page
