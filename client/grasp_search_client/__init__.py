"""A client of a GRASP search site: `Grasp`, `AsyncGrasp`, and everything else in `generated`."""

from grasp_search_client.asynchronous import AsyncGrasp
from grasp_search_client.common import Event, GraspError, NotFinished, TooMany
from grasp_search_client.synchronous import Grasp

__all__ = ["AsyncGrasp", "Event", "Grasp", "GraspError", "NotFinished", "TooMany"]
