"""Reads what stands under deploy/, for the tests that hold it against the service."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import Any

import yaml

from foveate.service.settings import PREFIX
from source_tree import ROOT

DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
KUBERNETES = DEPLOY / "kubernetes"
KUSTOMIZATION = KUBERNETES / "kustomization.yaml"


def manifests() -> dict[str, dict[str, Any]]:
    """Every manifest by its file's name, the kustomization apart."""
    return {
        path.name: yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in sorted(KUBERNETES.glob("*.yaml"))
        if path != KUSTOMIZATION
    }


def kind(name: str) -> dict[str, Any]:
    """The one manifest of this kind."""
    (found,) = [each for each in manifests().values() if each["kind"] == name]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """A line of the Dockerfile: `COPY`, and what follows, with the name of its stage."""

    stage: str
    name: str
    text: str

    @property
    def words(self) -> list[str]:
        """What follows, as a shell reads it or as the JSON that it is."""
        found: list[str] = (
            json.loads(self.text) if self.text.startswith("[") else shlex.split(self.text)
        )
        return found


def dockerfile() -> list[Instruction]:
    """The Dockerfile's instructions, lines joined and comments left out."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    stage, found = "", list[Instruction]()
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        name, _, rest = line.strip().partition(" ")
        if name == "FROM":
            stage = rest.rpartition(" AS ")[2] if " AS " in rest else "final"
        if name:
            found.append(Instruction(stage=stage, name=name, text=" ".join(rest.split())))
    return found


def image_environment() -> dict[str, str]:
    """The variables of the finished image."""
    (text,) = [i.text for i in dockerfile() if (i.stage, i.name) == ("final", "ENV")]
    return dict(pair.split("=", 1) for pair in shlex.split(text))


def settings_in(environment: dict[str, str]) -> dict[str, str]:
    """Those of the variables that are settings of the service."""
    return {name: value for name, value in environment.items() if name.startswith(PREFIX)}
