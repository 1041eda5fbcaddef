"""The protocol of a kind of job. A kind is a frozen dataclass, in one file, named by one row of `GRASP_JOBS`.

Its fields are its arguments. They are declared with `argument`, so that every door can list, show and check them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

from search.domain.errors import Fault, InvalidRequest, nearest, pointer
from search.domain.options import option_fault, typed
from search.domain.run_context import RunContext
from search.domain.unstorable import SENTENCE, storable

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", tuple: "array", dict: "object"}
PIPELINE, VERSION, SPLIT, LEARNER = "pipeline", "version", "split", "learner"
"""What an argument may name: a pipeline, a pipeline or one of its versions, a split of a question set, a learner."""


@dataclasses.dataclass(frozen=True)
class JobTarget:
    """What a job works on: names, resolved when it is launched; each may be empty.

    `release` is the full name of a release, such as `papers-3`. `question_set` is `name@version`.
    """

    knowledge_base: str = ""
    release: str = ""
    question_set: str = ""
    frozen: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """What `JobKind.freeze` returned when the job was launched."""


@dataclasses.dataclass(frozen=True)
class Needs:
    """What a job needs while it runs, in bytes; 0 means negligible. It is refused if this machine has less.

    `folder` is where it needs the disk; empty means GRASP_HOME.
    """

    disk: int = 0
    memory: int = 0
    folder: str = ""


class JobKind(Protocol):
    """A kind of job with its arguments. It loads no model library until `run` is called."""

    targets: ClassVar[tuple[str, ...]] = ("knowledge_base",)
    """The fields of Target that a launch has to fill: `knowledge_base`, `release`, `question_set`."""
    optional: ClassVar[tuple[str, ...]] = ()
    """Fields of Target that a launch may fill or leave empty; `refuse` says when one is missing after all."""
    offered: ClassVar[bool] = True
    """Whether the page that launches jobs offers it. Jobs that another page begins for people are not offered."""
    right: ClassVar[str] = ""
    """What an account needs beside the right to launch jobs, such as `search.add_backuprun`; empty: nothing."""
    makes: ClassVar[str] = ""
    """What a job of this kind makes that can be activated: `release`, `pipeline_version`, or nothing.

    The result names it: `release` with its full name, or `pipeline` and `pipeline_version`, the number.
    """

    units: ClassVar[Mapping[str, str]] = {}
    """Part → unit of its progress (`nodes`, `bytes`); an empty unit means that only a percentage is shown.

    "" stands for every part that is not named. Of a part of a part (`planner: plans`) the last name counts.
    """

    @classmethod
    def hints(cls) -> Mapping[str, Sequence[str]]:
        """Return argument → further sentences about it, for what only the site's settings know."""
        return {}

    @classmethod
    def keys(cls) -> Mapping[str, Mapping[str, Any]]:
        """Return argument → key → JSON schema, for arguments that are objects whose keys the site's settings know."""
        return {}

    @classmethod
    def fewest_questions(cls) -> int:
        """Return how many questions of a set it takes at least; 0 if it does not matter."""
        return 0

    def parts(self) -> Mapping[str, float]:
        """Return the names of the work's parts, in order, each with its expected share of the time (any unit)."""
        ...

    def expected(self, target: JobTarget) -> Mapping[str, float]:
        """Return part → size for this target: seconds of a reference machine. By default the shares of `parts`.

        Former jobs say how long a part of a size takes on this machine, so only the proportions have to be right.
        """
        return self.parts()

    def refuse(self, target: JobTarget) -> Sequence[Fault]:
        """Return every reason not to start; pointers are `/arguments/…`, `/knowledge_base` and `/question_set`."""
        return ()

    def writes(self, target: JobTarget) -> tuple[str, str]:
        """Return the argument's pointer and the name of the knowledge base that it writes into, where no target is.

        Both are empty for jobs that write into their target, or into none.
        """
        return "", ""

    def freeze(self, target: JobTarget) -> Mapping[str, Any]:
        """Return as JSON what must not change between launch and end, such as the specifications of pipelines."""
        return {}

    def takes_gpu(self) -> bool:
        """Whether a kind of the queue `gpu` computes on a GPU with these arguments."""
        return True

    def needs(self, target: JobTarget) -> Needs:
        """Return an estimate of what the job needs. It is called only if `refuse` returned nothing."""
        return Needs()

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Do the work, and return its result as JSON.

        It may be called again after the process died, and then goes on from `run.checkpoints` or from its own rows and
        files. It calls `run.check()` often, and does every final write in `with run.fenced():`. Raises SearchError, or
        another exception whose text is a sentence for people, when the work fails.
        """
        ...


def argument(
    default: Any,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[str] = (),
    required: bool = False,
    pick: str = "",
) -> Any:
    """Return a dataclass field that declares an argument of a kind.

    Its type is the type of its default: bool, int, float, str, a tuple for a list of strings, a dict for an object.
    With `required` an empty value is refused. `help` is a sentence for people; `low` and `high` are inclusive. `pick`
    says what the value names (`PIPELINE`, …), so that pages offer what there is.
    """
    metadata = {
        "help": help, "low": low, "high": high, "choices": tuple(choices), "required": required, "pick": pick,
    }  # fmt: skip
    if isinstance(default, dict):
        return dataclasses.field(default_factory=lambda: dict(default), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def arguments_of(cls: type) -> dict[str, dataclasses.Field[Any]]:
    """Return the arguments of a kind, by name, in the order of the class."""
    return {field.name: field for field in dataclasses.fields(cls)}


def default_of(field: dataclasses.Field[Any]) -> Any:
    """Return the default of an argument."""
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def arguments_schema(cls: type) -> dict[str, Any]:
    """Return a JSON schema of a kind's arguments."""
    properties = {name: _schema_of(field) for name, field in arguments_of(cls).items()}
    for name, sentences in (cls.hints() if hasattr(cls, "hints") else {}).items():
        properties[name]["description"] = " ".join([properties[name]["description"], *sentences])
    for name, keys in (cls.keys() if hasattr(cls, "keys") else {}).items():
        properties[name] |= {"properties": dict(keys), "additionalProperties": False}
    required = [name for name, field in arguments_of(cls).items() if field.metadata["required"]]
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": required}


