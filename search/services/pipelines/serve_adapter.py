"""serve_adapter: the command by which vLLM serves an artifact's adapter as it lies, if it can."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from search.artifact_files import ADAPTER, ADAPTER_CONFIGURATION, JOB, SCORE_TEMPLATE
from search.models import Artifact

RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""Values that vLLM takes for `--max-lora-rank` (vllm.config.lora.MaxLoRARanks)."""


@dataclass(frozen=True)
class Served:
    """The command that serves an adapter, and what stands against it; without faults, the command can be used."""

    command: str
    faults: tuple[str, ...] = ()


def serving_of(artifact: Artifact) -> Served | None:
    """Return how vLLM serves an artifact; None if it has no PEFT adapter.

    vLLM refuses adapters with modules of their own, with biases, with weights that are decomposed (DoRA), of a rank
    above its largest, and of another method than LoRA; each is told as a fault.
    """
    folder = artifact.directory
    if not (folder / ADAPTER_CONFIGURATION).is_file():
        return None
    try:
        adapter = _read(folder / ADAPTER_CONFIGURATION)
        made = _read(folder / JOB) if (folder / JOB).is_file() else {}
    except (OSError, ValueError, TypeError) as error:
        return Served("", (f"{ADAPTER_CONFIGURATION} cannot be read: {error}.",))
    faults = list(_faults(adapter, folder))
    base = made.get("base_model") or {}
    model = str(adapter.get("base_model_name_or_path") or "")
    if not model:
        return Served("", (*faults, f"{ADAPTER_CONFIGURATION} does not name the base model."))
    if base.get("name") and base["name"] != model:
        faults.append(f"{ADAPTER_CONFIGURATION} names the base model {model}, and {JOB} names {base['name']}.")
    revision = adapter.get("revision") or base.get("revision")
    rank = next((one for one in RANKS if one >= _rank(adapter)), RANKS[-1])
    command = [
        "vllm", "serve", model, *(["--revision", str(revision)] if revision and not Path(model).is_dir() else []),
        "--enable-lora", "--max-lora-rank", str(rank), "--lora-modules", f"{artifact.pk}={folder}",
        *_reranking(folder),
    ]  # fmt: skip
    return Served(shlex.join(command), tuple(faults))


def _faults(adapter: dict[str, Any], folder: Path) -> list[str]:
    faults = []
    if not (folder / ADAPTER).is_file():
        faults.append(f"The file {ADAPTER} is missing.")
    if adapter.get("peft_type") != "LORA":
        faults.append(f"The adapter is of the method {adapter.get('peft_type')}; vLLM serves LORA.")
    if _rank(adapter) < 1 or _rank(adapter) > RANKS[-1]:
        faults.append(f"The rank {adapter.get('r')} is not between 1 and {RANKS[-1]}.")
    if adapter.get("modules_to_save"):
        faults.append(f"It has whole modules ({', '.join(adapter['modules_to_save'])}), which vLLM does not load.")
    if adapter.get("bias", "none") != "none":
        faults.append("It has trained biases, which vLLM does not load.")
    if adapter.get("use_dora"):
        faults.append("Its weights are decomposed (DoRA), which vLLM does not load.")
    return faults


def _reranking(folder: Path) -> list[str]:
    """Return the options with which vLLM answers `/rerank` by a reranker of Qwen3's form; none for other adapters."""
    template = folder / SCORE_TEMPLATE
    if not template.is_file():
        return []
    overrides = {
        "architectures": ["Qwen3ForSequenceClassification"],
        "classifier_from_token": ["no", "yes"],
        "is_original_qwen3_reranker": True,
    }
    return ["--runner", "pooling", "--hf-overrides", json.dumps(overrides), "--chat-template", str(template)]


def _rank(adapter: dict[str, Any]) -> int:
    rank = adapter.get("r")
    return rank if isinstance(rank, int) else 0


def _read(path: Path) -> dict[str, Any]:
    read = json.loads(path.read_bytes())
    if not isinstance(read, dict):
        raise TypeError("it holds no JSON object")
    return read
