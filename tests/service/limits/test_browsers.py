"""What pages in a browser may do: names, origins, headers. From outside."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from foveate.core.errors import BadOption
from foveate.service.app import create_app
from foveate.service.limits.headers import allowed_hosts, is_loopback
from foveate.service.settings import Settings
from http_wire import wire
from service_keys import by, put
from service_server import serving

APP = "https://app.example.com"
LINKED = ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate")


@pytest.fixture(scope="module")
def service() -> Iterator[httpx.Client]:
    """As it is when nothing is settled."""
    with serving(Settings(store="")) as client:
        yield client


@pytest.fixture(scope="module")
def opened(tmp_path_factory) -> Iterator[tuple[httpx.Client, str]]:
    """One that has a name and lets a page in; with a key."""
    keys = tmp_path_factory.mktemp("opened") / "keys"
    token = put(keys)
    settings = Settings(store="", keys=keys, hosts=("Foveate.example",), origins=(APP,))
    with serving(settings) as client:
        yield client, token


def named(client: httpx.Client, *headers: str, path: str = "/v1/nowhere", how: str = "GET") -> int:
    """The status for a request with exactly these headers, a Host among them or not."""
    with wire(client) as raw:
        lines = [f"{how} {path} HTTP/1.1", *headers, "Connection: close", "", ""]
        return raw.send("\r\n".join(lines).encode()).answer().status


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:8020", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8020"],
)
def test_this_machine_answers_to_its_names(service, host):
    """X4: however a client spells it, with a port or without."""
    assert named(service, f"Host: {host}") == 404


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "127.0.0.2",
        "localhost:80@evil.example",
        "evil.example:8020",
        "[::2]",
        "[::1",
        "",
        "0.0.0.0",
        "foveate.example",
    ],
)
def test_a_strange_name_is_refused(service, host):
    """X4: a page whose name points here (DNS rebinding) gets 421, whatever it asks for."""
    found = [named(service, f"Host: {host}", path=p) for p in ("/v1/recipes", "/playground/", "/")]

    assert found in ([421] * 3, [400] * 3)


def test_a_settled_name_is_answered_to_and_health_under_any(opened):
    """X4: names of the settings, in any case; probes come by address."""
    client, token = opened
    key = f"Authorization: Bearer {token}"

    assert named(client, "Host: foveate.EXAMPLE:443", key) == 404
    assert named(client, "Host: other.example", key) == 421
    assert named(client, "Host: 10.0.0.7", path="/healthz") == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ((), 404),
        (("Origin: http://localhost:8020",), 404),
        (("Origin: http://LOCALHOST:8020",), 404),
        (("Origin: http://localhost:9",), 403),
        (("Origin: http://localhost",), 403),
        (("Origin: https://evil.example",), 403),
        (("Origin: null",), 403),
        (("Origin: ",), 403),
        (("Origin: localhost:8020",), 403),
        (("Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors"), 404),
        (("Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"), 404),
        (("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"), 403),
        (("Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty"), 403),
        ((*LINKED, "Sec-Fetch-Dest: iframe"), 403),
        ((*LINKED, "Sec-Fetch-Dest: document"), 404),
    ],
)
def test_pages_of_other_origins_are_refused(service, headers, status):
    """X4: a page elsewhere can neither ask nor embed; following a link to here is allowed."""
    assert named(service, "Host: localhost:8020", *headers) == status


def test_a_form_elsewhere_cannot_send_itself_here(service):
    """X4: a page of another origin that posts, as what or however it may, is refused."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json"):
        answer = service.post(
            "/v1/assemble",
            content=b'{"query":"q","candidates":[{"text":"t"}]}',
            headers={"Origin": "https://evil.example", "Content-Type": kind},
        )

        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers


def test_without_settings_no_page_is_let_in(service):
    """X4: no CORS header on any answer, and no preflight is granted."""
    asked = {"Origin": str(service.base_url).rstrip("/"), "Access-Control-Request-Method": "POST"}
    answers = [
        service.options("/v1/assemble", headers=asked),
        service.options("/v1/assemble", headers={**asked, "Origin": APP}),
        service.get("/healthz"),
    ]

    assert [answer.status_code for answer in answers] == [405, 403, 200]
    assert not any(name.startswith("access-control") for a in answers for name in a.headers)


def test_a_page_that_is_let_in_asks_with_a_key(opened):
    """X4: its preflight needs none, its request does; it never gets what a browser keeps."""
    client, token = opened
    asked = {"Origin": APP, "Access-Control-Request-Method": "PUT",
             "Access-Control-Request-Headers": "authorization,content-type"}  # fmt: skip
    preflight = client.options("/v1/documents/a", headers=asked)
    without = client.get("/v1/nowhere", headers={"Origin": APP})
    with_key = client.get("/v1/nowhere", headers={"Origin": APP, **by(token)})

    assert [a.status_code for a in (preflight, without, with_key)] == [200, 401, 404]
    for answer in (preflight, without, with_key):
        assert answer.headers["access-control-allow-origin"] == APP
        assert "access-control-allow-credentials" not in answer.headers
        assert "Origin" in answer.headers["vary"]
    assert client.get("/v1/nowhere", headers={"Origin": f"{APP}.evil.org"}).status_code == 403


@pytest.mark.parametrize(
    ("how", "path", "status"),
    [
        ("GET", "/healthz", 200),
        ("GET", "/nowhere", 404),
        ("DELETE", "/healthz", 405),
        ("POST", "/v1/assemble", 422),
        ("GET", "/v1/x?fov_aaaaaaaa_", 400),
        ("GET", "/openapi.json", 200),
        ("GET", "/playground/nowhere", 404),
        ("GET", "/playground/", 200),
    ],
)
def test_every_answer_carries_the_headers(service, how, path, status):
    """X4: also refusals; nothing that is data may be shown, framed or kept by a page."""
    headers = {"Content-Type": "application/json"} if how == "POST" else {}
    answer = service.request(how, path, headers=headers, content=b"{}" if headers else None)
    policy = answer.headers["content-security-policy"]

    assert answer.status_code == status
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "server" not in answer.headers
    assert "unsafe" not in policy
    if path == "/playground/":
        assert "script-src 'self'" in policy
    else:
        assert answer.headers["cache-control"] == "no-store"
        assert "script-src" not in policy


@pytest.mark.parametrize(
    "settings",
    [
        {"origins": ("*",)},
        {"origins": ("https://*.example.com",)},
        {"origins": ("app.example.com",)},
        {"origins": (f"{APP}/",)},
        {"rate": "often"},
        {"rate": "0/minute"},
    ],
)
def test_settings_that_let_everybody_in_are_refused(settings):
    """X4: no origin can be settled that is any; what is wrong is named."""
    (name,) = settings

    with pytest.raises(BadOption, match=f"^{name}"):
        create_app(Settings(store="", **settings))


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("localhost", True), ("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("::", False),
     ("0.0.0.0", False), ("192.168.0.1", False), ("evil.example", False), ("", False)],
)  # fmt: skip
def test_what_is_this_machine_alone(host, loopback):
    """X4: only addresses that nobody else can reach; a name is none of them."""
    assert is_loopback(host) is loopback
    assert (allowed_hosts(host, ()) is not None) is loopback
