"""Knowledge bases: import, index, activate, describe, delete."""
