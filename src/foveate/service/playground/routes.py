"""`/` and `/playground`: the page, its parts and the chart library. No key: no store is in it.

What the page shows it asks of the public API, with the caller's own key.
"""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from foveate.service.playground.files import find_file

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding",
}
REVALIDATE = "no-cache"
IMMUTABLE = "public, max-age=31536000, immutable"

router = APIRouter(include_in_schema=False)


@router.get("/")
async def redirect_root() -> Response:
    """Whoever opens the bare address in a browser wants the page; for now, as it may move."""
    headers = {**HEADERS, "Location": "/playground/", "Cache-Control": REVALIDATE}
    return Response(status_code=307, headers=headers)


@router.get("/playground")
async def redirect_playground() -> Response:
    """Its own folder, so that the page's links to its parts hold."""
    headers = {**HEADERS, "Location": "/playground/", "Cache-Control": REVALIDATE}
    return Response(status_code=308, headers=headers)


@router.get("/playground/{name:path}")
async def get_file(name: str, request: Request) -> Response:
    """One of the files that are there; names are looked up, never opened."""
    found = await asyncio.to_thread(find_file, name)
    if found is None:
        raise HTTPException(404)
    kept = IMMUTABLE if "/" in name else REVALIDATE
    headers = {**HEADERS, "ETag": found.etag, "Cache-Control": kept}
    if found.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if found.compressed and "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        return Response(found.compressed, media_type=found.media_type, headers=headers)
    return Response(found.content, media_type=found.media_type, headers=headers)
