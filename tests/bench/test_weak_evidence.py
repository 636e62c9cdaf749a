"""The measure of what is said about weak evidence."""

from __future__ import annotations

from bench.weak_evidence import figures

from foveate.evals.cases import Case, Evidence, Passage


def case(question: str, text: str, answer: str) -> Case:
    """A question with one candidate."""
    passage = Passage(id=text, doc_id="d", source="d.md", title="", sequence=0, text=text, score=1)
    return Case(
        id=question,
        dataset="d",
        question=question,
        chunks=(passage,),
        evidence=(Evidence(text=answer),),
    )


def test_alarms_are_counted_where_they_are_false_and_where_they_are_right() -> None:
    """J7: one answered in other words is a false alarm; of three foreign ones, two are found."""
    own = [
        case(
            "How deep is the well?",
            "The well is nine metres deep.",
            "The well is nine metres deep.",
        ),
        case("Which beverage is served?", "Tea is poured at four.", "Tea is poured at four."),
        case("Who dug the well?", "The mill has a wheel of oak.", "Two brothers dug the well."),
    ]
    other = [
        case("x", "Ducks swim in the lake all summer.", "x"),
        case("x", "No beverage is served here.", "x"),
        case("x", "Ducks swim in the lake.", "x"),
    ]

    assert figures(own, other) == (1, 2, 2, 3)
