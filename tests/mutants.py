"""Mutation tests: small faults in drawings and downloads, each of which a test must detect.

    python -m tests.mutants                  # run all entries
    python -m tests.mutants heatmap "bars"   # run those whose names contain one of the words
    python -m tests.mutants --list           # only check that every entry still fits the code

Every change is made in a temporary copy of the tree, never in place. An entry is *seen* if its
tests pass without the change and fail with it, *unseen* if they pass with it, and *stale* if its
old text does not occur exactly once or its tests do not run. The exit status is 1 unless all
entries are seen.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = (".git", ".venv", ".scratch", "runs", "__pycache__", ".*_cache")
_PATIENCE = 300  # time limit in seconds for the tests of one entry

# Locations of the code and its tests: change only these two tables when files move.
FILES = {
    "attention": "app/features/attention/view_text.py",
    "attention task": "app/features/attention/task.py",
    "attention numbers": "app/features/attention/result_views.py",
    "attention cell": "app/features/attention/view_cell.py",
    "attention files": "app/features/attention/view_files.py",
    "attention_pictures": "app/features/attention/view_pictures.py",
    "declared": "app/declared/tasks.py",
    "faces json": "app/faces/paper/json.py",
    "faces text": "app/faces/paper/text.py",
    "usable models": "app/engine/models/usable.py",
    "fill_mask": "app/features/fill_mask/view.py",
    "head_habits": "app/features/attention/view_habits.py",
    "html": "app/words/html.py",
    "curves": "app/words/curves.py",
    "model card curves": "app/features/model_card/view_curves.py",
    "leanings": "app/features/model_card/view_leanings.py",
    "model_card": "app/features/model_card/view.py",
    "ner": "app/features/ner/view.py",
    "ner_gold": "app/features/ner/view_agreement.py",
    "ner_text": "app/features/ner/view_text.py",
    "lines": "app/words/lines.py",
    "ner_pieces": "app/features/ner/view_pieces.py",
    "next_sentence": "app/features/next_sentence/view.py",
    "sentence order": "app/features/next_sentence/view_order.py",
    "many pairs": "app/features/next_sentence/view_pairs.py",
    "reliability": "app/words/reliability.py",
    "classification": "app/features/classification/view.py",
    "multiple_choice": "app/features/multiple_choice/view.py",
    "qa": "app/features/qa/view_text.py",
    "qa_charts": "app/features/qa/view_charts.py",
    "qa task": "app/features/qa/task.py",
    "finetune": "app/features/lab/view_finetune.py",
    "finetune task": "app/features/lab/task_finetune_run.py",
    "kernels": "bert_core/model/kernels.py",
    "sizes": "bert_core/model/sizes.py",
    "packed": "bert_core/text/packed.py",
    "variants": "app/features/variants/view.py",
    "tokenizer": "app/features/tokenizer/view.py",
    "tokenizer_compare": "app/features/tokenizer/view_compare.py",
    "tokenizer_cuts": "app/features/tokenizer/view_cuts.py",
    "tokenizer_input": "app/features/tokenizer/view_input.py",
    "tokenizer_steps": "app/features/tokenizer/view_steps.py",
    "verified": "app/features/model_card/view_verified.py",
    "components": "app/faces/streamlit/components.py",
    "controls": "app/faces/streamlit/controls.py",
    "examples": "app/faces/streamlit/examples.py",
    "heads": "app/faces/streamlit/features/attention.py",
    "show": "app/faces/streamlit/show.py",
    "state": "app/faces/streamlit/state.py",
    "fill_mask pair": "app/features/fill_mask/view_pair.py",
    "fill_mask surprise": "app/features/fill_mask/view_surprise.py",
    "fill_mask together": "app/features/fill_mask/view_together.py",
    "gaps": "bert_core/reading/gaps.py",
    "pictures": "app/words/pictures.py",
    "curve drawings": "app/words/curves.py",
    "panel": "app/words/panel.py",
    "matrix": "app/words/matrix.py",
    "pixels": "app/words/pixels.py",
    "input": "app/features/input/view.py",
    "senses": "app/features/senses/view.py",
    "senses result": "app/features/senses/result.py",
    "xray overview": "app/features/xray/view_overview.py",
    "xray switches": "app/features/xray/view_switches.py",
    "xray lens": "app/features/xray/view_lens.py",
    "xray run": "app/features/xray/task_run.py",
    "xray ranking": "app/features/xray/task_ranking.py",
    "lab": "app/features/lab/view.py",
    "lab curves": "app/features/lab/view_curves.py",
    "lab inside": "app/features/lab/view_inside.py",
    "lab words": "app/features/lab/view_words.py",
    "lab controls": "app/faces/streamlit/features/lab.py",
    "lab live": "app/faces/streamlit/features/lab_live.py",
    "lab task": "app/features/lab/task.py",
    "turns": "app/engine/compute/turns.py",
    "why": "app/features/why/view.py",
    "why text": "app/features/why/view_text.py",
    "why duel": "app/features/why/view_duel.py",
    "why texts": "app/features/why/task_texts.py",
    "grid.js": "assets/components/attention_grid.js",
    "heatmap.js": "assets/components/attention_heatmap.js",
    "lines.js": "assets/components/attention_lines.js",
    "cache": "bert_core/checkpoints/sources/cache.py",
    "address": "bert_core/checkpoints/sources/address.py",
    "hub": "bert_core/checkpoints/sources/hub.py",
    "hub_client": "bert_core/checkpoints/sources/hub_client.py",
    "transfer": "bert_core/checkpoints/sources/transfer.py",
    "vectors": "app/engine/vectors.py",
}
TESTS = {
    "address": "tests/bert_core/checkpoints/test_address.py",
    "attention page": "tests/pages/test_attention_page.py",
    "attention task": "tests/app/features/attention/test_task.py",
    "attention files": "tests/app/features/attention/test_files.py",
    "attention views": "tests/app/features/attention/test_view.py",
    "declared": "tests/app/declared/test_tasks.py",
    "faces json": "tests/app/faces/paper/test_json.py",
    "faces text": "tests/app/faces/paper/test_text.py",
    "faces answers": "tests/app/faces/paper/test_answers.py",
    "faces catalog": "tests/app/faces/test_catalog.py",
    "drawings": "tests/e2e/test_component_drawings.py",
    "examples": "tests/pages/test_examples.py",
    "fill_mask": "tests/app/features/fill_mask/test_task.py",
    "fill_mask page": "tests/pages/test_fill_mask_page.py",
    "fill_mask tabs": "tests/app/features/fill_mask/test_tabs.py",
    "gaps": "tests/bert_core/reading/test_gaps.py",
    "head_habits": "tests/app/features/attention/test_habits.py",
    "html": "tests/app/words/test_html.py",
    "hub": "tests/bert_core/checkpoints/test_hub.py",
    "kit": "tests/app/faces/streamlit/test_streamlit_kit.py",
    "model_card": "tests/app/features/model_card/test_model_card.py",
    "model_card page": "tests/pages/test_model_card_page.py",
    "ner_gold": "tests/app/features/ner/test_gold.py",
    "ner views": "tests/app/features/ner/test_view.py",
    "lines": "tests/app/words/test_lines.py",
    "next_sentence": "tests/app/features/next_sentence/test_task.py",
    "sentence order": "tests/app/features/next_sentence/test_order.py",
    "many pairs": "tests/app/features/next_sentence/test_more.py",
    "classification": "tests/app/features/classification/test_classification.py",
    "multiple_choice": "tests/app/features/multiple_choice/test_multiple_choice.py",
    "pictures": "tests/app/words/test_pictures.py",
    "qa views": "tests/app/features/qa/test_view.py",
    "finetune": "tests/app/features/lab/test_finetune.py",
    "kernels": "tests/bert_core/model/test_kernels.py",
    "kernels memory": "tests/bert_core/model/test_kernels_memory.py",
    "sizes": "tests/bert_core/model/test_sizes.py",
    "packed": "tests/bert_core/text/test_packed.py",
    "variants": "tests/app/features/variants/test_view.py",
    "tokenizer": "tests/app/features/tokenizer/test_task.py",
    "tokenizer families": "tests/app/features/tokenizer/test_families.py",
    "matrix": "tests/app/words/test_matrix.py",
    "pixels": "tests/app/words/test_pixels.py",
    "curves": "tests/app/words/test_curves.py",
    "input": "tests/app/features/input/test_view.py",
    "senses": "tests/app/features/senses/test_view.py",
    "senses task": "tests/app/features/senses/test_task.py",
    "xray": "tests/app/features/xray/test_view.py",
    "xray task": "tests/app/features/xray/test_task.py",
    "lab views": "tests/app/features/lab/test_view.py",
    "lab task": "tests/app/features/lab/test_task.py",
    "lab page": "tests/pages/test_lab_page.py",
    "turns": "tests/app/engine/compute/test_turns.py",
    "why": "tests/app/features/why/test_view.py",
    "why task": "tests/app/features/why/test_task.py",
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A small fault in the code.

    Attributes:
        name: what goes wrong, in words.
        file: key of the file in `FILES`.
        old: the text to replace; it occurs exactly once in the file.
        new: what replaces it.
        tests: the tests that must fail: a key of `TESTS`, optionally followed by "::" and the
            name of a test.
    """

    name: str
    file: str
    old: str
    new: str
    tests: str

    @property
    def path(self) -> str:
        """The path of the file from the root of the tree."""
        return FILES[self.file]

    @property
    def node(self) -> str:
        """The pytest node id of the tests."""
        file, colons, name = self.tests.partition("::")
        return f"{TESTS[file]}{colons}{name}"