def with_arguments(cls: type[Any], given: Mapping[str, Any], kind: str) -> Any:
    """Return the kind with these arguments. Raises InvalidRequest with a fault for each one that does not fit."""
    fields = arguments_of(cls)
    values: dict[str, Any] = {}
    faults = []
    for key, value in given.items():
        if key not in fields:
            message = f"A job of the kind {kind!r} has no argument {key[:80]!r}; it has: {', '.join(fields) or 'none'}."
            faults.append(Fault(pointer("arguments", key), message, nearest(key, fields)))
        elif problem := _fault_of(fields[key], value):
            faults.append(Fault(pointer("arguments", key), f"{key} {problem}"))
        else:
            values[key] = _converted(default_of(fields[key]), value)
    faults += [
        Fault(pointer("arguments", name), f"A job of the kind {kind!r} needs the argument {name!r}.")
        for name, field in fields.items()
        if field.metadata["required"] and name not in given
    ]
    if faults:
        raise InvalidRequest(faults)
    return cls(**values)


def _schema_of(field: dataclasses.Field[Any]) -> dict[str, Any]:
    default = default_of(field)
    schema = {"type": _TYPES[type(default)], "description": field.metadata["help"]}
    if isinstance(default, tuple):
        schema["items"] = {"type": "string"}
    bounds = {"minimum": field.metadata["low"], "maximum": field.metadata["high"]}
    schema |= {key: bound for key, bound in bounds.items() if bound is not None}
    if field.metadata["choices"]:
        schema["enum"] = list(field.metadata["choices"])
    return schema | ({} if field.metadata["required"] else {"default": default})


def _fault_of(field: dataclasses.Field[Any], value: Any) -> str:
    """Return why a value does not fit, or an empty string."""
    default = default_of(field)
    if isinstance(default, dict):
        return "" if isinstance(value, Mapping) else f"is an object, not {_shown(value)}."
    if isinstance(default, tuple):
        right = isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
        return _unstorable("".join(value)) if right else f"is a list of strings, not {_shown(value)}."
    if field.metadata["required"] and value in ("", None):
        return "may not be empty."
    return option_fault(field, value) or (_unstorable(value) if isinstance(value, str) else "")


def _unstorable(text: str) -> str:
    return "" if storable(text) else SENTENCE


def _shown(value: Any) -> str:
    return repr(value)[:80]


def _converted(default: Any, value: Any) -> Any:
    if isinstance(default, tuple):
        return tuple(value)
    return dict(value) if isinstance(default, dict) else typed(default, value)
