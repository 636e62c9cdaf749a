"""Texts in seven classes of content for `bench_counts`, the same for the same seed.

Prose comes from this repository, mixed with sentences and names that are made up; tables and
message lists are generated; sentences in other scripts stand in this file. Sources, documentation
and data files are those of the standard library and of the packages that are installed. All that
texts are drawn from is in two halves: the registry's margins are the largest shares of texts of the
first, and are measured on texts of the second.
"""

from __future__ import annotations

import json
import re
import sysconfig
from binascii import crc32
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, TypeAlias, TypeVar

ROOT = Path(__file__).resolve().parent.parent
T = TypeVar("T")
ROOT_FOLDERS = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib"))
FITTED, HELD_BACK = 0, 1
"""The two halves."""
LEAST, MOST = 500, 10_000
"""Characters of a text, about."""
Maker: TypeAlias = tuple[Callable[[Random], str], str]
"""What makes a piece of a text, and what stands between two pieces."""
LATIN = """
Die Pumpe saugt Luft durch eine verschlissene Dichtung, deshalb ist sie morgens so laut.
Größere Änderungen an der Übertragungsgeschwindigkeitsregelung müssen schriftlich genehmigt werden.
Après l'hiver, les écluses de la vallée ont été vidées, nettoyées et repeintes en bleu foncé.
Où avez-vous rangé les clés du hangar ? Elles n'étaient déjà plus là hier soir.
De schipper heeft het contract voor de ligplaats vorige week ondertekend en teruggestuurd.
Het waterschap waarschuwt dat de sluizen tijdens het hoogwater gesloten blijven.
La bomba pierde presión cada noche; mañana cambiaremos la junta y mediremos otra vez el caudal.
¿Quién pagará los daños del muelle si el seguro no cubre las inundaciones?
O barco só volta ao cais depois da inspeção, que ainda não tem data marcada.
Il direttore ha chiesto perché le fatture di settembre non siano state né pagate né contestate.
Źródło hałasu znajduje się w skrzyni biegów, więc mechanik zamówił nowe łożyska i uszczelki.
Příští týden začne oprava přístavní zdi, proto bude nábřeží pro vozidla úplně uzavřeno.
Teknenin motoru çalışmıyorsa önce yakıt filtresini değiştirin, sonra servisi arayın.
Máy bơm hút không khí qua một vòng đệm đã mòn, nên buổi sáng nó kêu rất to.
Hợp đồng thuê bến được gia hạn thêm hai năm, nhưng giá thuê vẫn chưa được thống nhất.
A szivattyú zajának oka a kopott tömítés, amelyet a szerelő csütörtökön cserél ki.
Pumppu imee ilmaa kuluneen tiivisteen läpi, minkä vuoksi se pitää aamuisin kovaa ääntä.
Pompa menghisap udara melalui segel yang sudah aus sehingga bunyinya keras pada pagi hari.
Pumpen suger in luft genom en sliten tätning, därför låter den högt på morgonen.
Pompa trage aer printr-o garnitură uzată, așa că dimineața face un zgomot îngrozitor.
""".strip().splitlines()
OTHER_SCRIPTS = {
    "Chinese": """
水泵通过磨损的密封圈吸入空气，所以早上噪音很大。合同规定，泊位租金应在每月五日之前支付。
如果闸门在洪水期间关闭，船只必须在上游等待。维修人员更换了轴承，并记录了压力和流量。
请把发票和检验报告一起寄给港务局。去年冬天的维修费用比预算高出百分之十二。
我們昨天檢查了碼頭的纜繩，發現三條已經磨損，需要立即更換。保險公司尚未回覆索賠申請。
他站在岸邊，看著霧慢慢散去，遠處的燈塔又亮了起來。
""",
    "Japanese": """
ポンプは摩耗したシールから空気を吸い込むので、朝は音が大きい。係留契約は毎年三月に更新されます。
洪水の間は水門が閉まるため、船は上流で待たなければならない。整備士はベアリングを交換し、圧力を記録した。
請求書と検査報告書を港湾局に送ってください。昨年の修理費は予算を上回りました。
霧が晴れると、遠くの灯台がまた光り始めた。彼女は古い地図を広げて、静かに笑った。
""",
    "Korean": """
펌프가 마모된 씰을 통해 공기를 빨아들여 아침마다 소음이 크다. 정박 계약은 매년 삼월에 갱신됩니다.
홍수 기간에는 수문이 닫히므로 선박은 상류에서 기다려야 한다.
정비사는 베어링을 교체하고 압력을 기록했다.
청구서와 검사 보고서를 항만청에 보내 주십시오. 작년 수리비는 예산을 십이 퍼센트 초과했습니다.
안개가 걷히자 멀리 있는 등대가 다시 빛나기 시작했다.
""",
    "Russian": """
Насос подсасывает воздух через изношенное уплотнение, поэтому по утрам он сильно шумит.
Договор аренды причала продлевается ежегодно, если ни одна из сторон не возражает письменно.
Во время паводка шлюзы закрыты, и суда должны ждать выше по течению.
Механик заменил подшипники, записал давление и расход и отправил отчёт в управление порта.
Когда туман рассеялся, вдалеке снова загорелся маяк, и она тихо засмеялась.
""",
    "Ukrainian": """
Насос підсмоктує повітря крізь зношене ущільнення, тому вранці він гучно шумить.
Угоду про оренду причалу щороку подовжують, якщо жодна зі сторін не заперечує.
Під час повені шлюзи зачинені, тож судна чекають вище за течією.
""",
    "Greek": """
Η αντλία τραβάει αέρα από μια φθαρμένη φλάντζα, γι' αυτό το πρωί κάνει μεγάλο θόρυβο.
Το συμβόλαιο ελλιμενισμού ανανεώνεται κάθε Μάρτιο, εφόσον έχει πληρωθεί το ενοίκιο.
Όταν διαλύθηκε η ομίχλη, ο μακρινός φάρος άναψε ξανά και όλοι σώπασαν.
""",
    "Arabic": """
تسحب المضخة الهواء عبر حشية بالية، ولذلك يكون صوتها مرتفعا في الصباح.
يجدد عقد الرسو كل عام في شهر مارس إذا دفعت الأجرة في موعدها المحدد.
أثناء الفيضان تغلق البوابات، وعلى السفن أن تنتظر في أعلى النهر.
استبدل الفني المحامل وسجل الضغط والتدفق ثم أرسل التقرير إلى إدارة الميناء.
""",
    "Persian": """
پمپ از راه یک واشر فرسوده هوا می‌کشد و برای همین صبح‌ها پر سروصداست.
قرارداد لنگرگاه هر سال در فروردین تمدید می‌شود، اگر اجاره پرداخت شده باشد.
""",
    "Hebrew": """
המשאבה שואבת אוויר דרך אטם שחוק, ולכן היא רועשת מאוד בבוקר.
חוזה העגינה מתחדש בכל שנה בחודש מרץ, אם שולמו דמי השכירות.
כשהתפזר הערפל נדלק שוב המגדלור הרחוק, והיא צחקה בשקט.
""",
    "Hindi": """
पंप घिसी हुई सील से हवा खींचता है, इसलिए सुबह बहुत शोर करता है।
बाढ़ के समय फाटक बंद रहते हैं और नावों को नदी के ऊपरी हिस्से में रुकना पड़ता है।
मिस्त्री ने बेयरिंग बदले, दबाव लिखा और बंदरगाह कार्यालय को रिपोर्ट भेज दी।
""",
    "Bengali": """
পাম্পটি ক্ষয়ে যাওয়া সিলের ভেতর দিয়ে বাতাস টানে, তাই সকালে খুব শব্দ হয়।
বন্যার সময় ফটক বন্ধ থাকে এবং নৌকাগুলিকে উজানে অপেক্ষা করতে হয়।
""",
    "Tamil": """
தேய்ந்த முத்திரை வழியாக பம்பு காற்றை இழுப்பதால் காலையில் அதிக சத்தம் வருகிறது.
வெள்ளத்தின் போது மதகுகள் மூடப்படும்; படகுகள் மேல்நிலையில் காத்திருக்க வேண்டும்.
""",
    "Thai": """
ปั๊มดูดอากาศผ่านซีลที่สึกหรอ จึงมีเสียงดังในตอนเช้า สัญญาเช่าท่าเรือต่ออายุทุกปีในเดือนมีนาคม
ระหว่างน้ำท่วมประตูน้ำจะปิด เรือต้องรออยู่ด้านเหนือน้ำ ช่างเปลี่ยนลูกปืนและบันทึกความดันไว้แล้ว
""",
    "Georgian": """
ტუმბო გაცვეთილი შუასადებიდან ჰაერს იწოვს, ამიტომ დილით ძალიან ხმაურობს.
წყალდიდობის დროს რაბები დაკეტილია და გემები ზემოთ ელოდებიან.
""",
    "Armenian": """
Պոմպը մաշված խցուկից օդ է քաշում, այդ պատճառով առավոտյան շատ աղմկոտ է։
Ջրհեղեղի ժամանակ ջրարգելակները փակ են, և նավերը սպասում են վերևում։
""",
}
_WORDS = """
valve berth pump order invoice ledger sluice engine report tenant pressure quay contract signal
window token budget filter seal repair voyage captain permit cargo draught mooring harbour depth
"""
WORDS = _WORDS.split()
_SYLLABLES = (
    "al bar cor dor el fen gra hol ix jun kel lor mun nor os per quin ras sten tur ul vor wy zet"
)
SYLLABLES = _SYLLABLES.split()


