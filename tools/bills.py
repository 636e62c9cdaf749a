"""What a lock says of each package, in the bill of materials of what it installs.

The generator reads the installed packages, which do not say what their archives must hash to.
"""

from __future__ import annotations

import json
import re
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.utils import canonicalize_name

_PIN = re.compile(r"^([a-z0-9.-]+)==([^ ;\\]+)((?:.*\\\n)*.*)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def bill_with_hashes(bill: dict[str, Any], lock: str, version: str) -> str:
    """The bill as JSON, with our version and each archive's hash that the text of the lock allows.

    Raises `ValueError` for a component that is not pinned, or if the schema does not hold the bill.
    """
    pins = {(name, release): _HASH.findall(rest) for name, release, rest in _PIN.findall(lock)}
    about = bill["metadata"]["component"]  # our version is dynamic, which the generator leaves out
    bill["metadata"]["component"] = {**about, "version": version}
    for part in bill["components"]:
        hashes = pins.get((canonicalize_name(part["name"]), part["version"]))
        if not hashes:
            raise ValueError(f"{part['name']} {part['version']} is not pinned with its hashes")
        place = {
            "type": "distribution",
            "url": f"pkg:pypi/{part['name']}@{part['version']}",
            "hashes": [{"alg": "SHA-256", "content": one} for one in hashes],
        }
        part["externalReferences"] = [*part.get("externalReferences", []), place]
    text = json.dumps(bill, indent=1, sort_keys=True) + "\n"
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if fault is not None:
        raise ValueError(f"the bill does not follow its schema: {fault}")
    return text
