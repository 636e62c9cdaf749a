"""What other packages register: loaded one by one, when it is named or listed.

A plugin is code of somebody else: it may raise, or end the process, while it is imported. Whoever
names it is told so; a list leaves it out, and `broken` has the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from foveate.core.errors import ExternalError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Unusable(TypeError):
    """What a plugin gives is not what its group holds; the message follows the plugin's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A plugin that cannot be used, the distributions that bring it, and why."""

    group: str
    name: str
    origin: str
    reason: str

    def __str__(self) -> str:
        kind = self.group.removesuffix("s")
        return f"the {kind} {self.name!r} of {self.origin} {self.reason}; upgrade or uninstall it"


class Registered(Mapping[str, Any]):
    """The usable plugins of a group by name, after those that are built in.

    Looking up a broken one raises `ExternalError`. `taken`: names that no plugin may have beside
    those of `built_in`. `made` turns what was loaded into what is wanted; it raises `Unusable`.
    """

    def __init__(
        self,
        group: str,
        built_in: Mapping[str, Any] | None = None,
        *,
        taken: Collection[str] = (),
        made: Callable[[Any], Any] | None = None,
    ) -> None:
        self._group = group
        self._built_in = built_in or {}
        self._taken = {*self._built_in, *taken}
        self._made = made

    def __getitem__(self, name: str) -> Any:
        if name in self._built_in:
            return self._built_in[name]
        points = self._points.get(name)
        if points is None:
            raise KeyError(name)
        found = self._found(name, points)
        if isinstance(found, Broken):
            raise ExternalError(str(found))
        return found

    def __contains__(self, name: object) -> bool:
        try:
            self[name]  # type: ignore[index]
        except (KeyError, ExternalError):
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        yield from self._built_in
        yield from self.plugins()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def plugins(self) -> dict[str, Any]:
        """The usable ones that are not built in."""
        return {name: one for name, one in self._all() if not isinstance(one, Broken)}

    def broken(self) -> list[Broken]:
        """The others."""
        return [one for _, one in self._all() if isinstance(one, Broken)]

    def origin(self, name: str) -> str:
        """Which distribution brings it."""
        return _origins(self._points[name])

    def _all(self) -> Iterator[tuple[str, Any]]:
        for name, points in self._points.items():
            yield name, self._found(name, points)

    @cached_property
    def _points(self) -> dict[str, tuple[EntryPoint, ...]]:
        """The group's entry points by name, in an order that no installation changes."""
        from importlib.metadata import entry_points

        found: dict[str, tuple[EntryPoint, ...]] = {}
        for point in sorted(entry_points(group=f"foveate.{self._group}"), key=lambda p: p.name):
            found[point.name] = (*found.get(point.name, ()), point)
        return found

    def _found(self, name: str, points: tuple[EntryPoint, ...]) -> Any:
        """What the plugin gives, or `Broken`."""
        thing, reason = None, ""
        if name in self._taken:
            reason = "has a name that is taken"
        elif len(points) > 1:
            reason = "is registered more than once"
        else:
            thing, reason = _loaded(points[0], self._made)
        if not reason:
            return thing
        return Broken(group=self._group, name=name, origin=_origins(points), reason=reason)


@cache
def _loaded(point: EntryPoint, made: Callable[[Any], Any] | None) -> tuple[Any, str]:
    """What the entry point gives, and why it cannot be used; tried once in a process."""
    try:
        found = point.load()
        return (made(found) if made is not None else found), ""
    except Unusable as error:
        return None, str(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever it does, but for Ctrl-C
        said = " ".join(f"{type(error).__name__}: {error}".split())
        return None, f"does not load ({said})"


def _origins(points: tuple[EntryPoint, ...]) -> str:
    named = (f"{p.dist.name} {p.dist.version}" if p.dist else "" for p in points)
    return " and ".join(sorted(name or "an unknown distribution" for name in named))
