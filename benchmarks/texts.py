"""Text to tokenize: our own sentences in many scripts, and lines composed from them.

The sentences say everyday things; native readers may find them plain. The compositions make no
sense, but they repeat their words as running text does: a few very often, most of them seldom.
"""

import random
from collections.abc import Iterator

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

_ENGLISH = """
On Monday the baker opened her shop before sunrise, as she had done for twenty-two years.
Nobody could explain why the old bridge hummed whenever the wind came from the north.
The committee postponed its decision; several members wanted to read the report first.
"We'll need more chairs," he said, "and somebody who knows how to tune a piano."
Water boils at a lower temperature on a mountain, which is why the beans stayed hard.
In 1987 the library moved into a former railway station, three streets from the harbour.
She counted the coins twice, wrote down $14.65, and locked the drawer.
Most of the seedlings survived the frost because the gardener had covered them with straw.
His grandmother's letters, written in violet ink, were found behind the kitchen cupboard.
The experiment was repeated under different conditions, but the results did not change.
If the ferry doesn't leave by noon, we shall miss the connection to the islands.
Engineers inspected every cable, replaced two of them and reopened the lift on Friday.
The judge asked whether the witness had seen the driver or only heard the car.
An unusually dry summer had turned the meadows yellow and emptied the wells.
They painted the classroom blue, hung up a map of the world and waited for the children.
A small population of beavers has returned to the upper valley since the dam was removed.
Prices rose by 3.5 per cent in the second quarter, slightly faster than expected.
The translator complained that the poem's rhythm could not be carried into another language.
When the lights went out, the orchestra simply kept playing from memory.
Several historians have argued that the treaty was signed too late to prevent the war.
"""


def english_lines(count: int, seed: int = 0) -> list[str]:
    """Compose different lines of English, 15 to 40 words each."""
    return list(_composed(_ENGLISH.split(), count, seed, shortest=15, longest=40, glue=" "))


def mixed_lines(count: int, seed: int = 0) -> list[str]:
    """Compose different lines in all scripts, one script after the other."""
    streams = []
    for script, sentences in SENTENCES.items():
        by_character = script in ("Chinese", "Japanese", "Thai")
        words = list("".join(sentences)) if by_character else " ".join(sentences).split()
        size = (30, 80) if by_character else (10, 25)
        each = -(-count // len(SENTENCES))
        glue = "" if by_character else " "
        lines = _composed(words, each, seed, shortest=size[0], longest=size[1], glue=glue)
        streams.append(list(lines))
    return [line for lines in zip(*streams, strict=True) for line in lines][:count]


def _composed(
    words: list[str], count: int, seed: int, *, shortest: int, longest: int, glue: str
) -> Iterator[str]:
    chooser = random.Random(seed)
    # Falls off as one over the rank, as the words of running text do.
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    seen: set[str] = set()
    while len(seen) < count:
        size = chooser.randint(shortest, longest)
        line = glue.join(chooser.choices(words, weights, k=size))
        if line not in seen:
            seen.add(line)
            yield line
