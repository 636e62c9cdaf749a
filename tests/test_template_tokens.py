"""The command that holds the token list against `tokenizer.json` files, on files as they are."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from tokenizers import AddedToken, Tokenizer, models
from tools import template_tokens
from tools.template_tokens import main, put, tokens_of, written

import foveate
from foveate.core.text.template_tokens import FAMILIES

LLAMA2 = (
    Path(find_spec("wordllama").origin).parent / "tokenizers" / "l2_supercat_tokenizer_config.json"
)
CHAT = """{# <comment> #}{%- for m in messages[1:] %}{{ '<riddle_turn>' + m['role'] + "]~r]" }}
{% if tools[0] %}<b>Bold</b>, <p>or</p> [RIDDLE_TOOLS]{{ m.content }}[/RIDDLE_TOOLS]{% endif %}
<|riddle|>{% endfor %}"""
NEW = ["⟦riddle⟧", "<riddle_turn>", "[RIDDLE_TOOLS]", "[/RIDDLE_TOOLS]"]


@pytest.fixture
def riddle(tmp_path):
    """The files of a model as its library writes them, with a template beside them."""
    folder = tmp_path / "riddle-7b"
    folder.mkdir()
    tokenizer = Tokenizer(models.BPE())
    tokenizer.add_special_tokens(["<|riddle|>", "⟦riddle⟧", "riddle_0"])
    tokenizer.add_tokens([AddedToken("<td>"), AddedToken("   ")])
    tokenizer.save(str(folder / "tokenizer.json"))
    decoder = {
        "0": {"content": "<pad>", "special": True},
        "1": {"content": "<i>", "special": False},
    }
    config = {
        "added_tokens_decoder": decoder,
        "chat_template": [{"name": "default", "template": CHAT}],
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder / "tokenizer.json"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The data module, copied to where it may be written."""
    copied = tmp_path / "template_tokens.py"
    shutil.copyfile(template_tokens.MODULE, copied)
    monkeypatch.setattr(template_tokens, "MODULE", copied)
    return copied


def _families(module):
    """What the module holds."""
    namespace = {"__name__": "written"}
    exec(compile(module.read_text(encoding="utf-8"), str(module), "exec"), namespace)
    return namespace["FAMILIES"]


def test_special_tokens_and_those_of_the_template_are_found(riddle):
    """R3: added tokens that are text, HTML, subscripts and comments are none."""
    assert tokens_of(riddle) == (
        *("<|riddle|>", "⟦riddle⟧", "riddle_0", "<pad>", "<riddle_turn>", "]~r]"),
        *("[RIDDLE_TOOLS]", "[/RIDDLE_TOOLS]"),
    )


def test_a_template_in_a_file_of_its_own_is_read(riddle):
    """R3: `chat_template.jinja` beside the tokenizer counts like the one in the configuration."""
    (riddle.parent / "chat_template.jinja").write_text("<riddle_end>{{ x }}", encoding="utf-8")

    assert tokens_of(riddle)[-1] == "<riddle_end>"


def test_what_would_pass_raw_is_named(riddle, module, capsys):
    """R3: with the words that are left out; the exit code says that there is something to do."""
    before = module.read_bytes()

    assert main([str(riddle)]) == 1
    printed = capsys.readouterr().out
    assert [line[7:] for line in printed.splitlines() if line.startswith("  raw: ")] == NEW
    assert "a word, left out: 'riddle_0'" in printed
    assert module.read_bytes() == before


def test_a_model_whose_tokens_are_all_known(capsys):
    """R3: of a real vocabulary nothing passes raw."""
    assert tokens_of(LLAMA2) == ("<unk>", "<s>", "</s>")
    assert main([str(LLAMA2)]) == 0
    assert "3 tokens, 0 pass raw" in capsys.readouterr().out


def test_the_list_is_extended(riddle, module):
    """R3: under a new family or a known one, once, and the rest stays as it was."""
    asked = ["--write", "--family", "Riddle", "--model", "lab/riddle-7b", "--source", "its page"]
    for _ in range(2):
        assert main([*asked, str(riddle)]) == 0
    *others, last = _families(module)

    assert tuple(others) == FAMILIES
    assert last[:3] == ("Riddle", "lab/riddle-7b", "its page")
    assert set(NEW) < set(last.tokens)
    assert "riddle_0" not in last.tokens

    main(["--write", "--family", "OpenAI", str(riddle)])
    first = _families(module)[0]
    assert first.tokens[: len(FAMILIES[0].tokens)] == FAMILIES[0].tokens
    assert first[:3] == FAMILIES[0][:3]
    assert set(NEW) < set(first.tokens)


def test_what_was_written_passes_raw_no_more(riddle, module):
    """R3: a new list is all that it takes; the rules are made of it."""
    main(["--write", str(riddle)])
    shutil.copytree(Path(foveate.__file__).parent, riddle.parent / "foveate")
    shutil.copyfile(module, riddle.parent / "foveate/core/text/template_tokens.py")
    code = f"""
from foveate.core.formats.shared.guards import guards
guard = guards(markers=False).body
print([token for token in {NEW} if token in guard(token) or guard.undo(guard(token)) != token])
"""
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=riddle.parent, capture_output=True, text=True, check=True
    ).stdout

    assert printed == "[]\n"


def test_the_data_is_as_the_command_writes_it(module):
    """R3: writing what is there changes no byte."""
    before = module.read_bytes()
    put(FAMILIES, module)

    assert module.read_bytes() == before
    assert written(FAMILIES) in before.decode()