MUTANTS: tuple[Mutant, ...] = (
    # Not detected by the tests of the first version.
    Mutant(
        "the frame around the best span is transposed",
        "qa_charts",
        "grid.place(first - rows.start, last - columns.start)",
        "grid.place(last - columns.start, first - rows.start)",
        "qa views::test_the_frame_is_around_the_row_of_the_start_and_the_column_of_the_end",
    ),
    Mutant(
        "the widths of the two bars are exchanged",
        "next_sentence",
        "values = [result.probabilities[label] for label in labels]",
        "values = [result.probabilities[1 - label] for label in labels]",
        "next_sentence::test_each_bar_is_as_long_as_its_own_probability",
    ),
    Mutant(
        "the colours of the named word and of all others are exchanged",
        "pictures",
        'return "bx-svg-mark" if marked and marked[number] else "bx-svg-bar"',
        'return "bx-svg-bar" if marked and marked[number] else "bx-svg-mark"',
        "fill_mask::test_the_bar_of_the_named_word_and_no_other_is_marked",
    ),
    Mutant(
        "underlines of overlapping entities share a row",
        "ner_text",
        "if ends[n] <= left",
        "if ends[n] >= left",
        "ner views::test_ways_that_differ_are_drawn_in_rows_that_do_not_meet",
    ),
    Mutant(
        "the rectangle of an entity begins after its first letter",
        "ner_text",
        'tag("rect", x=_n(box.left), y=_n(top)',
        'tag("rect", x=_n(box.left + 5), y=_n(top)',
        "ner views::test_a_rectangle_covers_exactly_the_letters_of_its_entity",
    ),
    Mutant(
        "words of right-to-left writing are placed from left to right",
        "lines",
        "order.reverse()",
        "pass",
        "lines::test_right_to_left_lines_begin_at_the_right_and_keep_english_in_order",
    ),
    Mutant(
        "a number that is the highest allowed is refused",
        "declared",
        "(high is not None and value > high)",
        "(high is not None and value >= high)",
        "declared::test_a_value_arrives_in_its_own_type",
    ),
    Mutant(
        "true is a whole number",
        "declared",
        "if type(value) is not self.kind:",
        "if not isinstance(value, self.kind):",
        "declared::test_a_wrong_value_is_refused_with_a_reason",
    ),
    Mutant(
        "what is no number goes into JSON",
        "faces json",
        "return value if math.isfinite(value) else None",
        "return value",
        "faces json::test_an_object_has_its_fields_and_no_arrays",
    ),
    Mutant(
        "arrays that were not asked for go into JSON",
        "faces json",
        '"ndarray" not in str(hints[each.name])',
        '"ndarrays" not in str(hints[each.name])',
        "faces json::test_an_object_has_its_fields_and_no_arrays",
    ),
    Mutant(
        "steps of a run are drawn evenly",
        "lab curves",
        "(low, top), bend_x=math.sqrt, bend_y=bend)",
        "(low, top), bend_y=bend)",
        "lab views::test_a_loss_is_drawn_where_the_axis_says",
    ),
    Mutant(
        "the guess by frequency is drawn at the blind guess",
        "lab curves",
        '(start.unigram, "guess by frequency")',
        '(start.log_v, "guess by frequency")',
        "lab views::test_a_loss_is_drawn_where_the_axis_says",
    ),
    Mutant(
        "the best possible is drawn at the floor",
        "lab curves",
        '(each.ceiling, "ceiling")',
        '(each.floor, "ceiling")',
        "lab views::test_accuracy_has_a_row_with_floor_and_ceiling_for_each_phenomenon",
    ),
    Mutant(
        "the attention of the next head is drawn",
        "lab inside",
        "point.attention[layer, head]",
        "point.attention[layer, head - 1]",
        "lab views::test_attention_is_as_deep_as_its_share",
    ),
    Mutant(
        "a word that has no room is left out",
        "lab inside",
        'panel.dot(a, b, 2.5, class_="bx-lab-word")',
        "pass",
        "lab views::test_every_word_is_drawn_once_inside_the_frame",
    ),
    Mutant(
        "a wrong guess is ticked",
        "lab",
        "right = best == probe.answer",
        "right = best != probe.answer",
        "lab views::test_gaps_show_the_guess_and_what_is_there",
    ),
    Mutant(
        "a change for the worse is called better",
        "lab words",
        "BETTER if way > before + _ALIKE else WORSE if",
        "WORSE if way > before + _ALIKE else BETTER if",
        "lab views::test_a_change_is_judged_against_the_run_without_it",
    ),
    Mutant(
        "anyone stops the lab of a link",
        "lab controls",
        "mine = lab is not None and lab.owner == visitor_name()",
        "mine = lab is not None",
        "lab page::test_the_lab_of_another_visitor_can_be_watched_but_not_stopped",
    ),
    Mutant(
        "looking back keeps the newest model",
        "lab live",
        "return None if step is None or step >= newest else step",
        "return None",
        "lab page::test_a_run_at_its_end_says_how_the_prediction_came_out_and_can_be_taken_along",
    ),
    Mutant(
        "a server that trains nothing trains for the API",
        "lab task",
        "if not allowed():",
        "if False:",
        "lab task::test_a_server_that_trains_nothing_answers_recorded_runs_only",
    ),
    Mutant(
        "a visitor names a folder",
        "usable models",
        "    if isinstance(name, str) and name in table:\n        return table[name]",
        "    if isinstance(name, str):\n        return table.get(name, next(iter(table.values())))",
        "faces answers::test_the_name_of_a_visitor_is_never_a_folder",
    ),
    Mutant(
        "a terminal gets the characters of a picture's words as they are",
        "fill_mask",
        "parts += [visible(before), _filled(",
        "parts += [before, _filled(",
        "faces catalog::test_nothing_of_a_visitors_becomes_markup_or_a_control_character",
    ),
    Mutant(
        "wide letters count as narrow ones",
        "faces text",
        'in "WF")',
        'in "?")',
        "faces text::test_a_picture_is_its_words_and_its_table",
    ),
    Mutant(
        "a text that exactly fits its picture is called averaged",
        "attention numbers",
        "averaged=max(len(rows), len(columns)) > side",
        "averaged=max(len(rows), len(columns)) >= side",
        "attention task::test_a_text_as_long_as_its_picture_is_drawn_number_by_number",
    ),
    Mutant(
        "the start of the resumed part is not checked",
        "address",
        "same = int(match[1]) == here and",
        "same =",
        "address::test_the_rest_of_a_file_is_taken_only_from_where_the_part_ends",
    ),
    # Pictures and markup.
    Mutant(
        "end words are named after start words",
        "qa_charts",
        "grid.columns(_names(result, columns,",
        "grid.columns(_names(result, rows,",
        "qa views::test_rows_are_start_words_and_columns_end_words",
    ),
    Mutant(
        "the first row is at the bottom",
        "matrix",
        '"y": f"{self.top + row * self.height',
        '"y": f"{self.top + (3 - row) * self.height',
        "matrix::test_a_cell_and_its_number_are_between_the_names_of_its_row_and_column",
    ),
    Mutant(
        "the band over the best span lacks its last word",
        "qa_charts",
        "panel.span((first - 0.5, last + 0.5)",
        "panel.span((first - 0.5, last - 0.5)",
        "qa views::test_the_band_covers_every_word_of_the_best_span",
    ),
    Mutant(
        "likely pairs are pale",
        "matrix",
        'fill_opacity=f"{depth:.4f}"',
        'fill_opacity=f"{1 - depth:.4f}"',
        "qa views::test_likelier_pairs_are_darker_up_to_the_likeliest",
    ),
    Mutant(
        "the axis of probabilities ends below the highest point",
        "qa_charts",
        "if highest <= step), 1.0)",
        "if highest <= 2 * step), 1.0)",
        "qa views::test_the_axis_of_the_curves_has_room_for_their_highest_point",
    ),
    Mutant(
        "bars are as long as what is missing",
        "qa_charts",
        "bar_length(share / longest, room)",
        "bar_length((1 - share) / longest, room)",
        "qa views::test_each_answer_has_a_bar_as_long_as_its_probability",
    ),
    Mutant(
        "a window is drawn to read all that it sees",
        "qa_charts",
        '(read.reads[number], "reads")',
        '(read.windows[number], "reads")',
        "qa views::test_the_windows_are_drawn_to_scale_with_what_each_reads",
    ),
    Mutant(
        "words light up with the pieces before them",
        "qa task",
        "lasts + 1]) + reading.offset",
        "lasts + 1]) + reading.offset - 1",
        "qa views::test_every_word_of_the_passage_carries_the_keys_of_its_pieces",
    ),
    Mutant(
        "a span counts as rejected at its beginning",
        "qa",
        "return each.place[1] if each.place else -1",
        "return each.place[0] if each.place else -1",
        "qa views::test_a_rejected_span_says_why_in_its_place",
    ),
    Mutant(
        "accepted and rejected answers look alike",
        "qa",
        '("bx-qa-guess", "not accepted")',
        '("bx-qa-best", "not accepted")',
        "qa views::test_an_answer_that_is_not_accepted_does_not_look_like_one_that_is",
    ),
    Mutant(
        "the sentence of the answer is marked one too late",
        "qa",
        'if number == own else ""',
        'if number == own + 1 else ""',
        "qa views::test_a_missing_sentence_is_compared",
    ),
    Mutant(
        "the best candidate is at the bottom",
        "pictures",
        "y = number * (_BAR + _GAP)",
        "y = (len(values) - 1 - number) * (_BAR + _GAP)",
        "pictures::test_bars_do_not_overlap_and_fit_the_drawing",
    ),
    Mutant(
        "bars are labelled with the wrong words",
        "pictures",
        "zip(names, values, printed, strict=True)",
        "zip(names[::-1], values, printed, strict=True)",
        "pictures::test_bars_do_not_overlap_and_fit_the_drawing",
    ),
    Mutant(
        "a mask is labelled with the beginning of the text",
        "fill_mask",
        "slot.before[-_NEAR:]",
        "slot.before[:_NEAR]",
        "fill_mask::test_a_mask_is_named_by_the_words_next_to_it",
    ),
    Mutant(
        "the axis ends below the longest bar",
        "fill_mask",
        "most = max(values)",
        "most = min(values)",
        "fill_mask::test_the_axis_holds_the_longest_bar",
    ),
    Mutant(
        "the words shown are said to have all probability",
        "fill_mask",
        "shown = sum(candidate.probability for candidate in slot.candidates)",
        "shown = sum(candidate.probability for candidate in _rows(slot))",
        "fill_mask::test_the_named_word_is_none_of_the_words_shown",
    ),
    Mutant(
        "the depth of a mark does not show its score",
        "ner",
        "weight=entity.score",
        "weight=1 - entity.score",
        "ner views::test_marks_carry_label_line_and_score_and_not_only_a_colour",
    ),
    Mutant(
        "the legend counts what is shown as found",
        "ner",
        "{shown[kind]:,} of {found[kind]:,}",
        "{found[kind]:,} of {found[kind]:,}",
        "ner views::test_the_legend_counts_what_is_found_and_what_is_shown",
    ),
    Mutant(
        "colours and lines repeat together, so kinds look alike",
        "ner_text",
        "% len(COLOURS)",
        "% STROKES",
        "ner views::test_every_kind_of_thirty_has_a_look_of_its_own",
    ),
    Mutant(
        "the likeliest label is at the bottom",
        "ner_pieces",
        "key=lambda row: -row[1]",
        "key=lambda row: row[1]",
        "ner views::test_the_bars_of_a_piece_are_its_labels_best_first",
    ),
    Mutant(
        "the card of a piece has the label of the least likely",
        "ner_pieces",
        "best = int(pieces.probabilities[number].argmax())",
        "best = int(pieces.probabilities[number].argmin())",
        "ner views::test_the_strip_shows_each_piece_its_label_and_whether_it_counts",
    ),
    Mutant(
        "precision and recall are exchanged",
        "ner_gold",
        "(counts.precision, counts.recall, counts.f1)",
        "(counts.recall, counts.precision, counts.f1)",
        "ner_gold::test_the_page_tells_figures_counts_and_differences",
    ),
    Mutant(
        "a yes has the look of a no",
        "next_sentence",
        '"" if result.follows else "bx-against"',
        '"bx-against" if result.follows else ""',
        "next_sentence::test_the_verdict_says_what_the_model_answers_and_no_more",
    ),
    Mutant(
        "both sentences have the colour of the first",
        "next_sentence",
        "bx-seg{min(segment, 1)}",
        "bx-seg{min(segment, 0)}",
        "next_sentence::test_each_piece_has_the_look_and_the_link_of_its_own_segment",
    ),
    Mutant(
        "the matrix of sentences is transposed",
        "sentence order",
        "share = float(result.follows[a, b])",
        "share = float(result.follows[b, a])",
        "sentence order::test_each_cell_is_as_deep_as_its_probability",
    ),
    Mutant(
        "the frame of a true step is at the sentence before",
        "sentence order",
        '"bx-svg-true" if b == a + 1 else',
        '"bx-svg-true" if b == a - 1 else',
        "sentence order::test_each_cell_is_as_deep_as_its_probability",
    ),
    Mutant(
        "how sure and how right are exchanged",
        "reliability",
        "(max(least, each.stated), each.right)",
        "(max(least, each.right), each.stated)",
        "many pairs::test_dots_are_where_their_numbers_say",
    ),
    Mutant(
        "labels are not sorted",
        "classification",
        "for number in result.ranking]",
        "for number in range(len(result.labels))]",
        "classification::test_bars_are_sorted_and_as_long_as_their_probabilities",
    ),
    Mutant(
        "all choices but the best are marked",
        "multiple_choice",
        "number == result.best for number",
        "number != result.best for number",
        "multiple_choice::test_each_bar_is_as_long_as_its_own_probability",
    ),
    Mutant(
        "neighbouring pieces have one colour",
        "tokenizer",
        "bx-c{piece.position % COLOURS}",
        "bx-c{piece.position // COLOURS}",
        "tokenizer::test_neighbours_differ_in_colour_and_texts_in_look",
    ),
    Mutant(
        "pieces of the second text look like those of the first",
        "tokenizer",
        '"bx-second": piece.side == 1',
        '"bx-second": piece.side == 2',
        "tokenizer::test_neighbours_differ_in_colour_and_texts_in_look",
    ),
    Mutant(
        "the meter is full where the text is short",
        "tokenizer_input",
        "share = min(1.0, found / limit)",
        "share = min(1.0, limit / found)",
        "tokenizer::test_the_meter_is_as_full_as_the_model_is",
    ),
    Mutant(
        "a look that failed is drawn as a hit",
        "tokenizer_steps",
        "{'bx-hit' if attempt.found else 'bx-miss'}",
        "{'bx-miss' if attempt.found else 'bx-hit'}",
        "tokenizer::test_a_hit_and_a_miss_look_as_they_are_called",
    ),
    Mutant(
        "layers and heads of the map are exchanged",
        "head_habits",
        '"pictures": encoded(pixels)',
        '"pictures": encoded(pixels.T)',
        "head_habits::test_every_cell_of_the_map_has_the_colour_of_its_own_head",
    ),
    Mutant(
        "the lightest colour of the map has the wrong number",
        "head_habits",
        "np.nan_to_num(means) / top",
        "np.nan_to_num(means) / np.nanmax(means, initial=1.0)",
        "head_habits::test_every_cell_of_the_map_has_the_colour_of_its_own_head",
    ),
    Mutant(
        "a dot is beside the name of another occupation",
        "leanings",
        "odds, y = lean.log_odds, at + 0.5",
        "odds, y = rows[-1 - at].log_odds, at + 0.5",
        "model_card::test_every_occupation_has_its_own_row_and_both_ends_of_its_interval",
    ),
    Mutant(
        "the two ends of an occupation's interval are one",
        "leanings",
        "(odds.low, odds.high), y",
        "(odds.low, odds.low), y",
        "model_card::test_every_occupation_has_its_own_row_and_both_ends_of_its_interval",
    ),
    Mutant(
        "a figure's goal is marked where its floor is",
        "model_card",
        "panel.diamond(figure.goal",
        "panel.diamond(figure.floor or 0",
        "model_card::test_every_figure_has_its_bar_its_interval_and_its_aims",
    ),
    Mutant(
        "a figure's bar ends at its interval",
        "model_card",
        "(0, figure.share)",
        "(0, figure.high)",
        "model_card::test_every_figure_has_its_bar_its_interval_and_its_aims",
    ),
    Mutant(
        "a learning curve is drawn upside down",
        "model card curves",
        "(0, end), (0, top))",
        "(0, end), (top, 0))",
        "model_card::test_a_chart_is_drawn_again_with_every_point_and_its_numbers",
    ),
    Mutant(
        "a part of a bar is as long as the one before it",
        "variants",
        "for number, value in enumerate(split.parts):",
        "for number, value in enumerate((split.parts[0], *split.parts[:3])):",
        "variants::test_every_bar_is_as_long_as_its_number",
    ),
    Mutant(
        "a local layer is drawn as if it saw everything",
        "variants",
        "if seen < tokens",
        "if seen > tokens",
        "variants::test_the_reach_is_drawn_to_scale",
    ),
    Mutant(
        "a gate is not counted",
        "sizes",
        "into = 2 if self.gated else 1",
        "into = 1",
        "sizes::test_every_part_has_as_many_parameters_as_in_the_reference_class",
    ),
    Mutant(
        "shared layers are computed once",
        "sizes",
        "4 * deep, 4 * self.layers)",
        "4 * deep, 4 * deep)",
        "sizes::test_as_many_operations_as_pytorch_counts",
    ),
    Mutant(
        "kernels: short texts have no bias",
        "kernels",
        "    result += bias.unsqueeze(1)\n",
        "",
        "kernels::test_a_short_text_is_projected_feature_by_feature",
    ),
    Mutant(
        "kernels: the scale is left out for texts one by one",
        "kernels",
        "beta=0, alpha=scale, out=scores",
        "beta=0, alpha=1.0, out=scores",
        "kernels::test_a_short_text_has_the_results_of_the_peer_and_of_a_batch",
    ),
    Mutant(
        "kernels: every text is masked as the first",
        "kernels",
        "scores += biases[row]",
        "scores += biases[0]",
        "kernels::test_attention_in_every_way_is_the_definition",
    ),
    Mutant(
        "kernels: weights are laid out once and for all",
        "kernels",
        "    result = torch.mm(weight, x.t())",
        "    weight = vars(bias).setdefault('_laid_out', weight.clone())\n"
        "    result = torch.mm(weight, x.t())",
        "kernels::test_a_short_text_sees_every_change_of_the_weights",
    ),
    Mutant(
        "kernels: blocks begin anywhere",
        "kernels",
        "start = -block.ctypes.data % (4 * _LINE)",
        "start = 0",
        "kernels memory::test_memory_has_the_shape_and_type_that_was_asked_for",
    ),
    Mutant(
        "packed: fillers are tokens",
        "packed",
        '    return list(compress(values, array("i", packed)[2::4]))',
        "    return values",
        "packed::test_joined_stretches_keep_ids_places_and_words",
    ),
    Mutant(
        "the two ends of the interval of fine-tuning are one",
        "finetune",
        "(result.low, result.high), stroke",
        "(result.low, result.low), stroke",
        "finetune::test_the_curves_follow_the_numbers",
    ),
    Mutant(
        "fine-tuning changes the model it began with",
        "finetune task",
        "encoder = copy.deepcopy(base, shared)",
        "encoder = base",
        "finetune::test_the_model_it_began_with_is_unchanged",
    ),
    Mutant(
        "a piece is not linked to the pieces of the same characters",
        "tokenizer",
        "sharing.get(piece.position, (piece.position,))",
        "(piece.position,)",
        "tokenizer::test_pieces_of_the_same_characters_light_up_together",
    ),
    Mutant(
        "the frame of a merge is one symbol off",
        "tokenizer_cuts",
        "at in (pair, pair + 1)",
        "at in (pair + 1, pair + 2)",
        "tokenizer families::test_each_row_of_merges_frames_the_pair_that_is_merged_next",
    ),
    Mutant(
        "each way to cut a word is compared with itself",
        "tokenizer_cuts",
        "signed(each.score - best[0].score, 2))",
        "signed(each.score - each.score, 2))",
        "tokenizer families::test_the_ways_to_cut_a_word_are_listed_with_their_scores",
    ),
    Mutant(
        "the cells of the input are one place off",
        "tokenizer_input",
        "edges[at], edges[end]",
        "edges[at], edges[end - 1]",
        "tokenizer::test_the_rows_of_the_input_are_drawn_at_their_pieces",
    ),
    Mutant(
        "a comma begins a line without its word",
        "tokenizer_input",
        "return piece.continues or (mark and piece.start == before.end)",
        "return piece.continues",
        "tokenizer::test_a_mark_stays_on_the_line_of_its_word",
    ),
    Mutant(
        "what is the same is marked as a difference",
        "tokenizer_compare",
        '"bx-tok-differs" if part.differs else "bx-tok-same"',
        '"bx-tok-same" if part.differs else "bx-tok-differs"',
        "tokenizer::test_differences_between_casings_are_marked_on_both_sides",
    ),
    Mutant(
        "a piece is its own nearest neighbour",
        "vectors",
        "left_out = sorted({own, *engine.never_used(len(rows))})",
        "left_out = sorted(engine.never_used(len(rows)))",
        "tokenizer::test_neighbours_by_embedding_have_the_largest_cosines",
    ),
    Mutant(
        "checks that failed are folded away",
        "verified",
        "is_open=_wrong(checked.files) > 0",
        "is_open=_wrong(checked.files) == 0",
        "model_card::test_a_table_is_open_only_where_something_in_it_disagrees",
    ),
    Mutant(
        "lines end where they should begin",
        "attention_pictures",
        "[links.row, links.column, links.head,",
        "[links.column, links.row, links.head,",
        "attention views::test_lines_carry_their_numbers_and_the_chosen_head",
    ),
    Mutant(
        "shares of attention are read by column",
        "attention",
        "shares.shares.astype(np.float64)",
        "shares.shares.T.astype(np.float64)",
        "attention views::test_shares_read_the_same_in_words_and_in_the_table",
    ),
    Mutant(
        "the weakest links are listed",
        "attention",
        "last = slice(None, -_LINKS - 1, -1)",
        "last = slice(None, _LINKS, None)",
        "attention views::test_lines_read_the_same_in_words_and_in_the_table",
    ),
    Mutant(
        "an attribute is not escaped",
        "html",
        "{escape(str(value))}",
        "{str(value)}",
        "html::test_a_text_stays_a_text",
    ),
    # The frame around pages.
    Mutant(
        "a pick of true and false counts as numbers",
        "components",
        "all(type(value) is int for value in numbers.values())",
        "all(isinstance(value, int) for value in numbers.values())",
        "attention page::test_a_pick_is_taken_only_when_it_is_whole_numbers",
    ),
    Mutant(
        "a head that the model does not have is marked",
        "heads",
        "0 <= picked < size",
        "0 <= picked <= size",
        "model_card page::test_only_heads_that_the_model_has_are_marked",
    ),
    Mutant(
        "what was computed for another text stays",
        "controls",
        "return found if subject == about else None",
        "return found",
        "kit::test_what_was_computed_shows_only_beside_what_it_belongs_to",
    ),
    Mutant(
        "examples that are answered wrongly have the sign of right",
        "examples",
        '"✓ " if mark.right else "✗ "',
        '"✗ " if mark.right else "✓ "',
        "examples::test_signs_and_words_say_how_the_bundled_model_does",
    ),
    Mutant(
        "an example does not clear what another one has set",
        "examples",
        "put(slug, key, type(value)())",
        "pass",
        "examples::test_an_example_clears_what_only_another_one_has_set",
    ),
    Mutant(
        "a text that exactly fits the address is left out of it",
        "state",
        "len(quote(text)) <= limit",
        "len(quote(text)) < limit",
        "kit::test_the_address_takes_what_fits_when_percent_encoded",
    ),
    Mutant(
        "undo is offered for a text that was changed since",
        "state",
        "if after is not None and st.session_state.get(key) == after:",
        "if after is not None:",
        "fill_mask page::test_a_text_that_was_changed_since_is_not_taken_back",
    ),
    Mutant(
        "charts on a dark background have the text colour for a light one",
        "show",
        'theme = "dark" if st.context.theme.type == "dark" else "light"',
        'theme = "light" if st.context.theme.type == "dark" else "dark"',
        "kit::test_letters_of_charts_stand_out_from_the_theme_in_use",
    ),
    Mutant(
        "a click on a word picks the next one",
        "fill_mask",
        "mask_word(result.text, result.words[clicked])",
        "mask_word(result.text, result.words[clicked - 1])",
        "fill_mask page::test_a_click_hides_the_word_at_that_place_only",
    ),
    Mutant(
        "a difference in favour of the first word points to the second",
        "fill_mask pair",
        "(top, -top)",
        "(-top, top)",
        "fill_mask tabs::test_differences_lie_left_and_right_of_the_line_on_one_scale",
    ),
    Mutant(
        "the differences of each mask have a scale of their own",
        "fill_mask pair",
        "top = max(abs(row.difference) for row in every) or 1.0",
        "top = max(abs(row.difference) for row in rows) or 1.0",
        "fill_mask tabs::test_differences_lie_left_and_right_of_the_line_on_one_scale",
    ),
    Mutant(
        "bars of surprise hang from the line above",
        "fill_mask surprise",
        "(0, piece.surprise)",
        "(top - piece.surprise, top)",
        "fill_mask tabs::test_each_piece_has_a_bar_as_tall_as_its_surprise",
    ),
    Mutant(
        "the surest mask is the least sure one",
        "gaps",
        "sure = entropy.argmin(dim=1)",
        "sure = entropy.argmax(dim=1)",
        "gaps::test_the_surest_mask_is_filled_first",
    ),
    Mutant(
        "joint fillings forget what was filled before",
        "gaps",
        "totals = (filled.sum(1)[:, None] + logs).flatten()",
        "totals = logs.flatten()",
        "gaps::test_a_beam_over_the_whole_vocabulary_equals_exhaustive_search",
    ),
    # Downloads.
    Mutant(
        "a part of a file of another length is resumed",
        "address",
        "noted.total in (-1, total)",
        "noted.total is not None",
        "address::test_the_rest_of_a_file_of_another_length_is_not_taken",
    ),
    Mutant(
        "a part of another version is resumed",
        "address",
        "if same and now == noted.etag else None",
        "if same else None",
        "address::test_the_rest_of_another_version_is_not_taken",
    ),
    Mutant(
        "the rest overwrites the beginning",
        "address",
        "file.seek(here)",
        "file.seek(0)",
        "address::test_a_line_that_breaks_is_carried_on",
    ),
    Mutant(
        "a truncated file counts as complete",
        "address",
        "if version.total not in (-1, self._size()):",
        "if version.total not in (-1, version.total):",
        "address::test_less_than_the_rest_is_not_taken_for_all_of_it",
    ),
    Mutant(
        "there is no timeout for the server",
        "address",
        "stream=True, timeout=_TIMEOUTS)",
        "stream=True, timeout=None)",
        "address::test_a_slow_server_is_not_waited_for_for_ever",
    ),
    Mutant(
        "bytes already here do not count towards the size limit",
        "address",
        "received = here",
        "received = 0",
        "address::test_what_is_here_counts_towards_the_largest_size",
    ),
    Mutant(
        "a redirect from https to http is followed",
        "address",
        'any(hop.startswith("http:") for hop in hops)',
        'all(hop.startswith("http:") for hop in hops)',
        "address::test_no_redirect_leads_from_https_to_http",
    ),
    Mutant(
        "the file may change between two requests for it",
        "address",
        '{"Range": f"bytes={here}-", "If-Range": noted.mark}',
        '{"Range": f"bytes={here}-"}',
        "address::test_a_line_that_breaks_is_carried_on",
    ),
    Mutant(
        "a weak ETag vouches for a part",
        "address",
        "return self.etag if self.etag.startswith('\"') else self.modified",
        "return self.etag or self.modified",
        "address::test_only_a_strong_etag_or_a_date_vouches_for_a_part",
    ),
    Mutant(
        "a key in an address is repeated in messages",
        "address",
        'return urlunsplit((found.scheme, place, found.path, "", ""))',
        'return urlunsplit((found.scheme, place, found.path, found.query, ""))',
        "address::test_passwords_and_keys_of_an_address_are_not_repeated",
    ),
    Mutant(
        "attempts that make progress are counted too",
        "address",
        "if self._size() > before:",
        "if self._size() < before:",
        "address::test_a_line_that_breaks_again_and_again_is_carried_on_while_something_arrives",
    ),
    Mutant(
        "space is checked for the archive but not for its contents",
        "address",
        "check_space(self._part.parent, 2 * total - here, self._what)",
        "check_space(self._part.parent, total - here, self._what)",
        "address::test_an_archive_needs_room_for_itself_and_for_what_is_in_it",
    ),
    Mutant(
        "a stalled download is not ended in time",
        "transfer",
        "elif time.monotonic() - since > patience:",
        "elif time.monotonic() - since > 30 * patience:",
        "address::test_a_trickle_is_given_up",
    ),
    Mutant(
        "the end is not reported",
        "transfer",
        "        report(meter.done, meter.total)\n",
        "        pass\n",
        "address::test_progress_is_told_in_the_thread_that_asked",
    ),
    Mutant(
        "cancelling does nothing",
        "transfer",
        "if cancel is not None and cancel.is_set():",
        "if cancel is None and cancel:",
        "address::test_called_off_it_ends_at_once_and_leaves_nothing",
    ),
    Mutant(
        "a slow transfer counts as stalled",
        "transfer",
        "            seen, since = meter.done, time.monotonic()\n",
        "            seen = meter.done\n",
        "address::test_a_slow_transfer_is_no_standstill",
    ),
    Mutant(
        "no reserve of disk space is required",
        "cache",
        "if needed + _MARGIN > free:",
        "if needed > free:",
        "address::test_a_margin_is_left_free",
    ),
    Mutant(
        "two processes can hold the same lock",
        "cache",
        "    while not _acquired(lock):",
        "    while _acquired(lock) and False:",
        "address::test_waiting_for_another_process_can_be_cancelled",
    ),
    Mutant(
        "a record is written in place",
        "cache",
        "with replacing(path) as draft:",
        "for draft in (path,):",
        "address::test_a_record_is_never_seen_half_written",
    ),
    Mutant(
        "only the beginning of an address is hashed",
        "cache",
        'text.encode("utf-8", "surrogatepass")',
        'text[:24].encode("utf-8", "surrogatepass")',
        "address::test_addresses_have_keys_of_their_own",
    ),
    Mutant(
        "large files are not compared with their digest",
        "hub",
        "if file.sha256:",
        "if file.sha256 and not file.sha256:",
        "hub::test_a_model_and_its_tokenizer_are_loaded_by_their_id",
    ),
    Mutant(
        "no digest is compared",
        "hub",
        "return digest.hexdigest() == expected",
        "return len(digest.hexdigest()) == len(expected)",
        "hub::test_wrong_bytes_of_the_right_size_are_removed",
    ),
    Mutant(
        "a file that arrived wrong stays in the cache",
        "hub",
        "    path.unlink(missing_ok=True)\n    blob.unlink(missing_ok=True)",
        "    path.unlink(missing_ok=True)",
        "hub::test_wrong_bytes_of_the_right_size_are_removed",
    ),
    Mutant(
        "a branch is recorded with another commit",
        "hub",
        "draft.write_text(plan.commit,",
        "draft.write_text(plan.revision,",
        "hub::test_with_a_dead_server_the_cache_serves",
    ),
    Mutant(
        "space is checked for the cached files, not for the missing ones",
        "hub",
        "check_space(plan.cache, plan.bytes,",
        "check_space(plan.cache, plan.total_bytes - plan.bytes,",
        "hub::test_a_model_needs_room_for_what_is_not_here_yet",
    ),
    Mutant(
        "the client's settings come back too early",
        "hub_client",
        "            _users -= 1\n            if not _users:",
        "            _users -= 1\n            if _users:",
        "hub::test_the_client_s_settings_are_given_back",
    ),
    Mutant(
        "after a server error the copy is not used",
        "hub_client",
        "status == 429 or status >= 500",
        "status == 429 or status > 500",
        "hub::test_with_a_troubled_server_the_cache_serves",
    ),
    Mutant(
        "a download of unknown length is taken as complete",
        "address",
        "return replace(noted, total=total) if",
        "return noted if",
        "address::test_less_than_the_rest_is_not_taken_for_all_of_it",
    ),
    # Components in the browser.
    Mutant(
        "the red of the small pictures is reversed",
        "grid.js",
        "    image.data[4 * i] = palette[colour];",
        "    image.data[4 * i] = palette[255 * 3 - colour];",
        "drawings::test_every_small_picture_has_the_pixels_of_its_own_head",
    ),
    Mutant(
        "each small picture is that of the next head",
        "grid.js",
        "pictures[index * size + i]",
        "pictures[((index + 1) * size + i) % pictures.length]",
        "drawings::test_every_small_picture_has_the_pixels_of_its_own_head",
    ),
    Mutant(
        "small pictures are transposed",
        "grid.js",
        "pictures[index * size + i]",
        "pictures[index * size + (i % data.rows) * data.columns + Math.floor(i / data.rows)]",
        "drawings::test_every_small_picture_has_the_pixels_of_its_own_head",
    ),
    Mutant(
        "the two scales of the grid are exchanged",
        "grid.js",
        "(data.common ? peak : 1)",
        "(data.common ? 1 : peak)",
        "drawings::test_every_small_picture_has_the_pixels_of_its_own_head",
    ),
    Mutant(
        "the scale of the legend is reversed",
        "grid.js",
        "linear-gradient(90deg,",
        "linear-gradient(270deg,",
        "drawings::test_the_scale_leads_from_the_paper_of_the_theme_to_its_top",
    ),
    Mutant(
        "the head below the chosen one is marked",
        "grid.js",
        'cell.setAttribute("aria-selected", String(chosen.has(index)));',
        'cell.setAttribute("aria-selected", String(chosen.has(index - data.heads)));',
        "drawings::test_the_chosen_head_is_marked_and_for_the_mean_its_whole_layer",
    ),
    Mutant(
        "for the mean only one head is marked",
        "grid.js",
        "const chosen = new Set(data.chosen);",
        "const chosen = new Set(data.chosen.slice(0, 1));",
        "drawings::test_the_chosen_head_is_marked_and_for_the_mean_its_whole_layer",
    ),
    Mutant(
        "up and down go by layers instead of heads",
        "grid.js",
        "ArrowUp: -data.heads, ArrowDown: data.heads",
        "ArrowUp: -data.layers, ArrowDown: data.layers",
        "drawings::test_keys_walk_the_grid_and_pick",
    ),
    Mutant(
        "End goes to the layer below",
        "grid.js",
        "next = (layer + 1) * data.heads - 1;",
        "next = (layer + 1) * data.heads;",
        "drawings::test_keys_walk_the_grid_and_pick",
    ),
    Mutant(
        "the arrow at the end of a row goes to the next row",
        "grid.js",
        "if (sideways && Math.floor(next / data.heads) !== layer) return;",
        "",
        "drawings::test_keys_walk_the_grid_and_pick",
    ),
    Mutant(
        "a click picks another head",
        "grid.js",
        "layer: Math.floor(index / data.heads),\n      head: index % data.heads,",
        "layer: index % data.heads,\n      head: Math.floor(index / data.heads),",
        "drawings::test_keys_walk_the_grid_and_pick",
    ),
    Mutant(
        "the readout has the note of another head",
        "grid.js",
        "head ${index % data.heads}: ${data.notes[index]}",
        "head ${index % data.heads}: ${data.notes[index % data.layers]}",
        "drawings::test_a_cell_says_the_numbers_of_its_head_when_pointed_at_and_by_its_name",
    ),
    Mutant(
        "low and high bytes are exchanged",
        "heatmap.js",
        "(planes[i] + 256 * planes[size + i])",
        "(256 * planes[i] + planes[size + i])",
        "drawings::test_every_cell_has_the_colour_of_its_value",
    ),
    Mutant(
        "the peak does not count in the colours",
        "heatmap.js",
        "const share = value / (data.top || 1);",
        "const share = value;",
        "drawings::test_every_cell_has_the_colour_of_its_value",
    ),
    Mutant(
        "the colour scale is reversed",
        "heatmap.js",
        "return Math.max(0, Math.min(255, Math.round(255 * seen)));",
        "return 255 - Math.max(0, Math.min(255, Math.round(255 * seen)));",
        "drawings::test_every_cell_has_the_colour_of_its_value",
    ),
    Mutant(
        "screens with more pixels get the coarse picture",
        "heatmap.js",
        "canvas.width = wide * dense;",
        "canvas.width = wide;",
        "drawings::test_every_cell_has_the_colour_of_its_value",
    ),
    Mutant(
        "large pictures are smoothed",
        "heatmap.js",
        "context.imageSmoothingEnabled = false;",
        "context.imageSmoothingEnabled = true;",
        "drawings::test_every_cell_has_the_colour_of_its_value",
    ),
    Mutant(
        "row labels are at the upper edge of their rows",
        "heatmap.js",
        "context.translate(plan.left - 6, plan.top + (r + 0.5) * plan.high);",
        "context.translate(plan.left - 6, plan.top + r * plan.high);",
        "drawings::test_numbers_and_labels_stand_at_their_cells_and_can_be_read",
    ),
    Mutant(
        "column labels are those of the rows",
        "heatmap.js",
        "data.columns.forEach((label, c) => {",
        "data.rows.slice(0, data.columns.length).forEach((label, c) => {",
        "drawings::test_numbers_and_labels_stand_at_their_cells_and_can_be_read",
    ),
    Mutant(
        "numbers are in the transposed cells",
        "heatmap.js",
        "plan.left + ((i % C) + 0.5) * plan.wide,",
        "plan.left + ((i % R) + 0.5) * plan.wide,",
        "drawings::test_numbers_and_labels_stand_at_their_cells_and_can_be_read",
    ),
    Mutant(
        "light numbers are on light cells",
        "heatmap.js",
        '> 140 ? "#111" : "#fff"',
        '> 140 ? "#fff" : "#111"',
        "drawings::test_numbers_and_labels_stand_at_their_cells_and_can_be_read",
    ),
    Mutant(
        "numbers are cut instead of rounded",
        "heatmap.js",
        "values[i].toFixed(2).slice(1)",
        "values[i].toFixed(4).slice(1, 4)",
        "drawings::test_numbers_and_labels_stand_at_their_cells_and_can_be_read",
    ),
    Mutant(
        "the line across is where the one down should be",
        "heatmap.js",
        "const y = plan.top + data.rowBreak * plan.high;",
        "const y = plan.top + data.columnBreak * plan.high;",
        "drawings::test_the_second_text_begins_below_and_beside_its_own_lines",
    ),
    Mutant(
        "the second text begins one column late",
        "heatmap.js",
        "const x = plan.left + data.columnBreak * plan.wide;",
        "const x = plan.left + (data.columnBreak + 1) * plan.wide;",
        "drawings::test_the_second_text_begins_below_and_beside_its_own_lines",
    ),
    Mutant(
        "the cell read out is the transposed one",
        "heatmap.js",
        "const value = values[r * data.columns.length + c];",
        "const value = values[c * data.columns.length + r];",
        "drawings::test_a_cell_that_is_pointed_at_is_framed_and_read_out",
    ),
    Mutant(
        "positions are counted within what is shown",
        "heatmap.js",
        "(${data.rowsAt[r]}) looks at",
        "(${r}) looks at",
        "drawings::test_a_cell_that_is_pointed_at_is_framed_and_read_out",
    ),
    Mutant(
        "the pointer is one label too far to the left",
        "heatmap.js",
        "const c = Math.floor((event.clientX - box.left - parts.plan.left)",
        "const c = Math.floor((event.clientX - box.left - parts.plan.top)",
        "drawings::test_a_cell_that_is_pointed_at_is_framed_and_read_out",
    ),
    Mutant(
        "the frame is around the transposed cell",
        "heatmap.js",
        "const x = plan.left + cell.c * plan.wide;",
        "const x = plan.left + cell.r * plan.wide;",
        "drawings::test_a_cell_that_is_pointed_at_is_framed_and_read_out",
    ),
    Mutant(
        "Home goes to the first row",
        "heatmap.js",
        "move({ r: from.r, c: 0 })",
        "move({ r: 0, c: from.c })",
        "drawings::test_arrows_walk_the_heat_map_to_its_edges",
    ),
    Mutant(
        "arrows run over the last row",
        "heatmap.js",
        "clamp(from.r + down, R - 1)",
        "clamp(from.r + down, R)",
        "drawings::test_arrows_walk_the_heat_map_to_its_edges",
    ),
    Mutant(
        "a pinned cell is counted within what is shown",
        "heatmap.js",
        "row: data.rowsAt[r] ?? -1, column: data.columnsAt[c] ?? -1",
        "row: r, column: c",
        "drawings::test_a_click_pins_a_cell_and_another_on_it_lets_it_go",
    ),
    Mutant(
        "a second click leaves the pin",
        "heatmap.js",
        "parts.pinned = same ? null : cell;",
        "parts.pinned = cell;",
        "drawings::test_a_click_pins_a_cell_and_another_on_it_lets_it_go",
    ),
    Mutant(
        "the pinned cell of the link is the transposed one",
        "heatmap.js",
        "data.cell ? { r: data.cell[0], c: data.cell[1] }",
        "data.cell ? { r: data.cell[1], c: data.cell[0] }",
        "drawings::test_a_click_pins_a_cell_and_another_on_it_lets_it_go",
    ),
    Mutant(
        "the rows are lit for another row's pieces",
        "heatmap.js",
        "const on = shares(data.rowKeys[r]);",
        "const on = shares(data.rowKeys[(r + 1) % data.rows.length]);",
        "drawings::test_rows_and_columns_light_up_with_the_rest_of_the_page",
    ),
    Mutant(
        "the logarithmic scale has another number of decades",
        "heatmap.js",
        "const DECADES = 3;",
        "const DECADES = 4;",
        "drawings::test_the_legend_names_the_own_peak_and_the_floor_of_a_logarithmic_scale",
    ),
    Mutant(
        "the large preview is that of the first head",
        "grid.js",
        "paint(large.firstChild, data, index, pictures, palette);",
        "paint(large.firstChild, data, 0, pictures, palette);",
        "drawings::test_the_head_under_the_pointer_is_also_shown_large",
    ),
    Mutant(
        "numbers of the saved heat map are transposed",
        "attention files",
        'tag("text", _printed(weights[r, c]),',
        'tag("text", _printed(weights[c, r]),',
        "attention files::test_the_saved_heat_map_prints_its_numbers_and_names_its_model",
    ),
    Mutant(
        "numbers of the saved heat map are black on dark cells",
        "attention files",
        "fill=_ink(int(number[r, c])))",
        "fill=_ink(0))",
        "attention files::test_the_saved_heat_map_prints_its_numbers_and_names_its_model",
    ),
    Mutant(
        "cells of the saved heat map are transposed",
        "attention files",
        'x=f"{left + c * side:.2f}", y=f"{head + r * high:.2f}"',
        'x=f"{left + r * side:.2f}", y=f"{head + c * high:.2f}"',
        "attention files::test_every_cell_of_the_svg_has_its_place_colour_and_value",
    ),
    Mutant(
        "bars of the query point down where it is positive",
        "attention cell",
        "(0, value), class_=kind",
        "(0, -value), class_=kind",
        "attention files::test_the_steps_of_a_cell_lead_to_its_number",
    ),
    Mutant(
        "words give what their pieces give together",
        "attention task",
        "sums /= counts[:, None]",
        "sums /= 1",
        "attention task::test_words_add_up_keys_and_average_queries",
    ),
    Mutant(
        "numbers below a ten-thousandth become nothing",
        "heatmap.js",
        "if (value !== 0 && value < 0.0001) return value.toExponential(1);",
        "",
        "drawings::test_small_numbers_do_not_become_nothing",
    ),
    Mutant(
        "lines go from what is looked at to what looks",
        "lines.js",
        "const [row, column, head, weight]",
        "const [column, row, head, weight]",
        "drawings::test_every_link_is_one_line_of_its_heads_colour_and_its_own_strength",
    ),
    Mutant(
        "lines begin at the upper edge of their words",
        "lines.js",
        "const middle = (index) => (index + 0.5) * tall;",
        "const middle = (index) => index * tall;",
        "drawings::test_every_link_is_one_line_of_its_heads_colour_and_its_own_strength",
    ),
    Mutant(
        "weights are ten times too large",
        "lines.js",
        "weight: weight / 10000",
        "weight: weight / 1000",
        "drawings::test_every_link_is_one_line_of_its_heads_colour_and_its_own_strength",
    ),
    Mutant(
        "a head has the colour of another",
        "lines.js",
        "data.colours[Math.floor(key / BUCKETS)]",
        "data.colours[(Math.floor(key / BUCKETS) + 1) % data.colours.length]",
        "drawings::test_every_link_is_one_line_of_its_heads_colour_and_its_own_strength",
    ),
    Mutant(
        "weak lines are drawn on top",
        "lines.js",
        ".sort((a, b) => (a[0] % BUCKETS) - (b[0] % BUCKETS))",
        ".sort((a, b) => (b[0] % BUCKETS) - (a[0] % BUCKETS))",
        "drawings::test_every_link_is_one_line_of_its_heads_colour_and_its_own_strength",
    ),
    Mutant(
        "weak lines are dark and strong ones pale",
        "lines.js",
        "const strength = ((key % BUCKETS) + 0.5) / BUCKETS;",
        "const strength = 1 - ((key % BUCKETS) + 0.5) / BUCKETS;",
        "drawings::test_every_link_is_one_line_of_its_heads_colour_and_its_own_strength",
    ),
    Mutant(
        "a word lights up the lines of the other side",
        "lines.js",
        '(word.side === "from" ? link.row : link.column) === word.index',
        '(word.side === "from" ? link.column : link.row) === word.index',
        "drawings::test_a_word_that_is_pointed_at_lights_up_its_own_lines_and_values",
    ),
    Mutant(
        "the weakest links of a word are listed as its strongest",
        "lines.js",
        ".slice(-3).reverse()",
        ".slice(0, 3).reverse()",
        "drawings::test_a_word_that_is_pointed_at_lights_up_its_own_lines_and_values",
    ),
    Mutant(
        "a word has the value of its weakest line",
        "lines.js",
        "Math.max(reached.get(other) ?? 0, link.weight)",
        "Math.min(reached.get(other) ?? 1, link.weight)",
        "drawings::test_a_word_that_is_pointed_at_lights_up_its_own_lines_and_values",
    ),
    Mutant(
        "heads that are switched off count in the values",
        "lines.js",
        "if (!parts.active.has(link.head) || !touches(link, word)) continue;\n        const other",
        "if (!touches(link, word)) continue;\n        const other",
        "drawings::test_a_word_lights_up_nothing_of_heads_that_are_switched_off",
    ),
    Mutant(
        "the second text begins one word late",
        "lines.js",
        "index === list.gap",
        "index === list.gap + 1",
        "drawings::test_words_stand_where_their_lines_begin_and_end",
    ),
    Mutant(
        "marks of special tokens are those of the other side",
        "lines.js",
        "special: data.columnsSpecial",
        "special: data.rowsSpecial",
        "drawings::test_words_stand_where_their_lines_begin_and_end",
    ),
    Mutant(
        "the button of a head switches all others off",
        "lines.js",
        "else parts.active.add(head);",
        "else parts.active = new Set([head]);",
        "drawings::test_heads_are_switched_on_and_off_by_their_own_buttons",
    ),
    Mutant(
        "another head leaves the old one drawn",
        "lines.js",
        "parts.active = new Set(data.active);",
        "parts.active = new Set([...(parts.active ?? []), ...data.active]);",
        "drawings::test_heads_are_switched_on_and_off_by_their_own_buttons",
    ),
    Mutant(
        "the arrow to the right stays in its column",
        "lines.js",
        "goTo(lists[1], index)",
        "goTo(lists[0], index)",
        "drawings::test_keys_walk_the_words_and_pin_them",
    ),
    Mutant(
        "a pin goes when another word is pointed at",
        "lines.js",
        "if (!parts.pinned) refresh();",
        "parts.pinned = null; refresh();",
        "drawings::test_keys_walk_the_words_and_pin_them",
    ),
    Mutant(
        "the colours of the signs are exchanged",
        "pixels",
        "POSITIVE if step > 0 else NEGATIVE",
        "NEGATIVE if step > 0 else POSITIVE",
        "pixels::test_sign_is_colour_and_size_is_opacity",
    ),
    Mutant(
        "what is beyond the scale wraps round",
        "pixels",
        "np.clip(values, -1, 1) * STEPS",
        "values * STEPS",
        "pixels::test_sign_is_colour_and_size_is_opacity",
    ),
    Mutant(
        "larger numbers are drawn lower",
        "panel",
        "return bottom - (bottom - top) *",
        "return top + (bottom - top) *",
        "curves::test_points_are_in_proportion_to_the_numbers",
    ),
    Mutant(
        "every row shows the word vector",
        "input",
        "patch(vector[piece])",
        "patch(vectors[0][piece])",
        "input::test_every_vector_is_a_patch_in_the_order_of_the_sum",
    ),
    Mutant(
        "LayerNorm has the scale of the sum",
        "input",
        "full[row == len(vectors) - 1]",
        "full[0]",
        "input::test_every_vector_is_a_patch_in_the_order_of_the_sum",
    ),
    Mutant(
        "the last pieces are never shown",
        "input",
        "max(0, min(at - SHOWN // 2, len(result) - SHOWN))",
        "max(0, min(at - SHOWN // 2, len(result) - SHOWN - 1))",
        "input::test_the_picture_moves_with_the_chosen_piece",
    ),
    Mutant(
        "the arithmetic shows the first number always",
        "input",
        "_term(float(vectors[at, value]), name)",
        "_term(float(vectors[at, 0]), name)",
        "input::test_the_arithmetic_is_that_of_the_numbers_shown",
    ),
    Mutant(
        "work goes on after it is cancelled",
        "turns",
        "        if self._cancelled:\n            raise _Cancelled\n",
        "",
        "turns::test_an_exception_of_the_caller_cancels_the_work_at_that_step",
    ),
    Mutant(
        "bars against the answer rise as well",
        "why text",
        "y = axis if length < 0 else axis - tall",
        "y = axis - tall",
        "why::test_a_word_for_the_answer_rises_and_one_against_it_hangs",
    ),
    Mutant(
        "bars against the answer have no stripes",
        "why text",
        'if kind == "against":',
        'if kind == "for":',
        "why::test_a_sign_is_never_colour_alone",
    ),
    Mutant(
        "bars are not in proportion",
        "why text",
        "_TALL * abs(length)",
        "_TALL * abs(length) ** 0.5",
        "why::test_a_word_for_the_answer_rises_and_one_against_it_hangs",
    ),
    Mutant(
        "methods share one scale",
        "why",
        "scaled = lengths(story.scores)",
        "scaled = lengths(result.stories[0].scores)",
        "why::test_side_by_side_each_method_has_its_own_scale",
    ),
    Mutant(
        "the gauge shows the mean as the method",
        "why duel",
        "panel.dot(shown",
        "panel.dot(mean",
        "why::test_the_gauge_shows_the_verdict",
    ),
    Mutant(
        "curves run downwards",
        "panel",
        "return bottom - (bottom - top) *",
        "return top + (bottom - top) *",
        "why::test_curves_are_drawn_through_their_numbers",
    ),
    Mutant(
        "intervals are standard deviations",
        "why texts",
        " / len(rows) ** 0.5",
        "",
        "why task::test_the_duel_over_texts_averages_the_duels",
    ),
    Mutant(
        "the second axis points down",
        "panel",
        "return bottom - (bottom - top) *",
        "return top + (bottom - top) *",
        "senses::test_distances_in_the_plane_are_in_proportion",
    ),
    Mutant(
        "marks stay on each other",
        "senses",
        "moved[one] += push",
        "moved[one] += 0 * push",
        "senses::test_marks_that_would_cover_each_other_are_moved_and_tied_to_their_places",
    ),
    Mutant(
        "all groups have one shape",
        "senses",
        "    ][kind]",
        "    ][0]",
        "senses::test_groups_differ_in_shape_and_marks_are_linked_to_their_sentences",
    ),
    Mutant(
        "an occurrence is its own nearest",
        "senses result",
        "np.fill_diagonal(found, -np.inf)",
        "np.fill_diagonal(found, np.inf)",
        "senses task::test_groups_are_compared_pair_by_pair",
    ),
    Mutant(
        "cells are as deep as they are sure, not as they agree",
        "xray overview",
        "agreement = float(result.readings.agreement[column, at])",
        "agreement = float(result.readings.shares[column, at])",
        "xray::test_every_piece_of_every_layer_is_a_cell_as_deep_as_it_agrees",
    ),
    Mutant(
        "threads go the other way",
        "xray overview",
        "        (at, to, weight)\n        for at, looked",
        "        (to, at, weight)\n        for at, looked",
        "xray::test_threads_are_the_strongest_links_of_each_layer",
    ),
    Mutant(
        "the mark of before is drawn at now",
        "xray overview",
        "here = x + room * each.before",
        "here = x + room * each.probability",
        "xray::test_answers_are_bars_with_a_mark_where_they_were",
    ),
    Mutant(
        "the two bars are exchanged",
        "xray overview",
        '((changes.by_attention, "attention"), (changes.by_feed_forward, "forward"))',
        '((changes.by_attention, "forward"), (changes.by_feed_forward, "attention"))',
        "xray::test_bars_are_as_long_as_what_was_added",
    ),
    Mutant(
        "switches are numbered without the blocks",
        "xray switches",
        "names_of(parts[number] for number in numbers",
        "names_of(parts[number - 1] for number in numbers",
        "xray::test_the_switchboard_has_every_part_with_its_effect",
    ),
    Mutant(
        "the best rank is at the bottom",
        "xray lens",
        "(found.count, 1), bend_y",
        "(1, found.count), bend_y",
        "xray::test_ranks_are_drawn_on_a_logarithmic_scale",
    ),
    Mutant(
        "layers after the first part that is off are not read again",
        "xray run",
        "start = 1 + min(part.layer for part in text.off)",
        "start = 2 + min(part.layer for part in text.off)",
        "xray task::test_the_lens_of_switched_layers_is_the_librarys",
    ),
    Mutant(
        "what is needed most comes last",
        "xray ranking",
        "found.sort(key=lambda each: each.effect)",
        "found.sort(key=lambda each: -each.effect)",
        "xray task::test_the_ranking_is_what_happens_without_each_part",
    ),
)


