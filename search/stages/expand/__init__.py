"""Stages that add text to a question before documents are searched.

`feedback` adds the first documents found (PRF), `write` lets a language model write documents (HyDE, RAR), `refine`
does it in steps (AGR), `entities`, `relations` and `triples` add what the graph says of the entities (KAR).
"""
