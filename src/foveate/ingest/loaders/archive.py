"""Reads an Office, OpenDocument or EPUB file as a zip archive of XML parts, within limits.

Nothing is unpacked to the disk and nested archives are never opened. Sizes are checked first; a
part with a wrong size fails at the size that it states.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from xml.parsers import expat

from foveate.core.errors import BadInput
from foveate.ingest.loaders.blocks import Blocks
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.loaders.text import first_date, plain_title
from foveate.ports import LoadedDocument, Section

Event = tuple[str, str, dict[str, str]]
"""("start", element, attributes), ("end", element, {}) or ("text", what it says, {})."""

_CHUNK = 1 << 16
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError)
_SMALL = 1 << 20  # below this, a high ratio is no bomb
_RELATIONS = "/relationships}"
_KINDS = {"document": "a Word document", "presentation": "a presentation", "workbook": "a workbook"}


class Archive:
    """The parts of an Office file by name. Raises `BadInput` if it is damaged or over a limit."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        self._limits = limits
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise BadInput(f"damaged: {error}") from None
        self._members = {member.filename: member for member in self._zip.infolist()}
        self._relations: dict[str, dict[str, tuple[str, str]]] = {}
        self._check_sizes(len(data))

    def _check_sizes(self, packed: int) -> None:
        members = self._zip.infolist()
        total = sum(member.file_size for member in members)
        self._limits.check_bound("members", len(members), "parts in the archive")
        self._limits.check_bound("unpacked_bytes", total, "bytes when unpacked")
        if total > _SMALL:
            self._limits.check_bound("ratio", total // max(packed, 1), "times its size unpacked")
        if any(member.flag_bits & 1 for member in members):
            raise BadInput("encrypted: save it without a password")

    def has(self, part: str) -> bool:
        """Whether there is a part of that name."""
        return part in self._members

    def read(self, part: str) -> bytes:
        """The part's bytes. Raises `BadInput` for damage."""
        try:
            return self._zip.read(part)
        except _DAMAGE as error:
            raise BadInput(f"damaged: {part}: {error}") from None

    def mentions(self, part: str, word: bytes) -> bool:
        """Whether the part's bytes have the word in them; they are not held at once."""
        if part not in self._members:
            return False
        end = b""
        try:
            with self._zip.open(part) as stream:
                while chunk := stream.read(_CHUNK):
                    if word in end + chunk:
                        return True
                    end = chunk[-len(word) :]
        except _DAMAGE as error:
            raise BadInput(f"damaged: {part}: {error}") from None
        return False

    def main_part(self, kind: str) -> str:
        """The name of the main part of a file of this kind (`document`, `workbook`...)."""
        for relation, target in self.relations("").values():
            if relation == "officeDocument" and target in self._members:
                found = next((each for each in _KINDS if each in posixpath.basename(target)), "")
                if found in ("", kind):
                    return target
                raise BadInput(f"{_KINDS[found]}, not {_KINDS[kind]}; give it the right suffix")
        raise BadInput(f"a zip archive, but not {_KINDS[kind]}")

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """The references of a part: (kind, part's name) by id; external ones are left out."""
        if part in self._relations:
            return self._relations[part]
        folder, name = posixpath.split(part)
        found = self._relations[part] = {}
        for element, given in self.starts(f"{folder}/_rels/{name}.rels".lstrip("/")):
            if element == "Relationship" and given.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, given.get("Target", "")))
                relation = given.get("Type", "").rpartition("/")[2]
                found[given.get("Id", "")] = (relation, target.lstrip("/"))
        return found

    def related_part(self, part: str, relation: str) -> str:
        """The part of this kind that a part refers to, or empty."""
        kin = self.relations(part).values()
        return next((target for kind, target in kin if kind == relation), "")

    def starts(self, part: str) -> Iterator[tuple[str, dict[str, str]]]:
        """The elements of a part with their attributes, in the order in which they begin."""
        return ((name, given) for kind, name, given in self.events(part) if kind == "start")

    def events(self, part: str) -> Iterator[Event]:
        """The elements and texts of a part in order; empty if there is no such part.

        Names are without namespaces, except ids of relations (`r:id`). Raises `BadInput` for a
        document type, where entities are declared, and for damage.
        """
        if part not in self._members:
            return
        found: list[Event] = []
        parser = _build_parser(found, self._limits)
        try:
            with self._zip.open(part) as stream:
                while chunk := stream.read(_CHUNK):
                    parser.Parse(chunk, False)
                    yield from found
                    found.clear()
            parser.Parse(b"", True)
        except _DAMAGE as error:
            raise BadInput(f"damaged: {part}: {error}") from None
        except expat.ExpatError as error:
            raise BadInput(f"damaged: {part} is no XML: {error}") from None
        yield from found


def without_elements(events: Iterable[Event], names: Container[str]) -> Iterator[Event]:
    """The events outside of elements of these names."""
    inside = 0
    for event in events:
        if event[0] != "text" and event[1] in names:
            inside += 1 if event[0] == "start" else -1
        elif not inside:
            yield event


def _build_parser(found: list[Event], limits: Limits) -> expat.XMLParserType:
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    depth = 0

    def start(name: str, given: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        limits.check_bound("depth", depth, "elements in one another")
        named = {_attribute_name(key): value for key, value in given.items()} if given else given
        found.append(("start", name.rpartition("}")[2], named))

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        found.append(("end", name.rpartition("}")[2], {}))

    def doctype(*_: object) -> None:
        raise BadInput("a document type, which no Office file has: it may hide a bomb")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda text: found.append(("text", text, {}))
    parser.StartDoctypeDeclHandler = doctype
    return parser


def _attribute_name(key: str) -> str:
    space, _, name = key.rpartition("}")
    return f"r:{name}" if f"{space}}}".endswith(_RELATIONS) else name


_MAX_PROPERTY_LENGTH = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """The core properties; empty if the file has none."""

    title: str = ""
    author: str = ""
    modified_at: datetime | None = None

    def document(self, blocks: Blocks, title: str, sections: Sequence[Section]) -> LoadedDocument:
        """The file's document; `title` if the properties have none."""
        return LoadedDocument(
            text=blocks.text(),
            left_out=dict(blocks.left_out),
            title=self.title or title,
            sections=sections,
            metadata={"author": self.author} if self.author else {},
            modified_at=self.modified_at,
            lines=False,
        )


def read_properties(archive: Archive, part: str = "", modified: str = "modified") -> Properties:
    """The properties in this part of the file, by default the core properties of Office files.

    `modified`: the name of the element that says when the file was changed.
    """
    found = {"title": "", "creator": "", modified: ""}
    inside = ""
    for kind, name, _ in archive.events(part or archive.related_part("", "core-properties")):
        if kind == "text":
            if inside and len(found[inside]) < _MAX_PROPERTY_LENGTH:
                found[inside] += name
        else:
            inside = name if kind == "start" and name in found else ""
    return properties_from_texts(found["title"], found["creator"], found[modified])


def properties_from_texts(title: str, author: str, modified: str) -> Properties:
    """The properties as they are written in a file."""
    moment = first_date({"modified": modified}, ("modified",))
    return Properties(title=plain_title(title), author=plain_title(author), modified_at=moment)
