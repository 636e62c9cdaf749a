"""Words that say nothing about a question's subject, by language; accents already taken off.

Only queries lose them, and only those of one language at a time: `die` is a verb in English.
"""

from __future__ import annotations

_LISTS = {
    "en": (
        "a about after all also am an and any are as at be because been before being between both "
        "but by can could d did do does doing during each for from had has have having he her "
        "here hers him his how i if in into is it its just ll m may me might more most must my no "
        "nor not of off on once only or other our out over own re s shall she should so some such "
        "t than that the their them then there these they this those through to too under until "
        "up us ve very was we were what when where which while who whom whose why will with would "
        "you your"
    ),
    "de": (
        "aber alle als also am an auch auf aus bei beim bin bis bist da damit dann das dass dein "
        "dem den denn der des die dies diese diesem diesen dieser dieses doch dort du durch ein "
        "eine einem einen einer eines er es etwas fur hat hatte haben ich ihr ihre ihrem ihren "
        "ihrer im in ist ja jede jeder kann kein keine konnen man mein mit nach nicht noch nun nur "
        "ob oder ohne sehr sein seine seit sich sie sind so uber um und uns unser unter vom von "
        "vor wann war waren warum was welche welcher welches wem wen wenn wer werden wie wieder "
        "wird wo wurde wurden zu zum zur zwischen"
    ),
    "fr": (
        "a ai alors au aucun aussi autre aux avec avoir c ce cela ces cet cette ceux chaque comme "
        "comment d dans de des depuis donc dont du elle elles en encore entre est et etait ete "
        "etre eux fait il ils j je l la le les leur leurs lui m ma mais me meme mes moi mon n ne "
        "nos notre nous on ont ou par pas peut plus pour pourquoi qu quand que quel quelle "
        "quelles quels qui quoi s sa sans se ses si son sont sous sur ta te tes toi ton tous tout "
        "toute tres tu un une vos votre vous y"
    ),
    "es": (
        "a al algo ante antes aquel aqui asi aunque cada como con contra cual cuales cuando cuanto "
        "de del desde donde dos el ella ellas ellos en entre era es esa ese eso esta estan estas "
        "este esto estos fue ha hace han hasta hay la las le les lo los mas me mi mis muy nada ni "
        "no nos nosotros o otra otro para pero por porque que quien quienes se sea segun ser si "
        "sin sobre son su sus tambien te tiene todo todos tu tus un una uno unos y ya yo"
    ),
    "nl": (
        "aan al alle als altijd ben bij daar dan dat de der deze die dit doen door dus een en er "
        "geen ge had heb hebben heeft hem het hier hij hoe hun iets ik in is ja je kan kon kunnen "
        "maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat ons ook op over "
        "te tegen toch toen tot u uit uw van veel voor waar waarom wanneer want waren was wat we "
        "welke wie wij wil worden wordt zal ze zei zelf zich zij zijn zo zonder zou"
    ),
    "it": (
        "a ad agli ai al alla alle allo anche avere c che chi ci come con cosa cui d da dagli dai "
        "dal dalla dalle de degli dei del della delle dello di dove e ed era essere fu gli ha "
        "hanno i il in io l la le lei li lo loro lui ma mi mio ne negli nei nel nella nelle no "
        "noi non o ogni per perche piu possono puo quale quali quando quanto quella quelle quello "
        "questa queste questi questo se si sia sono sua sue sul sulla suo tra tu tutti tutto un "
        "una uno vi voi"
    ),
    "pt": (
        "a ao aos as ate com como da das de dela dele deles depois do dos e ela elas ele eles em "
        "entre era essa esse esta este eu foi ha isso isto ja la lhe mais mas me mesmo meu minha "
        "muito na nao nas nem no nos o onde os ou para pela pelas pelo pelos por porque qual "
        "quais quando que quem se sem ser seu seus so sua suas tambem te tem um uma voce voces"
    ),
}

STOP_WORDS = {language: frozenset(words.split()) for language, words in _LISTS.items()}
