"""Texts to measure with: our own sentences in many scripts, lines built from them, and `Texts`.

The sentences are simple everyday ones. The generated lines make no sense, but their words have the
frequencies of running text: a few are very common, most are rare.
"""

import random
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

SENTENCES: dict[str, tuple[str, ...]] = {
    "Arabic": (
        "ذهبت أختي إلى السوق صباح اليوم واشترت خبزًا وتفاحًا.",
        "هل رأيت القطار الذي وصل متأخرًا أمس؟",
        "الكتاب الجديد على الطاولة بجانب النافذة.",
        "قال المعلّم: اقرؤوا الصفحة ١٢ ثم أجيبوا عن السؤال.",
    ),
    "Armenian": (
        "Այսօր առավոտյան մենք գնացինք շուկա և գնեցինք հաց։",
        "Իմ եղբայրը սովորում է քաղաքի դպրոցում։",
        "Գետի մյուս ափին մի փոքրիկ տուն կա։",
    ),
    "Bengali": (
        "আজ সকালে বাজারে অনেক ভিড় ছিল।",
        "আমার বোন নদীর ধারে একটি ছোট বাড়িতে থাকে।",
        "তুমি কি কালকের বইটি পড়ে শেষ করেছ?",
    ),
    "Chinese": (
        "今天早上我们坐火车去海边，天气很好。",
        "老师说：“请把第十二页读完，再回答问题。”",
        "小猫躲在桌子下面，不肯出来！",
        "這本書是我祖父在臺北買的，已經有三十年了。",
    ),
    "Cyrillic": (
        "Сегодня утром мы поехали к морю, и погода была отличная.",
        "Мой брат учится в городской школе уже третий год.",
        "Чий це пес біжить уздовж річки? Він дуже веселий!",
        "Ёжик нашёл яблоко и унёс его под старую ель.",
        "Вчера вечером в библиотеке показывали старые карты города.",
    ),
    "Devanagari": (
        "आज सुबह हम लोग बाज़ार गए और फल ख़रीदे।",
        "मेरी बहन नदी के पास एक छोटे घर में रहती है।",
        "क्या तुमने कल वाली किताब पढ़ ली?",
        "शिक्षक ने कहा कि पृष्ठ १२ ध्यान से पढ़ो।",
    ),
    "Georgian": (
        "დღეს დილით ჩვენ ბაზარში წავედით და პური ვიყიდეთ.",
        "ჩემი ძმა ქალაქის სკოლაში სწავლობს.",
        "მდინარის გაღმა ერთი პატარა სახლი დგას.",
    ),
    "Greek": (
        "Σήμερα το πρωί πήγαμε στη θάλασσα και ο καιρός ήταν υπέροχος.",
        "Ο αδελφός μου διαβάζει έναν παλιό χάρτη της πόλης.",
        "ΠΟΙΟΣ ΕΙΝΑΙ ΑΥΤΟΣ Ο ΣΚΥΛΟΣ; Τρέχει δίπλα στο ποτάμι!",
        "Η γιαγιά έφτιαξε ψωμί και μας περίμενε ώς το βράδυ.",
    ),
    "Hebrew": (
        "הבוקר נסענו לים ומזג האוויר היה נפלא.",
        "אחותי גרה בבית קטן ליד הנהר.",
        "המורה אמרה: קִרְאוּ את עמוד 12 וענו על השאלה.",
    ),
    "Hangul": (
        "오늘 아침에 우리는 기차를 타고 바다로 갔습니다.",
        "제 동생은 강가의 작은 집에서 살고 있어요.",
        "선생님께서 12쪽을 읽고 질문에 답하라고 하셨다.",
        "고양이가 책상 밑에 숨어서 나오지 않는다!",
    ),
    "Japanese": (
        "今朝、私たちは電車に乗って海へ行きました。",
        "先生は「十二ページを読んで、質問に答えなさい」と言った。",
        "ネコがテーブルの下にかくれて、出てこない！",
        "祖父が古い地図を大切にしまっていたそうです。",
    ),
    "Latin": (
        "Heute früh fuhren wir ans Meer, und die Straße war überraschend leer.",
        "Où est passé le garçon qui mangeait des crêpes près de la forêt ?",
        "El niño pequeño soñó con un pingüino; ¿y tú, qué soñaste?",
        "Zażółcona kartka leżała między łyżką a źdźbłem trawy.",
        "Sáng nay chúng tôi đi chợ và mua được một ít bánh mì nóng.",
        "İstanbul'da ılık bir akşam, çocuklar kıyıda koşuyordu.",
        "Příliš těžký kufr zůstal ve vlaku až do večera.",
    ),
    "Tamil": (
        "இன்று காலை நாங்கள் சந்தைக்குச் சென்று பழம் வாங்கினோம்.",
        "என் தங்கை ஆற்றின் அருகே ஒரு சிறிய வீட்டில் வசிக்கிறாள்.",
        "நேற்று கொடுத்த புத்தகத்தைப் படித்து முடித்தாயா?",
    ),
    "Thai": (
        "เช้าวันนี้พวกเราไปตลาดและซื้อผลไม้หลายอย่าง",
        "น้องชายของฉันเรียนหนังสืออยู่ที่โรงเรียนใกล้แม่น้ำ",
        "ครูบอกว่า ให้อ่านหน้า ๑๒ แล้วตอบคำถาม",
    ),
}

