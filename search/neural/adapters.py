"""Low-rank adapters (LoRA) of a model, by PEFT: a folder as PEFT writes it, which vLLM serves as it lies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from peft import LoraConfig, PeftModel, get_peft_model, get_peft_model_state_dict
from safetensors.torch import save
from torch import nn

from search.artifact_files import ADAPTER, ADAPTER_CONFIGURATION
from search.neural.devices import seeded
from search.neural.encoder_names import parts


def with_adapter(body: nn.Module, rank: int, alpha: int, dropout: float, *, causal: bool, seed: int) -> PeftModel:
    """Return a model whose linear layers have trainable adapters, and nothing else that is trained.

    The seed decides the first values. GRASP (section on reranking) has rank 32 and alpha 64, in all linear layers.
    """
    config = LoraConfig(
        r=rank, lora_alpha=alpha, lora_dropout=dropout, target_modules="all-linear", bias="none",
        task_type="CAUSAL_LM" if causal else "FEATURE_EXTRACTION",
    )  # fmt: skip
    with seeded(seed, next(body.parameters()).device):
        return get_peft_model(body, config)


def adapter_files(model: PeftModel, base: str) -> dict[str, bytes]:
    """Return the files of the adapter by name; `base` (`model@revision`) is what it belongs to."""
    described = model.peft_config["default"].to_dict()
    name, revision = parts(base)
    described |= {"base_model_name_or_path": name, "revision": revision, "inference_mode": True}
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in get_peft_model_state_dict(model).items()}
    return {
        ADAPTER_CONFIGURATION: json.dumps(described, indent=2, sort_keys=True, default=_plain).encode(),
        ADAPTER: save(weights),
    }


def merged(body: nn.Module, folder: Path) -> nn.Module:
    """Return the model with the adapter of a folder added to its weights, so that it costs nothing in use.

    Raises ValueError, KeyError, OSError or RuntimeError if the adapter does not fit.
    """
    # Unless it is told where, PEFT reads the weights onto a GPU if there is one.
    where = str(next(body.parameters()).device)
    model: Any = PeftModel.from_pretrained(body, str(folder), torch_device=where)
    merged_body: nn.Module = model.merge_and_unload()
    return merged_body


def _plain(value: object) -> object:
    """Return a value that JSON does not know in a form that it knows: sets sorted, enumerations as text."""
    return sorted(value) if isinstance(value, set | frozenset) else str(getattr(value, "value", value))
