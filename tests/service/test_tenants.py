"""Stores by tenant, and the cache that they share without sharing anything."""

from __future__ import annotations

import pytest

from foveate.pipeline.flow import AssemblyResult
from foveate.service.app_state import AppState
from foveate.service.auth.caller import Caller
from foveate.service.routes.assemble import assemble_request
from foveate.service.routes.documents import keep_text
from foveate.service.settings import Settings
from foveate.service.tenant_stores import TenantStores
from foveate.service.wire.errors import ProblemError
from foveate.service.wire.requests import AssembleRequest, DocumentRequest
from foveate.stores import open_store

QUERY = "How deep is the well?"


def caller(tenant: str, *principals: str) -> Caller:
    """Somebody of a tenant."""
    return Caller(key_id="k", tenant=tenant, principals=principals, scopes=frozenset())


def put(held: AppState, who: Caller, text: str, name: str = "well", *readers: str) -> None:
    """Write a document."""
    asked = DocumentRequest(text=text, principals=list(readers))
    keep_text(held, who, name, asked)


def ask(held: AppState, who: Caller, **fields: object) -> AssemblyResult:
    """Ask for a context."""
    return assemble_request(held, who, AssembleRequest(query=QUERY, **fields))


@pytest.fixture
def held(tmp_path):
    """A service's holdings, with a store for each tenant, of which one stays open."""
    settings = Settings(
        store=str(tmp_path / "{tenant}"), embedder="hashing", cache="memory:8", open_stores=1
    )
    found = AppState(settings)
    yield found
    found.stores.close()


def test_a_store_that_was_not_there_is_told_of_once(held, caplog):
    """F3, X3: it may be a typing error in the settings; the log says what was made."""
    for _ in range(2):
        put(held, caller("a"), "The well is nine metres deep.")

    told = [one.message for one in caplog.records if "a new, empty one is made" in one.message]
    assert len(told) == 1


def test_it_is_known_whether_a_tenant_has_a_store(tmp_path):
    """F3, X5: its own, one that `create` would make, or the only one, which is of `default`."""
    open_store(tmp_path / "acme").close()
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "store.db").write_text("dear")

    def having(store, **settings):
        stores = TenantStores(Settings(store=store, **settings))
        return [name for name in ("acme", "damaged", "default", "..") if stores.has_store(name)]

    assert having(str(tmp_path / "{tenant}"), create=False) == ["acme", "damaged"]
    assert having(str(tmp_path / "{tenant}"), create=True) == ["acme", "damaged", "default"]
    assert having(str(tmp_path / "acme")) == ["default"]
    assert having("") == []
    assert {path.name for path in tmp_path.iterdir()} == {"acme", "damaged"}


@pytest.mark.parametrize("name", ["", "..", "../acme", "a/b", "Acme", "-a", "a" * 64, "a\n", "ä"])
def test_a_tenant_whose_name_is_none_has_no_store(held, tmp_path, name):
    """X4: a name that could lead elsewhere leads nowhere."""
    with pytest.raises(ProblemError) as refused, held.stores.borrow(name):
        pass

    assert refused.value.status_code == 403
    assert list(tmp_path.iterdir()) == []


def test_a_context_is_kept_and_comes_back_the_same(held):
    """D5, D1: the second time it is taken from the cache, with how it was found."""
    put(held, caller("acme"), "The well is nine metres deep.")

    anew, kept = (ask(held, caller("acme")) for _ in range(2))
    bundled = ask(held, caller("acme"), bundle=True)

    assert (anew.inputs is None, kept.inputs is None) == (False, True)
    assert bundled.inputs is not None
    assert anew.context == kept.context == bundled.context
    assert anew.found == kept.found
    assert held.cache.stats().hits == 1


def test_a_write_is_never_followed_by_a_stale_hit(held):
    """D5: the next context is of the new state; the old state's is found again when it returns."""
    first, second = "The well is nine metres deep.", "The well is ten metres deep."
    put(held, caller("acme"), first)
    before = ask(held, caller("acme")).context
    put(held, caller("acme"), second)

    after = ask(held, caller("acme")).context
    put(held, caller("acme"), first)
    again = ask(held, caller("acme"))

    assert "nine" in before.text
    assert "ten" in after.text
    assert again.context == before
    assert again.inputs is None


def test_equal_content_of_two_tenants_is_kept_twice(held):
    """X5, D5: a tenant's context is no hit for another one that has the very same documents."""
    for name in ("acme", "umbra"):
        put(held, caller(name), "The well is nine metres deep.")
    first = ask(held, caller("acme"))

    other = ask(held, caller("umbra"))

    assert first.context == other.context
    assert other.inputs is not None
    assert held.cache.stats().hits == 0


@pytest.mark.parametrize(
    "other", [{"principals": []}, {"where": {"source": "well"}}, {"language": "nl"}, {"limit": 3},
              {"messages": [{"role": "user", "content": "Hello."}]}, {"budget": 90}],
)  # fmt: skip
def test_whatever_decides_a_context_is_in_its_key(held, other):
    """D5, X5: another reader, filter, language, limit, history or budget is another context."""
    who = caller("acme", "staff")
    put(held, who, "The well is nine metres deep.")
    put(held, who, "The well is poisoned.", "secret", "staff")
    ask(held, who)

    made = ask(held, who, **other)

    assert made.inputs is not None
    assert ("poisoned" in made.context.text) == ("principals" not in other and "where" not in other)


def test_a_store_that_is_in_use_stays_open(held):
    """T5: others are closed in its place, and it is opened again when it is asked for."""
    put(held, caller("acme"), "The well is nine metres deep.")
    with held.stores.borrow("acme") as shelf:
        put(held, caller("umbra"), "The well is dry.")
        assert list(shelf.store.documents())
    with held.stores.borrow("umbra"):
        pass

    assert "nine" in ask(held, caller("acme")).context.text


def test_a_kept_context_is_of_who_asks(held):
    """D5, X5: readers who may read the same get what is made for them, and not each other's."""
    put(held, caller("acme"), "The well of acme is nine metres deep.")
    callers = [caller("acme", *names) for names in ((), ("red",), ("blue", "red"))]

    kept = [[ask(held, who).context.manifest for who in callers] for _ in range(2)]
    anew = [ask(held, who, bundle=True).context.manifest for who in callers]

    assert kept == [anew, anew]
    assert len({manifest.state_root for manifest in anew}) == 1
    assert len({manifest.inputs_hash for manifest in anew}) == 3


def test_what_was_written_to_meanwhile_is_not_kept(tmp_path, monkeypatch):
    """D5: a context that saw two states of the store is nobody's, when the first one is back."""
    acme = caller("acme")
    old = " ".join(f"The well is {number} metres deep in spring." for number in range(40))
    store = str(tmp_path / "{tenant}")
    held = AppState(Settings(store=store, embedder="hashing", cache="memory:8", size=40, overlap=0))
    put(held, acme, old)
    with held.stores.borrow("acme") as shelf:
        near = shelf.store.neighbours

        def late(*given, **named):
            put(held, acme, old.replace("spring", "autumn"))
            return near(*given, **named)

        with monkeypatch.context() as patched:
            patched.setattr(shelf.store, "neighbours", late)
            mixed = ask(held, acme, recipe="document-first", limit=1)
    put(held, acme, old)

    again = ask(held, acme, recipe="document-first", limit=1)
    anew = ask(held, acme, recipe="document-first", limit=1, bundle=True)
    held.stores.close()

    assert "autumn" in mixed.context.text
    assert again.context.text == anew.context.text
    assert "autumn" not in again.context.text
