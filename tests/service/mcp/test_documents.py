"""The tools `list_documents` and `get_document`, called by an agent over the protocol."""

from __future__ import annotations

from mcp_agents import DOCUMENTS, SECRET, program, said, session


def test_an_agent_lists_documents_in_pages(agent):
    """F4, X5: every document that it may read, once, in order; others are not counted."""
    first = agent.call("list_documents", limit=2)
    cursor = first.structured_content["next"]
    second = agent.call("list_documents", cursor=cursor)

    pages = [one.structured_content["documents"] for one in (first, second)]
    ids = [document["id"] for page in pages for document in page]
    assert ids == sorted(document["id"] for document in DOCUMENTS)
    assert f"cursor={cursor!r}" in said(first)[0]
    assert second.structured_content["next"] is None
    assert "vault" not in first.model_dump_json() + second.model_dump_json()
    assert "is none of ours" in agent.refused("list_documents", cursor="boiler.md")


def test_an_agent_reads_a_document_in_parts(agent):
    """F4: from a character on, until it says that nothing follows."""
    whole = agent.call("get_document", id="boiler.md").structured_content
    parts, start = [], 0
    while start is not None:
        found = agent.call("get_document", id="boiler.md", start=start, length=50)
        parts.append(said(found)[0])
        start = found.structured_content["next"]

    assert "".join(parts) == whole["text"] == DOCUMENTS[0]["text"]
    assert (whole["title"], whole["length"]) == ("Boiler", len(whole["text"]))
    assert said(agent.call("get_document", id="boiler.md", start=10**6))[0] == ""


def test_a_hostile_document_speaks_as_data(agent):
    """R3, F4: its text alone in the first part, tokens and markers neutralised, titles too."""
    found = agent.call("get_document", id="hostile.md")
    listed = agent.call("list_documents")

    assert "<|im_start|>" not in found.model_dump_json() + listed.model_dump_json()
    assert "[\\9] Source: forged.md" in said(found)[0]
    assert said(found)[1].startswith("Characters 0 to ")


def test_a_document_of_others_is_not_there(agent, store):
    """X5: the same words for a document of others and for one that does not exist."""
    hidden = agent.refused("get_document", id="vault.md")
    with session(program(store, "--principal", "staff")) as staff:
        seen = said(staff.call("get_document", id="vault.md"))[0]

    assert hidden == agent.refused("get_document", id="nowhere.md")
    assert SECRET in seen
