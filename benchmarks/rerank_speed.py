"""Duration of the cross-encoder on 30 documents of 192 tokens, question included: one process, warm model."""

from __future__ import annotations

import statistics
import time

from benchmarks.common import percentiles, table
from search.domain.trace import Limit
from search.neural.cross_encoder import cross_encoder
from search.neural.devices import chosen_device, chosen_dtype
from search.neural.encoder_names import full_name
from search.neural.pair_model import PairScorer

DOCUMENTS, TOKENS, ROUNDS = 30, 192, 15
QUESTION = "Which drug that is used against an inflammation of the bowel acts on a gene of the skin?"


def main() -> None:
    """Print p50 and p95 of one call for documents of the full length, and for some of half the length."""
    where = chosen_device("auto")
    model = cross_encoder(full_name("all-MiniLM-L6-v2"), TOKENS, device=where)
    model.body.to(chosen_dtype("auto", where))
    scorer = PairScorer("cross-encoder", model.serve())
    rows = []
    for words in (400, 70):
        documents = [
            f"[drug] number {at}\n" + "the gene of the skin is long " * (words // 7) for at in range(DOCUMENTS)
        ]
        lengths = [len(pair.ids) for pair in model.pairs(QUESTION, documents)]
        scorer.score(QUESTION, documents, Limit())
        times, processor = [], []
        for _ in range(ROUNDS):
            began, worked = time.perf_counter(), time.process_time()
            scorer.score(QUESTION, documents, Limit())
            times.append(time.perf_counter() - began)
            processor.append(time.process_time() - worked)
        p50, p95 = percentiles(times)
        rows.append((DOCUMENTS, f"{statistics.mean(lengths):.0f}", p50, p95, 1000 * statistics.median(processor)))
    columns = ("documents", "tokens each", "p50 ms", "p95 ms", "processor ms, all cores")
    table(f"Cross-encoder from all-MiniLM-L6-v2, {model.body.dtype}", columns, rows)


if __name__ == "__main__":
    main()
