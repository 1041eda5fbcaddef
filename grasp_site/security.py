"""The settings that protect the site and the people who use it, read from the environment.

Behind a proxy that speaks TLS, `GRASP_HTTPS=true` turns on everything that needs it. `docs/operating.md` has a whole
environment for production, with which `manage.py check --deploy` finds nothing.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register

from grasp_site.environment import SettingError, env_bool, env_int, env_str

HOUR, YEAR = 3600, 31_536_000
EVERYBODY = "*"
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
EXAMPLE = re.compile(r"change.?me|change.?this|example|django-insecure|insecure|secret|password", re.IGNORECASE)
"""Begins a secret that stands in an example and that everybody knows."""


def read_networks(text: str) -> list[Network]:
    """Return the networks of a comma-separated list; a plain address is a network of one.

    Raises ValueError with a sentence.
    """
    found = []
    for part in filter(None, map(str.strip, text.split(","))):
        try:
            found.append(ipaddress.ip_network(part))
        except ValueError as error:
            raise ValueError(f"{part!r} is neither an address nor a network such as 10.0.0.0/8 ({error})") from None
    return found


def read_proxies(text: str) -> list[Network]:
    """Return the networks of TRUSTED_PROXIES, where `*` stands for everybody. Raises ValueError with a sentence."""
    return read_networks("0.0.0.0/0,::/0" if text == EVERYBODY else text)


def inside(address: str, networks: Sequence[Network]) -> bool:
    """Return whether an IP address lies in one of the networks; anything else does not."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None) or found
    return any(mapped in network for network in networks)


def known_to_everybody(secret: str) -> bool:
    """Return whether a secret begins like those of examples."""
    return bool(EXAMPLE.match(secret))


def transport_settings() -> dict[str, Any]:
    """Return Django's settings for HTTPS. Raises `SettingError` for values that do not fit together."""
    https = env_bool("GRASP_HTTPS", False)
    seconds = env_int("GRASP_HSTS_SECONDS", HOUR if https else 0)
    subdomains, preload = env_bool("GRASP_HSTS_SUBDOMAINS", False), env_bool("GRASP_HSTS_PRELOAD", False)
    if (seconds or subdomains or preload) and not https:
        raise SettingError("GRASP_HSTS_SECONDS, _SUBDOMAINS and _PRELOAD need GRASP_HTTPS=true.")
    if preload and (seconds < YEAR or not subdomains):
        raise SettingError(
            f"GRASP_HSTS_PRELOAD needs GRASP_HSTS_SECONDS={YEAR} or more and GRASP_HSTS_SUBDOMAINS=true: browsers "
            "take no other site into their lists."
        )
    # These two reach beyond this site. A warning remains until somebody has decided them, in either way.
    decided = {"security.W005": env_str("GRASP_HSTS_SUBDOMAINS"), "security.W021": env_str("GRASP_HSTS_PRELOAD")}
    return {
        "SECURE_SSL_REDIRECT": https,
        # Probes and Prometheus ask the process itself, not the proxy.
        "SECURE_REDIRECT_EXEMPT": [r"^api/v1/(healthz|readyz)/$", r"^metrics$"],
        "SECURE_HSTS_SECONDS": seconds,
        "SECURE_HSTS_INCLUDE_SUBDOMAINS": subdomains,
        "SECURE_HSTS_PRELOAD": preload,
        "SESSION_COOKIE_SECURE": https,
        "CSRF_COOKIE_SECURE": https,
        "SILENCED_SYSTEM_CHECKS": [name for name, word in decided.items() if word],
    }


@register(Tags.security, deploy=True)
def check_production(**_: Any) -> list[CheckMessage]:
    """W001 to W003: what else must not be so where others reach the site."""
    faults: list[CheckMessage] = []
    if settings.SECURE_SSL_REDIRECT and not settings.GRASP_TRUSTED_PROXIES:
        faults.append(Warning(
            "GRASP_HTTPS is on, but no proxy is trusted, so that every request is redirected for ever.",
            hint="Put the address of the TLS proxy into TRUSTED_PROXIES.", id="grasp.W001",
        ))  # fmt: skip
    if EVERYBODY in settings.ALLOWED_HOSTS:
        faults.append(Warning(
            "ALLOWED_HOSTS has a *, so that the site answers to any name.",
            hint="List the names under which people reach it.", id="grasp.W002",
        ))  # fmt: skip
    if known := example_secrets():
        faults.append(Warning(
            f"The value of {', '.join(known)} is that of an example.",
            hint="Replace it: `openssl rand -base64 48` prints a random one.", id="grasp.W003",
        ))  # fmt: skip
    return faults


def example_secrets() -> list[str]:
    """Return the names of the secrets whose values stand in examples."""
    password = str(settings.DATABASES["default"].get("PASSWORD", ""))
    secrets = {
        "SECRET_KEY": settings.SECRET_KEY, "DATABASE_URL": password,
        "GRASP_METRICS_TOKEN": settings.GRASP_METRICS_TOKEN, "GRASP_ADMIN_PASSWORD": settings.GRASP_ADMIN_PASSWORD,
    }  # fmt: skip
    return [name for name, value in secrets.items() if value and known_to_everybody(value)]
