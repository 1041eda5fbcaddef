"""network: the address by which limits count a caller."""

from __future__ import annotations

import ipaddress
from functools import lru_cache


@lru_cache(maxsize=4096)
def network_of(text: str) -> str:
    """Return the network of an address: an IPv4 address itself, of an IPv6 address the first 64 bits.

    Whoever has one IPv6 address usually has all addresses with these 64 bits. Other texts are returned as they are.
    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)
