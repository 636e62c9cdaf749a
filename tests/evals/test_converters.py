"""Public formats to golden cases, on tiny files of our own in exactly those formats."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from math import log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.errors import BadInput, BadOption
from foveate.evals.converters import FORMATS
from foveate.evals.converters.build import build_index, build_records, top_indices
from foveate.evals.measures import split_words
from foveate.evals.read import case_from_record

HOTPOT = [
    {
        "_id": "5a1", "type": "bridge", "level": "easy", "answer": "Ida",
        "question": "Who built the mill that stands beside the upper pond?",
        "supporting_facts": [["The mill", 1], ["Ida Berg", 0], ["The mill", 9]],
        "context": [
            ["The mill", ["The mill is of oak.", " It stands beside the upper pond."]],
            ["Ida Berg", ["Ida Berg built the mill in 1871. ", "She lived to be ninety."]],
            ["Pond", ["A pond is small.", "It has fish."]],
        ],
    },
    {
        "_id": "5a2", "type": "comparison", "level": "hard", "answer": "no",
        "question": "Is the barn older than the mill?",
        "supporting_facts": [["Nowhere", 0]],
        "context": [["The barn", ["The barn is from 1902."]]],
    },
]  # fmt: skip
MUSIQUE = [
    {
        "id": "2hop__1_2", "answer": "oak", "answer_aliases": ["oak wood"], "answerable": True,
        "question": "Of what wood is the mill of the village where Ida was born?",
        "paragraphs": [
            {"idx": 0, "title": "Ida", "paragraph_text": "Ida came late. She was born in Lund. "
             "She left it soon.", "is_supporting": True},
            {"idx": 1, "title": "Cats", "paragraph_text": "Cats sleep.", "is_supporting": False},
            {"idx": 2, "title": "Lund", "paragraph_text": "Lund lies on a river. Its mill is of "
             "Oak.", "is_supporting": True},
            {"idx": 3, "title": "Mills", "paragraph_text": "Mills grind.", "is_supporting": True},
        ],
        "question_decomposition": [
            {"id": 1, "question": "Ida >> born", "answer": "Lund", "paragraph_support_idx": 0},
            {"id": 2, "question": "#1 >> mill", "answer": "oak", "paragraph_support_idx": 2},
            {"id": 3, "question": "what", "answer": "x", "paragraph_support_idx": None},
        ],
    },
    {
        "id": "2hop__3_4", "question": "And?", "answer": "", "answer_aliases": [],
        "answerable": False, "question_decomposition": [],
        "paragraphs": [
            {"idx": 0, "title": "Owl", "paragraph_text": "An owl.", "is_supporting": False}
        ],
    },
]  # fmt: skip
CONTEXT = "The well is nine metres deep. It was dug in 1904. Nobody drinks from it."
SQUAD = {
    "version": "v2.0",
    "data": [
        {
            "title": "The_yard",
            "paragraphs": [
                {"context": "The yard is paved with red stone. It slopes to the south.",
                 "qas": [{"id": "s0", "question": "Which stone paves the yard?",
                          "is_impossible": False,
                          "answers": [{"text": "red stone", "answer_start": 23}]}]},
                {"context": CONTEXT,
                 "qas": [
                     {"id": "s1", "question": "When was the well dug?", "is_impossible": False,
                      "answers": [{"text": "1904", "answer_start": 44},
                                  {"text": "in 1904", "answer_start": 41}]},
                     {"id": "s2", "question": "Who dug it?", "is_impossible": True,
                      "plausible_answers": [{"text": "Nobody", "answer_start": 50}],
                      "answers": []},
                 ]},
            ],
        },
        {"title": "Owls", "paragraphs": [{"context": "Owls hunt at night.", "qas": []}]},
    ],
}  # fmt: skip
NQ = [
    {
        "question": "how deep is the well", "answers": ["nine metres", "9 m"],
        "ctxs": [
            {"id": "1", "title": "Owls", "text": "Owls hunt at night.", "score": "1.05",
             "hasanswer": False, "original_retrieval_index": 0, "isgold": False},
            {"id": None, "title": "The well", "text": CONTEXT, "score": None,
             "hasanswer": True, "original_retrieval_index": -1, "isgold": True},
        ],
        "nq_annotated_gold": {"title": "The well", "long_answer": CONTEXT,
                              "chunked_long_answer": CONTEXT, "short_answers": ["nine metres"]},
    },
]  # fmt: skip
CORPUS = [
    {"_id": "d1", "title": "Well", "text": "The well is nine metres deep.", "metadata": {}},
    {"_id": "d2", "title": "", "text": "A deep well holds cold water all summer."},
    {"_id": "d3", "title": "Owls", "text": "Owls hunt at night."},
]
QUERIES = [{"_id": "7", "text": "how deep is the well"}, {"_id": "8", "text": "what do cats eat"}]
QRELS = "query-id\tcorpus-id\tscore\n7\td2\t1\n7\td1\t2\n7\td3\t0\n"


def lined(found: list[object]) -> str:
    """One JSON value a line."""
    return "".join(json.dumps(one) + "\n" for one in found)


@pytest.fixture
def files(tmp_path) -> dict[str, list[str]]:
    """Each format's input as one downloads it."""
    (tmp_path / "beir" / "qrels").mkdir(parents=True)
    for name, text in (
        ("hotpot.json", json.dumps(HOTPOT)),
        ("musique.jsonl", lined(MUSIQUE)),
        ("squad.json", json.dumps(SQUAD, indent=1)),
        ("beir/corpus.jsonl", lined(CORPUS)),
        ("beir/queries.jsonl", lined(QUERIES)),
        ("beir/qrels/test.tsv", QRELS),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "nq.jsonl.gz").write_bytes(gzip.compress(lined(NQ).encode()))
    return {
        "hotpotqa": [str(tmp_path / "hotpot.json")],
        "musique": [str(tmp_path / "musique.jsonl")],
        "squad": [str(tmp_path / "squad.json")],
        "nq": [str(tmp_path / "nq.jsonl.gz")],
        "beir": [str(tmp_path / "beir")],
    }


