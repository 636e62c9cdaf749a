"""Three small sets in which scores matter: words that help, words that mislead, two documents."""

from __future__ import annotations

from foveate.evals.cases import Case, Evidence, Passage

TOWNS = (
    *("Arno", "Belm", "Corve", "Dunmere", "Eskil", "Farrow", "Gulden", "Hasp", "Irmel", "Jorvik"),
    *("Kestrel", "Lomond"),
)
COUNT = len(TOWNS)
FILLER = (
    "The committee met on a grey morning and read the minutes aloud. "
    "Nobody could say why the lamps of the quay had been painted green. "
    "A new roof for the hall was discussed, and put off until the spring."
)


def harbour(n: int) -> Case:
    """The words of the question are those of the evidence, and of some other chunks."""
    town = TOWNS[n]
    fact = f"The night ferry leaves {town} at {n + 5} past ten from pier {n + 2}."
    others = [
        f"The day ferry leaves {other} from another pier. {FILLER}"
        for other in TOWNS
        if other != town
    ]
    return _case("harbour", n, f"When does the night ferry leave {town}?", [fact], others)


def kiln(n: int) -> Case:
    """The evidence shares the town's name alone; the other chunks of the town share more words."""
    town = TOWNS[n]
    fact = f"{town}: tiles are fired at {900 + n} degrees for {n + 3} hours in a row."
    others = [
        f"How hot the summer of {town} was, the oldest of the potters could not say. {FILLER}",
        f"The potters of {town} keep the oven of the bakery hot on market days. {FILLER}",
        *(f"The potters of {other} sell bowls. {FILLER}" for other in TOWNS if other != town),
    ]
    return _case("kiln", n, f"How hot is the oven of the potters of {town}?", [fact], others)


def ledger(n: int) -> Case:
    """The answer needs two documents."""
    town, keeper = TOWNS[n], TOWNS[-1 - n]
    facts = [
        f"The ledger of the guild of {town} is kept by the house of {keeper}.",
        f"The house of {keeper} has its cellar below the chapel, behind door {n + 11}.",
    ]
    others = [f"The guild of {other} pays its dues in May. {FILLER}" for other in TOWNS]
    question = f"Behind which door is the ledger of the guild of {town}?"
    return _case("ledger", n, question, facts, others)


def _case(name: str, n: int, question: str, facts: list[str], others: list[str]) -> Case:
    """The gold chunks in the middle of the list; their facts between sentences of other chunks."""
    texts = [f"{FILLER} {fact} {FILLER}" for fact in facts]
    at = len(others) // 2
    listed = [*others[:at], *texts, *others[at:]]
    return Case(
        id=f"{name}{n}",
        dataset=name,
        question=question,
        chunks=tuple(
            Passage(
                id=f"c{i}",
                doc_id=f"d{i}",
                text=f"{text} This is note {i}.",
                score=1 / (i + 1),
                is_gold=text in texts,
            )
            for i, text in enumerate(listed)
        ),
        evidence=tuple(Evidence(text=fact) for fact in facts),
    )


def score_cases() -> tuple[Case, ...]:
    """All of them: 36 questions."""
    return tuple(make(n) for make in (harbour, kiln, ledger) for n in range(COUNT))