def name(random: Random) -> str:
    """A word that is in no dictionary, in one of the styles of identifiers, or a plain word."""
    parts = [random.choice(WORDS) for _ in range(random.randint(1, 3))]
    if random.random() < 0.3:
        parts[0] = "".join(random.choices(SYLLABLES, k=random.randint(2, 4)))
    style = random.choice(["_", "-", "camel", "Title", "one"])
    if style == "one":
        return parts[0]
    if style in "_-":
        return style.join(parts)
    words = [part.title() for part in parts]
    return "".join(words) if style == "Title" else parts[0] + "".join(words[1:])


def number(random: Random) -> str:
    """Digits as documents have them: counts, prices, dates, times, serial numbers, hashes."""
    return random.choice(
        [
            lambda: str(random.randint(0, 99)),
            lambda: f"{random.uniform(0, 9_999):.2f}",
            lambda: f"{random.randint(1_000, 99_999_999):,}",
            lambda: str(random.randint(10**9, 10**14)),
            lambda: str(date(2010, 1, 1) + timedelta(days=random.randint(0, 7_300))),
            lambda: str(timedelta(seconds=random.randint(0, 86_399))),
            lambda: f"{random.choice('ABKLX')}-{random.randint(0, 9_999):04}",
            lambda: f"{random.uniform(-1, 1):.6f}",
        ]
    )()