def converted(format: str, names: list[str], **options):
    """The records of a format and what was left out."""
    source = FORMATS[format](names, format, "en")
    return list(build_records(source, format, **options)), source.left_out


EVIDENCE = {
    "hotpotqa": ["It stands beside the upper pond.", "Ida Berg built the mill in 1871."],
    "musique": ["She was born in Lund.", "Its mill is of Oak.", "Mills grind."],
    "squad": ["The yard is paved with red stone.", "It was dug in 1904."],
    "nq": ["The well is nine metres deep."],
    "beir": ["The well is nine metres deep.", "A deep well holds cold water all summer."],
}
LEFT_OUT = {
    "hotpotqa": {"no supporting sentence in the paragraphs": 1},
    "musique": {"not answerable": 1},
    "squad": {"no answer in the article": 1},
    "nq": {},
    "beir": {"no relevant document": 1},
}


@pytest.mark.parametrize("format", FORMATS)
def test_a_public_file_becomes_cases(files, format):
    """E1: the evidence is the gold sentence; every span is its text; the reader takes it."""
    found, left_out = converted(format, files[format])
    evidence = [unit["text"] for record in found for unit in record["evidence"]]

    assert evidence == EVIDENCE[format]
    assert dict(left_out) == LEFT_OUT[format]
    for record in found:
        case = case_from_record(json.loads(json.dumps(record)))
        by_id = {passage.id: passage for passage in case.chunks}
        for unit in case.evidence:
            assert unit.chunk_ids
            for name in unit.chunk_ids:
                passage = by_id[name]
                start = unit.start - passage.start
                assert passage.text[start : start + len(unit.text)] == unit.text
                assert (start, start + len(unit.text)) in passage.gold_spans
        scores = [passage.score for passage in case.chunks]
        assert scores == sorted(scores, reverse=True)
        assert all(c.chunk.start is not None for c in case.candidates())


