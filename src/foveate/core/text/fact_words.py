"""Words that two texts must agree on before one may replace the other, by kind."""

from __future__ import annotations

UNIT_WORDS = """
    kg g mg µg μg mcg ng lb lbs oz t km m cm mm µm μm nm m² m³ m2 m3 cm² cm³ km² mi ft yd in sqm ha
    h hr hrs min mins s sec secs ms µs μs ns d wk yr l L ml mL dl cl µl mol mmol IU ppm ppb dB
    K C F W mW kW MW GW Wh kWh MWh GWh V mV kV A mA Ah mAh J kJ MJ cal kcal N Pa hPa kPa MPa bar psi
    Hz kHz MHz GHz B kB KB MB GB TB PB KiB MiB GiB TiB kbit Mbit Gbit bps kbps Mbps Gbps fps rpm px
    percent Prozent procent k M bn Mio Mrd thousand million billion trillion millions billions
    Million Millionen Milliarde Milliarden milliard milliards millones milhões mila milioni miljoen
    milliseconds millisecondes Millisekunden
    second seconds minute minutes hour hours day days week weeks month months year years am pm AM PM
    Sekunde Sekunden Minute Minuten Stunde Stunden Tag Tage Tagen Woche Wochen Monat Monate Jahr
    Jahre Jahren heure heures jour jours semaine semaines mois an ans année années segundos minutos
    hora horas día días semana semanas mes meses año años minuti ore giorno giorni mesi anno anni
    minuten uur dag dagen maand maanden jaar dia dias ano anos minuto
    USD EUR GBP CHF JPY CNY RMB SEK NOK DKK PLN dollars euros euro Euro pounds dollar cents
    meters metres kilometers kilometres miles feet inches grams kilograms litres liters tons tonnes
"""
TURNING_WORDS = """
    not no never none nobody nothing nowhere neither nor without cannot except unless
    nicht kein keine keinen keinem keiner keines nie niemals nichts niemand weder ohne
    ne n pas non jamais rien aucun aucune ni sans sauf
    nunca jamás nada nadie ninguno ninguna ningún sin tampoco
    niet geen nooit niets niemand zonder nergens
    mai niente nessuno nessuna nessun né senza nulla
    não ninguém nenhum nenhuma nem sem
    не нет ни никогда без нельзя никто никого ничто ничего нигде никакой никакая никакие никаких
    inte icke ej aldrig ingen inget inga ingenting utan varken knappt
    ikke ikkje aldri intet uten uden hverken verken
    nie nigdy nikt nikogo nic żaden żadna żadne żadnych bez ani nigdzie
    değil yok hiç hiçbir asla hayır olmadan
    all every some most few only always sometimes rarely seldom hardly must should shall may might
    can if until less least whether barely scarcely almost nearly allegedly supposedly reportedly
    former formerly acting vice false untrue wrong incorrect mistaken myth rumor rumour avoid
    suppose obsolete deprecated withdrawn revoked superseded doubt deny denies denied refuted
    alle allen aller alles jeder jede jedes einige wenige nur immer manchmal selten kaum muss müssen
    soll sollen sollte darf dürfen kann können falls wenn ob beinahe angeblich
    falsch unwahr mythos irrtum gerücht veraltet überholt widerrufen widerlegt bestreitet bezweifelt
    tout tous toute toutes chaque certains certaines quelques seulement toujours parfois rarement
    guère presque doit doivent peut peuvent si
    faux fausse mythe rumeur obsolète révoqué démenti nie prétend
    todo todos toda todas cada algunos algunas solo sólo siempre debe deben puede pueden
    casi apenas quasi quase falso falsa mito rumor obsoleto niega falsi nega mentira
    elke sommige enkele alleen altijd soms zelden moet moeten mag mogen kan kunnen bijna nauwelijks
    mythe onjuist onwaar verouderd ingetrokken ontkent betwijfelt
    tutti tutte ogni alcuni alcune sempre deve devono può possono alguns só devem pode podem
    все всегда только если можно нужно должен едва почти
    миф ложь ложно неверно неправда ошибочно устарело отозван отрицает слух
    नहीं मत न không chưa chẳng tidak bukan jangan belum δεν μην όχι χωρίς לא אין בלי لا ليس لم لن غير
    nem nincs ei eivät ilman nu fără není
"""
MARK_WORDS = """
    january february april june july august september october november december
    januar februar märz mai juni juli oktober dezember jänner
    janvier février avril juin juillet août septembre octobre novembre décembre
    enero febrero abril mayo junio julio agosto septiembre octubre noviembre diciembre
    januari februari maart mei augustus gennaio febbraio aprile maggio giugno luglio settembre
    ottobre dicembre janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
    monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday
    montag dienstag mittwoch donnerstag freitag samstag sonntag heute gestern
    lundi mardi mercredi jeudi vendredi samedi dimanche hier demain
    lunes martes miércoles jueves viernes sábado domingo hoy ayer
    maandag dinsdag woensdag donderdag vrijdag zaterdag zondag vandaag gisteren morgen
    two three four five six seven eight nine ten eleven twelve twenty hundred thousand million
    billion half twice zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend
    deux trois quatre cinq sept huit neuf dix onze douze cent mille
    dos tres cuatro cinco seis siete ocho nueve diez cien mil
    twee drie vijf zes zeven negen tien honderd duizend due tre quattro cinque sei sette otto nove
    dieci cento dois duas três quatro sete oito dez
"""
LONE_UNIT_WORDS = "mg mcg kg ml km cm mm kb mb gb tb khz mhz ghz kw mw kwh celsius fahrenheit"
BESIDE_NUMBER = """
    march mars jan feb febr mar mär mrt apr abr avr jun jul aug ago sep sept oct okt out ott
    nov dec dez dic déc set gen ene mag giu lug fev fév janv juil
"""
BEFORE_NUMBER = """
    under below over above about around approximately roughly to than before after by within beyond
    unter über bis etwa vor nach moins plus environ menos más circa meno più onder boven tot
"""
