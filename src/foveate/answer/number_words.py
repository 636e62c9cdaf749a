"""Number words in English, Dutch, German and French, and the values that they have."""

from __future__ import annotations

_ONES = """
    zero nul null zéro | one een één ein eins un une | two twee zwei deux | three drie drei trois |
    four vier quatre | five vijf fünf cinq | six zes sechs | seven zeven sieben sept |
    eight acht huit | nine negen neun neuf | ten tien zehn dix | eleven elf onze |
    twelve twaalf zwölf douze | thirteen dertien dreizehn treize |
    fourteen veertien vierzehn quatorze | fifteen vijftien fünfzehn quinze |
    sixteen zestien sechzehn seize | seventeen zeventien siebzehn | eighteen achttien achtzehn |
    nineteen negentien neunzehn
"""
_TENS = """
    twenty twintig zwanzig vingt | thirty dertig dreißig dreissig trente |
    forty veertig vierzig quarante | fifty vijftig fünfzig cinquante |
    sixty zestig sechzig soixante | seventy zeventig siebzig | eighty tachtig achtzig |
    ninety negentig neunzig
"""
NUMBER_BY_WORD = {
    word: step * number
    for listed, first, step in ((_ONES, 0, 1), (_TENS, 2, 10))
    for number, words in enumerate(listed.split("|"), first)
    for word in words.split()
}