def test_answers_and_places_are_those_of_the_file(files):
    """E1: aliases count as answers; an article's paragraphs know where they stand in it."""
    musique, _ = converted("musique", files["musique"])
    squad, _ = converted("squad", files["squad"])
    well = next(c for c in squad[1]["chunks"] if c["text"] == CONTEXT)
    first = SQUAD["data"][0]["paragraphs"][0]["context"]
    article = f"{first}\n\n{CONTEXT}"

    assert musique[0]["answers"] == ["oak", "oak wood"]
    assert squad[1]["answers"] == ["1904", "in 1904"]
    assert (well["title"], well["sequence"]) == ("The yard", 1)
    assert article[well["start"] :] == CONTEXT
    unit = squad[1]["evidence"][0]
    assert article[unit["start"] : unit["end"]] == unit["text"]


def test_pools_hold_what_came_with_a_question_and_the_best_of_the_rest(files):
    """E1: a question's own passages always, then BM25's best; in NQ its own and no more."""
    hotpot, _ = converted("hotpotqa", files["hotpotqa"], pool=2)
    nq, _ = converted("nq", [*files["nq"]], pool=1)
    squad, _ = converted("squad", files["squad"], pool=1)

    assert len(hotpot[0]["chunks"]) == 3
    assert len(nq[0]["chunks"]) == 2
    assert [len(record["chunks"]) for record in squad] == [1, 1]


def test_questions_without_gold_in_their_pool_are_left_out(files):
    """E1: no gold passage is forced in; such a question is counted, not kept."""
    found, left_out = converted("beir", files["beir"], pool=1)

    assert [c["id"] for record in found for c in record["chunks"]] == ["d1"]
    assert found[0]["evidence"][1]["chunk_ids"] == []
    queries = Path(files["beir"][0]) / "queries.jsonl"
    queries.write_text(lined([{"_id": "7", "text": "when do owls hunt"}]), encoding="utf-8")
    found, left_out = converted("beir", files["beir"], pool=1)
    assert (found, dict(left_out)) == ([], {"no gold passage among the candidates": 1})


def test_a_limit_draws_the_same_questions_each_time(tmp_path):
    """E1, D1: drawn by the seed, kept in the order of the file."""
    data = [dict(NQ[0], question=f"how deep is well {i}") for i in range(20)]
    path = tmp_path / "nq.jsonl"
    path.write_text(lined(data), encoding="utf-8")
    ids = [
        [r["id"] for r in converted("nq", [str(path)], limit=5, seed=seed)[0]] for seed in (1, 1, 2)
    ]

    assert ids[0] == ids[1] != ids[2]
    assert len(ids[0]) == 5
    numbers = [int(name.partition("-")[2]) for name in ids[0]]
    assert numbers == sorted(numbers)


def changed(value, *path_and_new):
    """A deep copy with one place changed; None takes it out."""
    value = json.loads(json.dumps(value))
    *path, last, new = path_and_new
    inner = value
    for key in path:
        inner = inner[key]
    if new is None:
        del inner[last]
    else:
        inner[last] = new
    return value