def digest(random: Random) -> str:
    """A random identifier in hexadecimal or in letters of both cases."""
    if random.random() < 0.5:
        return f"{random.getrandbits(random.choice([32, 64, 128])):x}"
    return "".join(random.choices("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=16))


def half_of(pool: Sequence[T], half: int) -> Sequence[T]:
    """Every second of a pool; all of it where it has only one."""
    return pool[half::2] or pool


@lru_cache(maxsize=2)
def _paragraphs(half: int) -> Sequence[str]:
    found = []
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]):
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        blocks = [re.sub(r"\s+", " ", block).strip() for block in text.split("\n\n")]
        found += [block for block in blocks if len(block) > 80 and not block.startswith("|")]
    return half_of(found, half)


def prose(style: Random, half: int) -> Maker:
    """Paragraphs in English, or in a few languages of Latin letters, with names and numbers."""
    languages = style.sample(half_of(LATIN, half), 4) if style.random() < 0.4 else []

    def make(random: Random) -> str:
        if languages and random.random() < 0.8:
            return random.choice(languages)
        if random.random() < 0.25:
            known = [name(random).title(), random.choice(WORDS), number(random)]
            return "{} left the {} at {} and did not come back.".format(*known)
        return random.choice(_paragraphs(half))

    return make, style.choice([" ", "\n\n"])


def _value(random: Random, half: int, depth: int) -> Any:
    kind = random.random()
    if depth and kind < 0.25:
        count = random.randint(1, 6)
        return {name(random): _value(random, half, depth - 1) for _ in range(count)}
    if depth and kind < 0.35:
        return [_value(random, half, depth - 1) for _ in range(random.randint(1, 5))]
    if kind < 0.5:
        return random.choice([random.randint(0, 10**6), round(random.uniform(-99, 99), 3)])
    if kind < 0.57:
        return random.choice([True, False, None])
    if kind < 0.67:
        return digest(random)
    if kind < 0.77:
        return number(random)
    if kind < 0.82:
        host, path, query = (name(random) for _ in range(3))
        return f"https://{host}.example.org/{path}/{digest(random)}?q={query}"
    if kind < 0.9:
        return _words(random, half, random.randint(1, 25))
    return name(random)


def _words(random: Random, half: int, count: int) -> str:
    return " ".join(random.choice(_paragraphs(half)).split()[:count])


def table(style: Random, half: int) -> Maker:
    """Rows of numbers, names and words, as CSV, with tabs or as Markdown, or columns of spaces."""
    words = half_of(WORDS, half)
    kinds = [number, number, digest, name, lambda r: r.choice(words), lambda _: "", number]
    columns = [style.choice(kinds[:5]), *style.choices(kinds, k=style.randint(1, 8))]
    between = style.choice([",", ";", "\t", " | ", "padded"])

    def make(random: Random) -> str:
        cells = [column(random) for column in columns]
        if between == "padded":
            return "  ".join(cell.ljust(14) for cell in cells)
        return f"| {between.join(cells)} |" if between == " | " else between.join(cells)

    return make, "\n"


