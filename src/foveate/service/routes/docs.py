"""`/docs`: the OpenAPI description as a page that needs no network and no script."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from html import escape
from typing import Any

from fastapi import APIRouter, Request, Response

from foveate.service.playground.routes import HEADERS

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #16302f; background: #fbf9f4; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { overflow: auto; padding: .75rem; background: #efece3; border-radius: 6px; }
summary { cursor: pointer; padding: .35rem 0; }
.method { display: inline-block; min-width: 4.5rem; font-weight: 700; color: #0b5d5a; }
@media (prefers-color-scheme: dark) { body { color: #e6efee; background: #101a1a; }
  pre { background: #1b2a2a; } .method { color: #6fd0ca; } a { color: #8fd8ff; } }
"""
_STYLE_HASH = b64encode(sha256(_STYLE.encode()).digest()).decode()
_POLICY = HEADERS["Content-Security-Policy"].replace(
    "style-src 'self'", f"style-src 'sha256-{_STYLE_HASH}'"
)

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def docs(request: Request) -> Response:
    """Every operation with its parameters, its body and its answers; the schemas below."""
    page = render_page(request.app.openapi())
    headers = {**HEADERS, "Content-Security-Policy": _POLICY}
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)


def render_page(described: Mapping[str, Any]) -> str:
    """The page of an OpenAPI description."""
    info = described["info"]
    title = escape(f"{info['title']} {info['version']}: HTTP API")
    body = "\n".join((*_operations(described), *_schemas(described)))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>'
        f"<body><main><h1>{title}</h1><p>{escape(info.get('summary', ''))} "
        f'The same for programs: <a href="/openapi.json">openapi.json</a>. '
        f'<a href="/playground/">Playground</a>.</p>\n{body}\n</main></body></html>\n'
    )


def _operations(described: Mapping[str, Any]) -> Iterator[str]:
    found: dict[str, list[str]] = {}
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            tag = (operation.get("tags") or ["other"])[0]
            found.setdefault(tag, []).append(_operation(path, method, operation))
    for tag, entries in found.items():
        yield f"<h2>{escape(tag.capitalize())}</h2>"
        yield from entries


def _operation(path: str, method: str, operation: Mapping[str, Any]) -> str:
    said = escape(operation.get("description", operation.get("summary", "")))
    parts = [("Parameters", operation.get("parameters")), ("Body", operation.get("requestBody"))]
    parts.append(("Answers", operation.get("responses")))
    shown = "".join(f"<h3>{name}</h3>{_json(value)}" for name, value in parts if value)
    return (
        f'<details id="{escape(operation["operationId"])}"><summary>'
        f'<span class="method">{method.upper()}</span> <code>{escape(path)}</code></summary>'
        f"<p>{said}</p>{shown}</details>"
    )


def _schemas(described: Mapping[str, Any]) -> Iterator[str]:
    yield "<h2>Schemas</h2>"
    for name, schema in sorted(described.get("components", {}).get("schemas", {}).items()):
        said = f"<summary><code>{escape(name)}</code></summary>"
        yield f'<details id="{escape(name)}">{said}{_json(schema)}</details>'


def _json(value: Any) -> str:
    return f"<pre>{escape(json.dumps(value, indent=2, ensure_ascii=False))}</pre>"