ONE = changed(SQUAD, "data", 0, "paragraphs", SQUAD["data"][0]["paragraphs"][:1])
BAD = {
    ("hotpotqa", "an object"): ({}, "is dict; HotpotQA is a list of questions"),
    ("hotpotqa", "no context"): (
        changed(HOTPOT[:1], 0, "context", None), "question 1: field 'context'",
    ),
    ("hotpotqa", "a paragraph"): (
        changed(HOTPOT[:1], 0, "context", 1, "x"), "'context[1]': must be a list of 2, not str",
    ),
    ("hotpotqa", "a sentence"): (
        changed(HOTPOT[:1], 0, "context", 0, 1, 0, 5), "'context[0][1][0]': must be a string",
    ),
    ("hotpotqa", "a fact"): (
        changed(HOTPOT[:1], 0, "supporting_facts", 0, 1, "one"), "must be a whole number, not str",
    ),
    ("hotpotqa", "a fact's title"): (
        changed(HOTPOT[:1], 0, "supporting_facts", 0, 0, ["x"]), "[0][0]': must be a string",
    ),
    ("squad", "a list"): ([], "is list; SQuAD is an object with data"),
    ("squad", "no data"): (
        {"version": "1"}, "is an object without such data; SQuAD is an object with data",
    ),
    ("squad", "an offset"): (
        changed(ONE, "data", 0, "paragraphs", 0, "qas", 0, "answers", 0, "answer_start", 3),
        "'red stone' is not at 3 of its context",
    ),
    ("squad", "no context"): (
        changed(ONE, "data", 0, "paragraphs", 0, "context", None),
        "field 'data[0].paragraphs[0].context': is missing",
    ),
}  # fmt: skip
BAD_LINES = {
    ("musique", "no paragraphs"): (
        [changed(MUSIQUE[0], "paragraphs", None), 3],
        "line 1: field 'paragraphs': is missing; MuSiQue is JSON Lines",
    ),
    ("musique", "a number"): ([3], "line 1: a line is an object, not int"),
    ("musique", "a flag"): (
        [changed(MUSIQUE[0], "paragraphs", 0, "is_supporting", "yes")],
        "field 'paragraphs[0].is_supporting': must be true or false",
    ),
    ("nq", "no gold"): (
        [changed(NQ[0], "ctxs", 1, "isgold", False)], "line 1: field 'ctxs': no passage has isgold",
    ),
    ("nq", "no answers"): ([changed(NQ[0], "answers", None)], "field 'answers': is missing"),
}  # fmt: skip


@pytest.mark.parametrize("case", [*BAD, *BAD_LINES], ids=" ".join)
def test_a_file_of_another_form_is_refused(tmp_path, case):
    """E1, X2: nothing in it is usable: file, place and field of the first, and what is wanted."""
    value, said = {**BAD, **BAD_LINES}[case]
    path = tmp_path / "data.json"
    path.write_text(lined(value) if case in BAD_LINES else json.dumps(value), encoding="utf-8")

    with pytest.raises(BadInput) as caught:
        converted(case[0], [str(path)])

    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)


def spoilt_hotpotqa(path: Path) -> None:
    """Three that are no questions, in between; one has passages before what is wrong with it."""
    late = dict(HOTPOT[0], _id="5a3", question=None)
    late["context"] = [["Later", ["It is not there."]], *late["context"]]
    path.write_text(json.dumps([7, HOTPOT[0], late, HOTPOT[1], HOTPOT[0]]), encoding="utf-8")


def spoilt_musique(path: Path) -> None:
    """A line that is cut, one of another encoding, one with a passage that no one else has."""
    late = dict(MUSIQUE[0], id="x", answer=1)
    late["paragraphs"] = [dict(late["paragraphs"][1], title="Later"), *late["paragraphs"]]
    lines = [b'{"id": "2hop', json.dumps(late).encode(), *map(str.encode, map(json.dumps, MUSIQUE))]
    path.write_bytes(b"\n".join([*lines, b'{"id": "\xe9"}', lines[2]]))


def spoilt_squad(path: Path) -> None:
    """An article, a paragraph and questions that are wrong, and an id that comes again."""
    data = json.loads(json.dumps(SQUAD))
    first = data["data"][0]["paragraphs"]
    wrong = dict(first[0]["qas"][0], id="s9", answers=[{"text": "red stone", "answer_start": 3}])
    first[0]["qas"] = [wrong, *first[0]["qas"], first[0]["qas"][0]]
    first.append({"qas": []})
    data["data"].append({"title": "No paragraphs"})
    path.write_text(json.dumps(data), encoding="utf-8")


