"""Bytes of images by tenant: kept with an upload, read for a context that shows them.

The bytes of a hash are given for a context of the tenant's own store alone. A hash that a request
or a document's metadata name is no right to read what is kept under it. An image whose file is lost
or altered is left out, and its hash is in the answer.
"""

from __future__ import annotations

import logging
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from foveate.answer.image_bytes import check_image, read_image_file
from foveate.core.errors import BadInput, ExternalError
from foveate.core.images import IMAGES, images_of
from foveate.core.types import Context
from foveate.ingest.images import keep_image, make_image_folder
from foveate.service.app_state import AppState
from foveate.service.wire.requests import ContextRequest

log = logging.getLogger("foveate.service")


def image_folder(state: AppState, tenant: str) -> Path:
    """The tenant's folder; raises `BadInput` if the settings name none, and a 403 problem."""
    if not state.settings.images:
        raise BadInput(
            "this service keeps no images of files; its operator names a folder for them with the "
            "setting `images`",
            field=IMAGES,
        )
    state.stores.store_url(tenant)  # refuses a name that is no part of a path
    return Path(state.settings.images.replace("{tenant}", tenant))


def keep_images(state: AppState, tenant: str, images: Sequence[bytes]) -> None:
    """Write them into the tenant's folder; raises `ExternalError`."""
    folder = str(image_folder(state, tenant)) if images else ""
    if folder:
        make_image_folder(folder)
    for data in images:
        keep_image(data, folder)


def check_metadata(state: AppState, metadata: Mapping[str, Any]) -> None:
    """Refuse metadata that name bytes which may be kept here for others."""
    if state.settings.images and any(image.hash for image in images_of(metadata)):
        message = "name images by hash; give their url, or upload their file with images=true"
        raise BadInput(message, field="metadata")


def context_images(
    state: AppState, tenant: str, body: ContextRequest, lost: set[str]
) -> Callable[[str], bytes | None]:
    """What gives the bytes of the images in a request's context, by hash.

    It gives None for an image that is lost or altered, and adds the hash to `lost`.
    """

    def read(wanted: str) -> bytes | None:
        if body.candidates is not None or body.neighbours:
            message = "are sent by hash, and their bytes are not here; give their url"
            raise BadInput(message, field=IMAGES)
        folder = image_folder(state, tenant)
        try:
            data = read_image_file(folder, wanted)
            check_image(data, wanted)
        except (BadInput, ExternalError) as error:
            log.warning("an image is left out: %s", error)
            lost.add(wanted)
            return None
        return data

    return read


def image_bytes_to_json(
    state: AppState, tenant: str, body: ContextRequest, context: Context, lost: set[str]
) -> dict[str, str]:
    """The bytes of the images that the context shows, in base64 by hash, but of the `lost` ones."""
    images = context_images(state, tenant, body, lost)
    most, found = state.settings.body_bytes, dict[str, str]()
    hashes = {image.hash for block in context.blocks for image in block.images if image.hash}
    for wanted in sorted(hashes):
        data = images(wanted)
        if data is None:
            continue
        most -= len(data)
        if most < 0:
            raise BadInput(
                f"the images have more than {state.settings.body_bytes} bytes; give a smaller "
                "budget, or one with fewer tokens for images",
                field="image_bytes",
            )
        found[wanted] = b64encode(data).decode()
    return found
