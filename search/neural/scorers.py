"""The rerankers of this site: configured ones by their rows in the settings, trained ones by their artifacts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from django.utils.module_loading import import_string
from safetensors import SafetensorError
from safetensors.torch import load_file

from search.artifact_files import ADAPTER_CONFIGURATION, open_artifact
from search.domain.errors import StageError
from search.domain.kept import Kept
from search.interfaces import Scorer
from search.neural import adapters, causal_scorer, cross_encoder
from search.neural.devices import chosen_device, chosen_dtype
from search.neural.encoder_names import full_name, parts
from search.neural.pair_model import PairModel, PairScorer
from search.text import DocumentForm

RERANKER = "reranker"
STAGE = "rerank"
_FAILURES = (ImportError, OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, SafetensorError)


class LoadedScorers:
    """Rerankers by name and artifact; the `most` used last stay in memory (interfaces.Scorers).

    `rows` is the table GRASP_SCORERS: name → {"BACKEND": dotted path of a function, "OPTIONS": {…}}. The function is
    called with the name, the device and the options. `directory` holds the artifacts.
    """

    def __init__(
        self,
        directory: Path | str,
        rows: Mapping[str, Mapping[str, Any]] | None = None,
        device: str = "auto",
        most: int = 2,
    ) -> None:
        self._directory = Path(directory)
        self._rows = rows or {}
        self._device = device
        self._kept: Kept[tuple[str, str], Scorer] = Kept(lambda: most)

    def get(self, scorer: str = "", artifact: str = "") -> Scorer:
        """Return the scorer of an artifact, or the configured one of a name; see interfaces.Scorers."""
        if not scorer and not artifact:
            known = f" (there are: {', '.join(self._rows)})" if self._rows else ""
            reason = (
                "no reranker is given; `train reranker` makes one, or set rerank.scorer to a name of "
                f"GRASP_SCORERS{known}"
            )
            raise StageError(STAGE, reason, permanent=True)
        if artifact:
            return self._kept.get(("", artifact), lambda make_room: self._of_artifact(artifact, make_room))
        return self._kept.get((scorer, ""), lambda make_room: self._configured(scorer, make_room))

    def _configured(self, name: str, make_room: Callable[[], None]) -> Scorer:
        if name not in self._rows:
            known = ", ".join(self._rows) or "none"
            raise StageError(STAGE, f"there is no reranker {name[:80]!r}; GRASP_SCORERS names: {known}", permanent=True)
        row = self._rows[name]
        make_room()
        try:
            scorer: Scorer = import_string(row["BACKEND"])(
                name=name, **{"device": self._device, **row.get("OPTIONS", {})}
            )
        except _FAILURES as error:
            raise StageError(STAGE, f"the reranker {name} cannot be loaded ({_line(error)})", permanent=True) from error
        return scorer

    def _of_artifact(self, artifact: str, make_room: Callable[[], None]) -> Scorer:
        configuration = open_artifact(self._directory, artifact, RERANKER, STAGE)
        make_room()
        try:
            return read_reranker(self._directory / artifact, configuration, artifact, self._device)
        except _FAILURES as error:
            reason = f"the trained part {artifact} cannot be read ({_line(error)})"
            raise StageError(STAGE, reason, permanent=True) from error


def read_reranker(folder: Path, configuration: Mapping[str, Any], name: str, device: str = "auto") -> PairScorer:
    """Return the scorer of a trained reranker's folder, whose `config.json` is given.

    Raises ValueError, KeyError, TypeError, OSError or RuntimeError for a folder that this code cannot read.
    """
    on = chosen_device(device)
    model = _model(configuration, folder)
    if isinstance(model, cross_encoder.CrossEncoder):
        # The head stays in float32.
        model.body.to(chosen_dtype("auto", on))
        model.to(on).serve()
    else:
        model.to(chosen_dtype("auto", on))
    mix = configuration["mix"]
    return PairScorer(
        name, model.to(on), DocumentForm(**configuration["document"]), (mix["weight"], mix["k"]) if mix else None
    )


def configured_causal(name: str, model: str, tokens: int = 1024, device: str = "auto") -> PairScorer:
    """Return a language model of GRASP_SCORERS as a reranker (docs/reranking.md)."""
    on = chosen_device(device)
    made = causal_scorer.causal_reranker(model, tokens, device=on, dtype=chosen_dtype("auto", on))
    return PairScorer(name, made)


def configured_cross_encoder(
    name: str, model: str = "all-MiniLM-L6-v2", tokens: int = 192, device: str = "auto"
) -> PairScorer:
    """Return a sentence encoder as an untrained reranker: what it gives before training, for comparisons."""
    on = chosen_device(device)
    made = cross_encoder.cross_encoder(full_name(*parts(model)), tokens, device=on)
    made.body.to(chosen_dtype("auto", on))
    return PairScorer(name, made.serve())


def _model(configuration: Mapping[str, Any], folder: Path) -> PairModel:
    """Return the trained model on the CPU, in float32."""
    base, tokens, adapted = configuration["model"], configuration["tokens"], configuration["adapter"]
    weights = load_file(folder / "model.safetensors")
    for key, tensor in weights.items():
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{key} holds numbers that are not finite")
    weights = {key: tensor.float() for key, tensor in weights.items()}
    if adapted:
        _refuse_other_base(folder, base)
    if configuration["base"] == causal_scorer.KIND:
        model = causal_scorer.causal_reranker(base, tokens, device="cpu")
        if adapted:
            model.body = adapters.merged(model.body, folder)
        else:
            model.load_state_dict(weights)
        return model
    if configuration["base"] != cross_encoder.KIND:
        raise ValueError(f"its base is of the unknown kind {configuration['base']!r}")
    if not adapted:
        whole = cross_encoder.empty_cross_encoder(base, tokens)
        whole.load_state_dict(weights)
        return whole
    small = cross_encoder.cross_encoder(base, tokens, device="cpu")
    small.body = adapters.merged(small.body, folder)
    missing = small.load_state_dict(weights, strict=False)
    if missing.unexpected_keys or any(not key.startswith("body.") for key in missing.missing_keys):
        raise ValueError("its head does not fit the model")
    return small


def _refuse_other_base(folder: Path, base: str) -> None:
    """Raise ValueError if the adapter in the folder belongs to another model."""
    named = json.loads((folder / ADAPTER_CONFIGURATION).read_bytes())["base_model_name_or_path"]
    if named != parts(base)[0]:
        raise ValueError(f"its adapter belongs to {named}, and the trained part is of {base}")


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