def spoilt_nq(path: Path) -> None:
    """A line without a gold passage behind the one that has it."""
    none = changed(NQ[0], "ctxs", 1, "isgold", False)
    path.write_bytes(gzip.compress(lined([NQ[0], none]).encode()))


def spoilt_beir(path: Path) -> None:
    """In each of the files a line that is wrong."""
    (path / "corpus.jsonl").write_text(lined([*CORPUS, CORPUS[0], {"_id": "d9"}]), encoding="utf-8")
    (path / "queries.jsonl").write_text(lined([QUERIES[0], [], *QUERIES]), encoding="utf-8")
    qrels = f"{QRELS}7\td9\t1\n7 d1 1\n7\td1\thigh\n"
    (path / "qrels" / "test.tsv").write_text(qrels, encoding="utf-8")


SPOILT = {
    "hotpotqa": (spoilt_hotpotqa, [
        "question 1: must be an object, not int",
        "question 3: field 'question': must be a string, not null",
        "question 5: two questions have the id '5a1'; the first is kept",
    ]),
    "musique": (spoilt_musique, [
        "line 1: not JSON: Unterminated string",
        "line 2: field 'answer': must be a string, not int",
        "line 5: not UTF-8 at byte 9; save it as UTF-8",
        "line 6: two questions have the id '2hop__1_2'",
    ]),
    "squad": (spoilt_squad, [
        "field 'data[0].paragraphs[0].qas[0].answers[0]': 'red stone' is not at 3",
        "two questions have the id 's0'",
        "field 'data[0].paragraphs[2].context': is missing",
        "field 'data[2].paragraphs': is missing",
    ]),
    "nq": (spoilt_nq, ["line 2: field 'ctxs': no passage has isgold"]),
    "beir": (spoilt_beir, [
        "line 4: two documents have the _id 'd1'; the first is kept",
        "line 5: field 'text': is missing",
        "line 5: the corpus has no 'd9'",
        "line 6: give three columns with tabs between them",
        "line 7: the score 'high' is no number",
        "line 2: a line is an object, not list",
        "line 3: two questions have the id '7'",
    ]),
}  # fmt: skip


@pytest.mark.parametrize("format", FORMATS)
def test_a_bad_record_is_named_and_the_rest_go_on(files, format):
    """E1: the cases are those of the file without it; file, place and reason are kept."""
    clean = converted(format, files[format])
    spoil, said = SPOILT[format]
    spoil(Path(files[format][0]))
    source = FORMATS[format](files[format], format, "en")

    assert (list(build_records(source, format)), source.left_out) == clean
    assert len(source.failed) == len(said)
    for failure, reason in zip(source.failed, said, strict=True):
        assert failure.path.startswith(files[format][0])
        assert failure.reason.startswith(reason)


def test_names_of_questions_stay_when_one_before_them_is_bad(tmp_path):
    """E1: where the file gives no ids, a question keeps its own when another is mended."""
    path = tmp_path / "nq.jsonl"
    path.write_text(lined([dict(NQ[0], question=""), NQ[0]]), encoding="utf-8")
    (found,), _ = converted("nq", [str(path)])

    assert found["id"] == "nq-1"


def test_what_failed_is_said_where_nothing_is_left(tmp_path):
    """E1, X2: the only question with evidence was bad: the error says what was wrong with it."""
    path = tmp_path / "hotpot.json"
    path.write_text(json.dumps(changed(HOTPOT, 0, "question", None)), encoding="utf-8")

    with pytest.raises(BadInput, match="no question.*; 1 failed, the first: .*question 1: field"):
        converted("hotpotqa", [str(path)])


