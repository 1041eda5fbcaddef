"""Names that a question says in another way than they are stored: inflected, shortened, abbreviated, misspelt, in part.

`build` writes the index from that of the exact names, `NearNames` reads it.
"""

from search.adapters.near_names.build import build
from search.adapters.near_names.near import NearNames

__all__ = ["NearNames", "build"]