def other_script(style: Random, half: int) -> Maker:
    """Sentences in a script other than Latin, or in two, at times with their words mixed."""
    languages = style.choices(sorted(OTHER_SCRIPTS), k=style.choice([1, 1, 2]))
    lines = [
        line for one in languages for line in half_of(OTHER_SCRIPTS[one].strip().splitlines(), half)
    ]

    def make(random: Random) -> str:
        line = random.choice(lines)
        if random.random() < 0.4:
            words = re.findall(r"[^\s。、，]+[\s。、，]*", line)
            line = "".join(random.sample(words, len(words))).strip()
        return line + (f" {number(random)}" if random.random() < 0.1 else "")

    return make, style.choice([" ", "\n"])


def messages(style: Random, half: int) -> Maker:
    """Schemas of tools and the messages of an agent that calls them, as compact JSON."""

    def make(random: Random) -> str:
        found = _tool(random, half) if random.random() < 0.4 else _message(random, half)
        return json.dumps(found, ensure_ascii=False, separators=(",", ":"))

    return make, style.choice(["\n", ","])


def _tool(random: Random, half: int) -> dict[str, Any]:
    fields = {
        name(random): {
            "type": random.choice(["string", "integer", "number", "boolean"]),
            "description": _words(random, half, 12),
        }
        for _ in range(random.randint(1, 6))
    }
    parameters = {"type": "object", "properties": fields, "required": [*fields][:1]}
    about = _words(random, half, random.randint(6, 40))
    return {"name": name(random), "description": about, "parameters": parameters}


def _message(random: Random, half: int) -> dict[str, Any]:
    kind, call = random.random(), f"call_{digest(random)}"
    if kind < 0.35:
        content = json.dumps(_value(random, half, 2))
        return {"role": "tool", "tool_call_id": call, "content": content}
    if kind < 0.65:
        asked = json.dumps({name(random): _value(random, half, 1), name(random): number(random)})
        function = {"name": name(random), "arguments": asked}
        calls = [{"id": call, "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    role = random.choice(["user", "assistant"])
    return {"role": role, "content": _words(random, half, random.randint(5, 80))}


@lru_cache(maxsize=1)
def _files() -> Sequence[tuple[str, Path]]:
    """Files of a kilobyte or more, each with the package that it is in."""
    found = {}
    for root in ROOT_FOLDERS:
        for path in sorted(root.rglob("*")):
            package, *inner = path.relative_to(root).parts
            if package != "site-packages" and path.is_file() and path.stat().st_size >= 1_000:
                found["/".join([package, *inner])] = (package, path)
    return [found[name] for name in sorted(found)]


@lru_cache(maxsize=8)
def _installed(half: int, *endings: str) -> Sequence[Sequence[Path]]:
    """Files of one half with one of these endings, by package."""
    packages: dict[str, list[Path]] = {}
    for package, path in _files():
        ending = path.suffix.lstrip(".") or path.name
        if ending in endings and crc32(path.name.encode()) % 2 == half:
            packages.setdefault(package, []).append(path)
    return [packages[name] for name in sorted(packages)]


def _pages_of(*endings: str) -> Callable[[Random, int], Maker]:
    """Makes parts of files with these endings, those of a series from one package."""

    def pages(style: Random, half: int) -> Maker:
        paths = style.choice(_installed(half, *endings))

        def make(random: Random) -> str:
            text = random.choice(paths).read_text(encoding="utf-8", errors="replace")
            at = random.randrange(max(1, len(text) - LEAST))
            return text[at : at + MOST]

        return make, "\n"

    return pages


CONTENTS: dict[str, Callable[[Random, int], Maker]] = {
    "prose": prose,
    "tables": table,
    "other scripts": other_script,
    "tools and messages": messages,
    "sources": _pages_of("py", "pyi", "js", "ts", "css", "c", "h"),
    "documentation": _pages_of("md", "rst", "txt", "METADATA"),
    "data files": _pages_of("json", "csv", "xml", "html", "toml", "yaml", "svg"),
}


def series(content: str, seed: str, count: int, half: int = HELD_BACK) -> list[str]:
    """Texts of a class of content and of one style: a language, the columns of a table, keys.

    Lengths are drawn evenly over their logarithm.
    """
    make, between = CONTENTS[content](Random(f"{content} {seed}"), half)  # noqa: S311
    found = []
    for place in range(count):
        random = Random(f"{content} {seed} {place}")  # noqa: S311
        size = int(LEAST * (MOST / LEAST) ** random.random())
        text = make(random)
        while len(text) < size:
            text += between + make(random)
        found.append(text[:size] if content in _CUT else text)
    return found


_CUT = ("sources", "documentation", "data files")
"""What is cut to the length that was drawn; the others end where a sentence or record does."""