BEIR = {
    "qrels/test.tsv": [
        ("7 d1 1\n", "line 1: give three columns with tabs"),
        ("q\td\tscore\n7\td9\t1\n", "line 2: the corpus has no 'd9'"),
        ("q\td\tscore\n7\td1\thigh\n", "line 2: the score 'high' is no number"),
    ],
    "corpus.jsonl": [
        ('{"_id": "d1",', "line 1: not JSON.*; a BEIR corpus is JSON Lines with _id"),
        (lined([{"_id": "d1"}]), "line 1: field 'text': is missing"),
    ],
    "queries.jsonl": [("", "no question with evidence"), ("{", "line 1: not JSON")],
}


@pytest.mark.parametrize("name", BEIR)
def test_a_folder_of_another_form_is_refused(files, name):
    """E1, X2: corpus, queries and judgements that do not fit together say where."""
    for text, said in BEIR[name]:
        (Path(files["beir"][0]) / name).write_text(text, encoding="utf-8")
        with pytest.raises(BadInput, match=said):
            converted("beir", files["beir"])


def test_a_query_that_is_a_document_is_no_candidate_of_its_own(files):
    """E1: as in ArguAna: the document of a query's id is in no pool of its, and no evidence."""
    folder = Path(files["beir"][0])
    asked = [{"_id": "d1", "text": CORPUS[0]["text"]}, {"_id": "d3", "text": "when do owls hunt"}]
    judged = "q\td\tscore\nd1\td2\t1\nd1\td1\t1\nd3\td3\t1\n"
    (folder / "queries.jsonl").write_text(lined(asked), encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text(judged, encoding="utf-8")
    found, left_out = converted("beir", files["beir"])

    assert [record["id"] for record in found] == ["d1"]
    assert [chunk["id"] for chunk in found[0]["chunks"]] == ["d2"]
    assert found[0]["gold_doc_ids"] == ["d2"]
    assert dict(left_out) == {"no relevant document": 1}


def test_beir_is_a_folder_or_three_files(files, tmp_path):
    """E1: the three files may be named; anything else is refused with what to give."""
    folder = Path(files["beir"][0])
    named = [str(folder / n) for n in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")]

    assert converted("beir", named) == converted("beir", files["beir"])
    with pytest.raises(BadInput, match="give its folder"):
        converted("beir", named[:2])
    with pytest.raises(BadInput, match=r"has no corpus\.jsonl"):
        converted("beir", [str(folder / "qrels")])


def test_sizes_that_cannot_be_are_refused(files):
    """E1, X1: an empty pool is no pool."""
    with pytest.raises(BadOption, match="pool is 0"):
        converted("squad", files["squad"], pool=0)


def plain_bm25(texts: list[str], query: str) -> list[float]:
    """BM25 as it is defined, term by term."""
    bags = [split_words(text) for text in texts]
    average = sum(map(len, bags)) / len(bags) or 1
    found = []
    for bag in bags:
        score, counts = 0.0, Counter(bag)
        for term in set(split_words(query)):
            df = sum(term in other for other in bags)
            idf = log(1 + (len(bags) - df + 0.5) / (df + 0.5))
            norm = 1.2 * (1 - 0.75 + 0.75 * len(bag) / average)
            score += idf * counts[term] / (counts[term] + norm) if counts[term] else 0.0
        found.append(score)
    return found


TEXT = st.lists(st.sampled_from(["well", "deep", "owl", "水", "night"]), max_size=8).map(" ".join)


@given(st.lists(TEXT, min_size=1, max_size=8), TEXT)
def test_scores_are_bm25(texts, query):
    """E1: the postings give what the formula gives; only texts that share a term are found."""
    wanted = plain_bm25(texts, query)
    scores = build_index(texts).scores(query)

    assert list(scores) == pytest.approx(wanted)
    top = top_indices(scores, 3)
    assert top == sorted((i for i in range(len(texts)) if scores[i] > 0),
                         key=lambda i: (-scores[i], i))[:3]  # fmt: skip
