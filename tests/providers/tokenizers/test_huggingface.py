"""A tokenizer.json by path: one that ships in a real package, and small ones of every kind."""

from __future__ import annotations

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from blake3 import blake3
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing

from foveate.core.errors import BadOption, MissingExtra
from foveate.providers.tokenizers import load_tokenizer
from foveate.providers.tokenizers.huggingface import HuggingFace, strip_special_tokens
from foveate.testing.tokenizers import check_tokenizer, samples

LLAMA2 = (
    Path(find_spec("wordllama").origin).parent / "tokenizers" / "l2_supercat_tokenizer_config.json"
)
ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())
SPECIAL = ("<s>", "</s>", "<|im_start|>", "[CLS]")


def _numbered(*pieces: str) -> dict[str, int]:
    return {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}


def _bpe(**options) -> Tokenizer:
    merges = [("t", "h"), ("th", "e"), ("a", "n"), ("an", "d")]
    vocabulary = _numbered(*ALPHABET, *map("".join, merges), *SPECIAL)
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, **options))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _unigram() -> Tokenizer:
    scores = [("<unk>", 0.0), ("▁", -2.0), *((c, -3.0) for c in "<|>/[]s_imtarCLS"), ("the", -1.0)]
    tokenizer = Tokenizer(models.Unigram([*scores, *((s, 0.0) for s in SPECIAL)], unk_id=0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


def _wordpiece() -> Tokenizer:
    letters = "<|>/[]s_imtarCLS"
    pieces = _numbered("[UNK]", *letters, *("##" + c for c in letters), "the", *SPECIAL)
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


def _saved(tokenizer: Tokenizer, folder: Path, *, special: bool = True) -> Path:
    """With control tokens, a start token, padding and truncation, as model files have them."""
    added = [AddedToken(s, special=special, normalized=False) for s in SPECIAL]
    (tokenizer.add_special_tokens if special else tokenizer.add_tokens)(added)
    number = tokenizer.token_to_id("<s>")
    tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", number)])
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=64)
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return path


KINDS = {
    "bpe": _bpe,
    "bpe with whole words": lambda: _bpe(ignore_merges=True),
    "unigram": _unigram,
    "wordpiece": _wordpiece,
}


@pytest.mark.parametrize("kind", KINDS)
def test_control_tokens_are_plain_text(kind: str, tmp_path: Path):
    """B5: whatever kind of model a file holds, its control tokens are not found in text."""
    file = _saved(KINDS[kind](), tmp_path)
    plain, vendor = load_tokenizer(str(file)), Tokenizer.from_file(str(file))
    vendor.no_padding()
    for text in SPECIAL:
        assert len(vendor.encode(text, add_special_tokens=False)) == 1
        assert plain.count(text) > 1
        assert plain.count(f"the {text} the") > 3


@pytest.mark.parametrize("kind", KINDS)
def test_ordinary_text_counts_as_the_file_says(kind: str, tmp_path: Path):
    """B5: on text without control tokens the count is the vendor's own."""
    file = _saved(KINDS[kind](), tmp_path)
    vendor = Tokenizer.from_file(str(file))
    vendor.no_padding()
    vendor.no_truncation()
    for text in ("the and the", "the  ram, in a [sta] <mist>", "rams and the cats\n\nat the 漢字"):
        expected = len(vendor.encode(text, add_special_tokens=False))
        assert load_tokenizer(str(file)).count(text) == expected


def test_dropout_is_off(tmp_path: Path):
    """D1: a file that drops merges at random counts the same every time."""
    tokenizer = load_tokenizer(str(_saved(_bpe(dropout=0.9), tmp_path)))
    assert {tokenizer.count("the and the") for _ in range(50)} == {5}


def test_written_like_a_control_token(tmp_path: Path):
    """B5: `<|like this|>` is a control token also where the file does not say so."""
    tokenizer = load_tokenizer(str(_saved(_bpe(), tmp_path, special=False)))
    assert tokenizer.count("<|im_start|>") > 1


def test_runs_of_spaces_stay_vocabulary(tmp_path: Path):
    """B5: added tokens that are ordinary text stay what they are."""
    tokenizer = _bpe()
    tokenizer.add_tokens([AddedToken("        ", normalized=False)])
    assert load_tokenizer(str(_saved(tokenizer, tmp_path))).count("x        x") == 3


def test_merges_in_both_spellings():
    """A merge is read as `a b` and as a pair; a piece that text builds is not hidden."""
    spec = json.loads(_bpe(ignore_merges=True).to_str())
    spec["added_tokens"] = [{"id": 0, "content": "the", "special": True}]
    for merges in (["t h", "th e"], [["t", "h"], ["th", "e"]]):
        spec["model"]["merges"] = merges
        assert "the" in strip_special_tokens(spec)["model"]["vocab"]


def test_llama2_against_the_vendor():
    """B5: on a real model's file the count is the vendor's, asked to split special tokens."""
    vendor, ours = Tokenizer.from_file(str(LLAMA2)), load_tokenizer(str(LLAMA2))
    vendor.encode_special_tokens = True
    for text in samples(seed=3, count=60):
        assert ours.count(text) == len(vendor.encode(text, add_special_tokens=False)), text


def test_long_texts():
    """X2: a megabyte without one space is counted and cut; the cut reads its head only."""
    tokenizer = load_tokenizer(str(LLAMA2))
    assert tokenizer.count("a" * 1_000_000) > 100_000
    assert tokenizer.count(" " * 100_000) > 1_000
    assert tokenizer.count(tokenizer.truncate("漢字" * 100_000, 500)) <= 500


def test_fingerprint_is_of_the_bytes(tmp_path: Path):
    """D2: the fingerprint hashes the file's bytes, wherever the file stands."""
    copy = tmp_path / "copy.json"
    copy.write_bytes(LLAMA2.read_bytes())
    digest = blake3(LLAMA2.read_bytes()).hexdigest(16)
    assert (
        load_tokenizer(str(copy)).fingerprint
        == load_tokenizer(str(LLAMA2)).fingerprint
        == f"hf-1:{digest}"
    )


def test_a_replaced_file_is_read_again(tmp_path: Path):
    """D2: the file of today is used, not the one of yesterday under its name."""
    file = _saved(_bpe(), tmp_path)
    before = load_tokenizer(str(file))
    _saved(_wordpiece(), tmp_path)
    os.utime(file, ns=(1, 1))
    assert load_tokenizer(str(file)).fingerprint != before.fingerprint


def test_names(tmp_path: Path, monkeypatch):
    """P2: the name is the path as typed; `hf:` stands before one that does not look like a path."""
    file = _saved(_bpe(), tmp_path)
    assert load_tokenizer(f"hf:{file}").name == str(file)
    bare = file.rename(tmp_path / "words")
    monkeypatch.chdir(bare.parent)
    assert load_tokenizer("hf:words").name == "hf:words"
    assert load_tokenizer("hf:words*1.5").name == "hf:words*1.5"
    assert repr(load_tokenizer("hf:words")).startswith(
        "HuggingFace(name='hf:words', fingerprint='hf-1:"
    )


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"not json", b"\xff\xfe", b'{"model": {"vocab": 3}}']
)
def test_not_a_tokenizer(content: bytes, tmp_path: Path):
    """X2: a file that is no tokenizer.json is refused by its name."""
    file = tmp_path / "tokenizer.json"
    file.write_bytes(content)
    with pytest.raises(BadOption, match="not a Hugging Face tokenizer"):
        load_tokenizer(str(file))


@pytest.mark.parametrize("path", ["missing.json", ".", "file/below"])
def test_no_file(path: str, tmp_path: Path):
    """X1: a path that leads to no file is the caller's to correct."""
    (tmp_path / "file").write_text("")
    with pytest.raises(BadOption):
        HuggingFace.load(tmp_path / path)


def test_missing_extra(monkeypatch, tmp_path: Path):
    """X1: without the package the message is the install line."""
    file = _saved(_bpe(), tmp_path)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtra, match=r"pip install 'foveate\[huggingface\]'"):
        HuggingFace.load(file)


def test_laws(tmp_path: Path):
    """B5: a byte-level file of one's own obeys the laws."""
    check_tokenizer(load_tokenizer(str(_saved(_bpe(), tmp_path))), samples(seed=4, count=40))


def test_a_normaliser_that_shrinks_text(tmp_path: Path):
    """B5: a cut is verbatim text although the model sees a normalised one."""
    tokenizer = _bpe()
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    loaded = load_tokenizer(str(_saved(tokenizer, tmp_path)))
    text = "ﬁ THE ﷺ e\u0301 AND " * 20
    cut = loaded.truncate(text, 30)
    assert text.startswith(cut)
    assert 0 < loaded.count(cut) <= 30