# Scripts without spaces between words: lengths (min, max) of the fragments that make up a line.
_UNBROKEN = {"Chinese": (1, 3), "Japanese": (2, 5), "Thai": (4, 9)}
_WORDS_PER_SCRIPT = 1_500


def english_lines(vocabulary: Iterable[str], count: int, seed: int = 0) -> list[str]:
    """Generate different lines of English-like text, 15 to 60 words each.

    Args:
        vocabulary: the pieces of a WordPiece vocabulary in order, frequent words first.
        count: number of lines.
        seed: the same seed gives the same lines.
    """
    chooser = random.Random(seed)
    known = [
        piece for piece in vocabulary if piece.isalpha() and piece.isascii() and len(piece) > 1
    ]
    # One word in twelve is not in the vocabulary, as in an encyclopaedia.
    words = [
        _crossed(chooser, known) if chooser.random() < 1 / 12 and rank > 300 else word
        for rank, word in enumerate(known)
    ]
    marked = [_marked(chooser, word) for word in words for _ in range(4)]
    return _composed(chooser, marked, count, size=(15, 60), glue=" ")


def mixed_lines(count: int, seed: int = 0) -> list[str]:
    """Generate different lines in all scripts, cycling through the scripts."""
    chooser = random.Random(seed)
    each = -(-count // len(SENTENCES))
    columns = []
    for script, sentences in SENTENCES.items():
        if script in _UNBROKEN:
            fragments = _fragments(chooser, "".join(sentences), _UNBROKEN[script])
            columns.append(_composed(chooser, fragments, each, size=(8, 25), glue=""))
        else:
            words = " ".join(sentences).split()
            more = [_crossed(chooser, words) for _ in range(_WORDS_PER_SCRIPT - len(words))]
            columns.append(_composed(chooser, words + more, each, size=(10, 25), glue=" "))
    return [line for lines in zip(*columns, strict=True) for line in lines][:count]


def _crossed(chooser: random.Random, words: Sequence[str]) -> str:
    """Invent a word from the beginning of one word and the end of another."""
    first, second = chooser.choice(words), chooser.choice(words)
    return first[: (len(first) + 1) // 2] + second[len(second) // 2 :]


def _marked(chooser: random.Random, word: str) -> str:
    """Add punctuation or a capital letter to one word in six."""
    style = chooser.randrange(24)
    plain = (f"{word},", f"{word}.", word.capitalize(), f"({word})")
    return plain[style] if style < len(plain) else word


def _fragments(chooser: random.Random, text: str, size: tuple[int, int]) -> list[str]:
    starts = [chooser.randrange(len(text) - size[1]) for _ in range(_WORDS_PER_SCRIPT)]
    return [text[start : start + chooser.randint(*size)] for start in starts]


def _composed(
    chooser: random.Random, words: Sequence[str], count: int, *, size: tuple[int, int], glue: str
) -> list[str]:
    # Frequency 1 / rank, as for the words of running text.
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    lines: dict[str, None] = {}
    while len(lines) < count:
        chosen = chooser.choices(words, cum_weights=weights, k=chooser.randint(*size))
        lines[glue.join(chosen)] = None
    return list(lines)


class Texts:
    """Different texts of an exact number of tokens, the same in every process."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._words = [word for word in vocabulary if word.isascii() and word.isalpha()]
        self._random = random.Random(7)

    def of(self, tokens: int) -> str:
        """Return random whole words of the vocabulary, with a full stop as every 12th token."""
        words = self._random.choices(self._words, k=tokens)
        for place in range(12 - 1, tokens, 12):
            words[place] = "."
        return " ".join(words)

    def boxes(self, slug: str, tokens: int) -> dict[str, str]:
        """Return the contents of a page's text boxes that give this many input tokens."""
        if slug == "next_sentence":  # 3 of the tokens are [CLS], [SEP] and [SEP]
            half = (tokens - 3) // 2
            return {"text": self.of(half), "text_pair": self.of(tokens - 3 - half)}
        if slug == "qa":
            question = self.of(min(8, tokens // 3))
            length = tokens - 3 - len(question.split())
            return {"question": question, "text": self.of(length)}
        if slug in {"fill_mask", "why"}:
            return {"text": f"{self.of(tokens - 4)} [MASK] ."}
        if slug == "senses":  # in every sentence the word of the first example
            count = min(6, tokens // 6)
            sizes = [tokens * n // count for n in range(count + 1)]
            lines = [f"{self.of(end - start - 4)} bank ." for start, end in pairwise(sizes)]
            return {"text": "\n".join([*lines[: count // 2], "", *lines[count // 2 :]])}
        words = _words_of(slug)
        return {"text": " ".join([self.of(tokens - 2 - len(words)), *words])}


def _words_of(slug: str) -> list[str]:
    """Return what the boxes of one line ask for in the text, as the first example has it.

    Home, "", has no task.
    """
    from app.declared import declared  # which the tokenizer's benchmark does not need

    if not slug:
        return []
    task = declared(slug)
    asked = (each.key for each in task.parameters if each.required and each.field.lines == 1)
    return [str(task.examples[0].values[key]) for key in asked]
