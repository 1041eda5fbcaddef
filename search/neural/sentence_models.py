"""Sentence models by name: packaged ones, folders, models of the hub, and those that this site has trained.

A trained encoder is an artifact of the kind `encoder`. Its name as an encoder is `ARTIFACT@HASH`, with the content hash
of the artifact, so vectors of changed files are never compared with those of the files that made them. The artifact
holds what training has changed of a base model: the differences of its parameters, or an adapter of PEFT.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from django.conf import settings
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer
from torch import nn

from search.artifact_files import ADAPTER_CONFIGURATION, WEIGHTS, check_folder, open_artifact
from search.neural.adapters import merged
from search.neural.encoder_names import ENCODER, is_trained, located, parts

STAGE = "encoder"


def sentence_model(name: str, device: str = "cpu", dtype: torch.dtype = torch.float32) -> SentenceTransformer:
    """Return the sentence model of that name (`model@revision`).

    Raises ValueError or OSError if there is no such model, or if the files of a trained one were changed or belong to
    another model; StageError if a trained one is not on this machine.
    """
    if is_trained(name):
        model = read_encoder(_directory() / parts(name)[0], _opened(name))
        transformer_of(model).to(dtype)
        return model.to(device)
    model_name, revision = parts(name)
    path = located(model_name, name)
    return SentenceTransformer(
        path, device=device, revision=revision if path == model_name else None, model_kwargs={"dtype": dtype}
    )


def base_of(name: str) -> str:
    """Return the name of the model that a trained encoder was made of; an encoder that was not trained is its own."""
    if not is_trained(name):
        return name
    return str(_opened(name)["base"])


def transformer_of(model: SentenceTransformer) -> nn.Module:
    """Return the transformer of a sentence model. Raises ValueError if it does not begin with one."""
    if isinstance(found := getattr(model[0], "model", None), nn.Module):
        return found
    raise ValueError("it is no transformer")


def put_transformer(model: SentenceTransformer, transformer: nn.Module) -> None:
    """Put another transformer of the same shape into a sentence model."""
    first: Any = model[0]
    first.model = transformer


def weights_hash(model: nn.Module) -> str:
    """Return a hash of all parameters of a model in single precision; a model of other weights has another one."""
    found = hashlib.blake2b(digest_size=16)
    for name, tensor in sorted(model.state_dict().items()):
        found.update(name.encode())
        found.update(tensor.detach().cpu().float().contiguous().numpy().tobytes())
    return found.hexdigest()


def _opened(name: str) -> dict[str, Any]:
    """Return the `config.json` of a trained encoder whose files were checked."""
    artifact, expected = parts(name)
    configuration = open_artifact(_directory(), artifact, ENCODER, STAGE)
    check_folder(_directory() / artifact, expected or "")
    return configuration


def _directory() -> Path:
    return Path(settings.GRASP_HOME) / "artifacts"


def read_encoder(folder: Path, configuration: Mapping[str, Any]) -> SentenceTransformer:
    """Return the model of a trained encoder's folder, whose `config.json` is given, on the CPU in single precision.

    Raises ValueError, KeyError, OSError or RuntimeError if the files do not fit the base model that this site has.
    """
    base = str(configuration["base"])
    model = sentence_model(base)
    if (found := weights_hash(model)) != configuration["base_hash"]:
        expected = configuration["base_hash"]
        raise ValueError(
            f"it changes weights of {base} with the hash {expected}, and those on this machine have {found}"
        )
    if configuration["adapter"]:
        named = json.loads((folder / ADAPTER_CONFIGURATION).read_bytes())["base_model_name_or_path"]
        if named != parts(base)[0]:
            raise ValueError(f"its adapter belongs to {named}, and the encoder is of {base}")
        put_transformer(model, merged(transformer_of(model), folder))
        return model.eval()
    own = dict(model.named_parameters())
    for key, tensor in load_file(folder / WEIGHTS).items():
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{key} holds numbers that are not finite")
        if key not in own or own[key].shape != tensor.shape:
            raise ValueError(f"{key} is no parameter of {base}")
        with torch.no_grad():
            own[key].add_(tensor.float())
    return model.eval()