def chosen(words: Sequence[str]) -> list[Mutant]:
    """Return the entries whose file and name contain one of the words; all if none."""
    return [
        mutant
        for mutant in MUTANTS
        if not words or any(word in f"{mutant.file}: {mutant.name}" for word in words)
    ]


def fault(mutant: Mutant) -> str:
    """Return why an entry no longer fits the code; "" if it fits."""
    path = ROOT / mutant.path
    if not path.is_file():
        return f"there is no {mutant.path}"
    count = path.read_text(encoding="utf-8").count(mutant.old)
    if count != 1:
        return f"its old text occurs {count} times in {mutant.path}, expected once"
    file, _, name = mutant.node.partition("::")
    path = ROOT / file
    if not path.is_file() or f"def {name}" not in path.read_text(encoding="utf-8"):
        return f"there is no {mutant.node}"
    return ""


def judge(mutants: Sequence[Mutant], tree: Path) -> Iterator[tuple[Mutant, str]]:
    """Make each change in a copy of the tree, run its tests there, and undo it.

    Yields:
        The entry, and "seen", "unseen" or "stale: " with the reason.
    """

    @cache
    def passes_unchanged(node: str) -> bool:
        return _run(node, tree) == 0

    for mutant in mutants:
        if why := fault(mutant):
            yield mutant, f"stale: {why}"
            continue
        if not passes_unchanged(mutant.node):
            yield mutant, f"stale: {mutant.node} does not pass without the change"
            continue
        path = tree / mutant.path
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            status = _run(mutant.node, tree)
        finally:
            path.write_text(text, encoding="utf-8")
        yield mutant, {0: "unseen", 1: "seen"}.get(status, f"stale: pytest ends with {status}")


def _run(node: str, tree: Path) -> int:
    """Run tests in a tree and return pytest's exit status, or 5 if all of them are skipped.

    Tests that time out count as failed.
    """
    # Bytecode is matched by second and size, so a stale file could hide a change.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", node, "-x", "-q", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, timeout=_PATIENCE
        )
    except subprocess.TimeoutExpired:
        return 1
    nothing_ran = done.returncode == 0 and " passed" not in done.stdout
    return 5 if nothing_ran else done.returncode


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("words", nargs="*", help="only entries whose names contain one of these")
    parser.add_argument("--list", action="store_true", help="check the entries, run no tests")
    asked = parser.parse_args()
    mutants = chosen(asked.words)
    if not mutants:
        parser.error(f"no entry's name contains {' or '.join(asked.words)}")
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        if not asked.list:
            shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        found = ((m, fault(m) or "fits") for m in mutants) if asked.list else judge(mutants, tree)
        for mutant, verdict in found:
            bad += verdict not in ("seen", "fits")
            sys.stdout.write(f"{verdict:7} {mutant.file}: {mutant.name}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(mutants) - bad} of {len(mutants)} are as they should be.\n")
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())
