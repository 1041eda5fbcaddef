"""Options of a stage. Each has a default, a help text and bounds, so that every door can show and check it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from search.domain.errors import Fault, InvalidRequest

T = TypeVar("T")


def option(
    default: Any,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[str] = (),
    public_high: float | None = None,
    staff_only: bool = False,
) -> Any:
    """Return a dataclass field that declares an option of a stage.

    It becomes the key `<stage>.<field>` of the pipeline's `settings_schema`. The option's type is the type of its
    default: bool, int, float, str, or a tuple of numbers. `help` is a sentence for people; `low` and `high` are
    inclusive.

    Staff, commands and evaluations may set every option within `low` and `high`. Visitors may set a public option up to
    `public_high` if it is given, else up to `high`. Visitors may not set an option that is `staff_only`: it costs other
    people's time or an administrator's money, or it names something that is not public.
    """
    metadata = {
        "help": help, "low": low, "high": high, "choices": tuple(choices), "public_high": public_high,
        "staff_only": staff_only,
    }  # fmt: skip
    return dataclasses.field(default=default, metadata=metadata)


def part(cls: type) -> Any:
    """Return a dataclass field that declares another stage, of this class, as a part of a stage.

    The options of the part become options of the whole stage under the same names, so no two options may have the same
    name. The tools of the part are filled in by the same rule.
    """
    return dataclasses.field(metadata={"part": cls})


def options_of(cls: type) -> dict[str, dataclasses.Field[Any]]:
    """Return the options of a stage and of its parts, by name."""
    found: dict[str, dataclasses.Field[Any]] = {}
    for declared in dataclasses.fields(cls):
        if (inner := declared.metadata.get("part")) is not None:
            found |= options_of(inner)
        elif "help" in declared.metadata:
            found[declared.name] = declared
    return found


def tools_of(cls: type) -> list[str]:
    """Return the names of the tools that a stage and its parts need, each once."""
    names: dict[str, None] = {}
    for declared in dataclasses.fields(cls):
        if (inner := declared.metadata.get("part")) is not None:
            names |= dict.fromkeys(tools_of(inner))
        elif "help" not in declared.metadata:
            names[declared.name] = None
    return list(names)


def assembled(cls: type[T], options: Mapping[str, Any], tool: Callable[[str], Any]) -> T:
    """Return a stage with its options, its tools and its parts; an option that is not given keeps its default."""
    arguments: dict[str, Any] = {}
    for declared in dataclasses.fields(cls):  # type: ignore[arg-type]
        if (inner := declared.metadata.get("part")) is not None:
            arguments[declared.name] = assembled(inner, options, tool)
        elif "help" not in declared.metadata:
            arguments[declared.name] = tool(declared.name)
        elif declared.name in options:
            value = options[declared.name]
            arguments[declared.name] = tuple(value) if isinstance(declared.default, tuple) else value
    return cls(**arguments)


def refused_to_visitors(field: dataclasses.Field[Any], value: Any) -> str:
    """Return why a visitor may not set an option to a value, or an empty string; the value must be valid for staff."""
    if field.metadata["staff_only"]:
        return "is a setting for staff; leave it out, or sign in with a staff account."
    high = field.metadata["public_high"]
    values = value if isinstance(value, list | tuple) else [value]
    if high is not None and any(_is_number(item) and item > high for item in values):
        return f"may be {high:,} at most, not {value!r}; staff may set it up to {field.metadata['high']:,}."
    return ""


def option_fault(field: dataclasses.Field[Any], value: Any) -> str:
    """Return why a value does not fit its option, or an empty string if it fits."""
    default, low, high = field.default, field.metadata["low"], field.metadata["high"]
    if isinstance(default, bool):
        return "" if isinstance(value, bool) else f"is true or false, not {value!r}."
    if isinstance(default, tuple):
        right = isinstance(value, list | tuple) and len(value) == len(default) and all(map(_is_number, value))
        if not right:
            return f"is a list of {len(default)} numbers, not {value!r}."
        return next((problem for item in value if (problem := _out_of_bounds(item, low, high))), "")
    if isinstance(default, str):
        choices = field.metadata["choices"]
        if not isinstance(value, str):
            return f"is a string, not {value!r}."
        return f"is one of {', '.join(choices)}, not {value!r}." if choices and value not in choices else ""
    if isinstance(default, int) and not (_is_number(value) and value == int(value)):
        return f"is a whole number, not {value!r}."
    return _out_of_bounds(value, low, high) if _is_number(value) else f"is a number, not {value!r}."


def option_schema(declared: dataclasses.Field[Any], default: Any, visitor: bool = False) -> dict[str, Any]:
    """Return the JSON schema of an option whose default on this site is `default`, with the bounds for its asker."""
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", tuple: "array"}
    described: dict[str, Any] = {
        "type": kinds[type(declared.default)],
        "description": declared.metadata["help"],
        "default": list(default) if isinstance(default, tuple) else default,
    }
    public = declared.metadata["public_high"] if visitor else None
    bounds = {"minimum": declared.metadata["low"], "maximum": declared.metadata["high"] if public is None else public}
    described |= {key: bound for key, bound in bounds.items() if bound is not None}
    if declared.metadata["choices"]:
        described["enum"] = list(declared.metadata["choices"])
    if isinstance(declared.default, tuple):
        described["items"] = {"type": "number"}
        described["minItems"] = described["maxItems"] = len(declared.default)
    return described


def typed(default: Any, value: Any) -> Any:
    """Return the value as a number of the default's type (5.0 becomes 5 if the default is an int), others unchanged."""
    return type(default)(value) if isinstance(default, int | float) else value


def assigned(texts: Iterable[str]) -> dict[str, Any]:
    """Return the settings of texts of the form `key=value`; if a key is repeated, its last value counts.

    A value that is not valid JSON is taken as a string. Raises InvalidRequest with a fault for every text without a key
    or without `=`.
    """
    settings: dict[str, Any] = {}
    faults: list[Fault] = []
    for text in texts:
        key, equals, value = text.partition("=")
        if equals and key:
            settings[key] = _json_or_text(value)
        else:
            faults.append(Fault("/settings", f"--set takes key=value, not {text!r}."))
    if faults:
        raise InvalidRequest(faults)
    return settings


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")


def _out_of_bounds(value: float, low: float | None, high: float | None) -> str:
    if (low is not None and value < low) or (high is not None and value > high) or value != value:
        return f"must be between {low} and {high}, not {value!r}."
    return ""
