"""Prompts, parsing and grading; no model needed."""

import json
import random
import re

import pytest
from santasim.eval import questions, ruler
from santasim.eval.errors import InputError
from santasim.eval.methods import label, parse_method
from santasim.eval.words import distinct


def words(prompt):
    return len(prompt.user.split())


@pytest.mark.parametrize("name", ruler.RULER)
@pytest.mark.parametrize("length", [400, 1500])
def test_a_prompt_fills_its_length_and_repeats(name, length):
    task = ruler.RULER[name]
    prompt = task.sized(1, 3, length, words)
    assert length - 40 < words(prompt) <= length
    assert prompt == task.sized(1, 3, length, words)
    assert prompt != task.sized(1, 4, length, words)
    assert prompt != task.sized(2, 3, length, words)
    assert json.loads(json.dumps(prompt.gold)) == prompt.gold


def test_a_length_that_is_too_short_is_refused():
    with pytest.raises(InputError, match="--length: got 10; allowed: at least"):
        ruler.RULER["qa1"].sized(1, 0, 10, words)


def test_needles_are_in_the_text_once():
    prompt = ruler.RULER["niah"].prompt(1, 0, 100)
    assert len(set(prompt.gold)) == 4
    assert all(prompt.user.count(number) == 1 for number in prompt.gold)


@pytest.mark.parametrize("size", [60, 500, 4000])
def test_the_gold_words_are_the_most_frequent(size):
    for index in range(20):
        prompt = ruler.RULER["fwe"].prompt(1, index, size)
        text = prompt.user.split("\n\n")[1].split()
        counts = sorted(((text.count(word), word) for word in set(text)), reverse=True)
        assert {word for _, word in counts[:3]} == set(prompt.gold)
        assert counts[2][0] > counts[3][0]


@pytest.mark.parametrize("name", ["qa1", "qa2"])
def test_the_answer_follows_from_the_documents_alone(name):
    for index in range(20):
        prompt = ruler.RULER[name].prompt(1, index, 60)
        subject = re.search(r"does (?:the )?(.+) (?:stand|work)\?$", prompt.user).group(1)
        if name == "qa2":
            (subject,) = re.findall(rf"{subject} works at the (.+?)\.\n", prompt.user + "\n")
        assert re.findall(rf"The {subject} stands in the town of (\w+)\.", prompt.user) == [prompt.gold]
        assert len(re.findall(prompt.gold, prompt.user, re.IGNORECASE)) == 1


def test_no_invented_word_is_a_part_of_another():
    found = distinct(random.Random(1), 300)
    assert not any(a != b and a in b for a in found for b in found)


@pytest.mark.parametrize("grade, answer, gold, score", [
    (ruler.grade_needle, "12, 34 and 12, 56, 78; 90", ["12", "34", "78", "90"], 0.75),
    (ruler.grade_needle, "99 98 97 96 12", ["12", "34", "56", "78"], 0),
    (ruler.grade_needle, "", ["1", "2", "3", "4"], 0),
    (ruler.grade_frequent_words, "Kram, DOLIX", ["kram", "dolix", "pon"], 2 / 3),
    (ruler.grade_frequent_words, "ponies", ["kram", "dolix", "pon"], 0),
    (ruler.grade_question, "in VELDRA.", "Veldra", 1),
    (ruler.grade_question, "Veldr", "Veldra", 0)])
def test_grades(grade, answer, gold, score):
    assert grade(answer, gold) == score


@pytest.mark.parametrize("parse, answer, found", [
    (questions.parse_number_llama, "So 3 + 4\n\n1,234 apples 5\n\n", "1,234"),
    (questions.parse_number_llama, "it is -7\nand that is all", "-7"),
    (questions.parse_number_llama, "", None),
    (questions.parse_number_llama, "none", None),
    (questions.parse_number_deepseek, "\\boxed{1} then \\boxed{\\text{a} 1,200}", "1,200"),
    (questions.parse_number_deepseek, "the result is 12.50", "12.50"),
    (questions.parse_number_deepseek, "\\boxed{3", "3"),
    (questions.parse_letter_llama, "A\nis wrong\n(c)", "C"),
    (questions.parse_letter_llama, "B\n--", "B"),
    (questions.parse_letter_llama, "\n", None),
    (questions.parse_letter_deepseek, "\\boxed{B} or \\boxed{ d}", "D"),
    (questions.parse_letter_deepseek, "c or 1", "C"),
    (questions.parse_letter_deepseek, "", None)])
def test_parsing(parse, answer, found):
    assert parse(answer) == found


def test_numbers_are_equal_by_value():
    assert questions.same_number("1,200", "1200")
    assert questions.same_number("12.0", "12")
    assert not questions.same_number(None, "0")
    assert not questions.same_number("1", "2")


def test_boxes_are_balanced():
    assert questions.boxed("\\boxed{a{b}c} \\boxed{d") == "a{b}c"
    assert questions.boxed("none") is None


def test_questions_and_choices_are_read(tmp_path):
    path = tmp_path / "gsm8k.jsonl"
    path.write_text('{"question": "1 + 1?", "answer": "one and one\\n#### 2"}\n')
    (record,) = questions.read_gsm8k(path)
    task = questions.question_task("gsm8k", "deepseek")
    assert task.prompt(record).user == ("1 + 1?\n\nPlease reason step by step, and put your final "
                                        "numeric answer within \\boxed{}.")
    assert task.grade("\\boxed{2}", record["gold"]) == 1
    assert task.grade("", record["gold"]) == 0
    path = tmp_path / "mmlu.jsonl"
    path.write_text('{"question": "Which?", "choices": ["p", "q", "r", "s"], "answer": 2}\n')
    table = tmp_path / "mmlu.csv"
    table.write_text("Which?,p,q,r,s,C\n")
    assert questions.read_mmlu(path) == questions.read_mmlu(table)
    task = questions.question_task("mmlu", "llama")
    (record,) = questions.read_mmlu(path)
    assert task.prompt(record).user == "Which?\nA. p\nB. q\nC. r\nD. s"
    assert task.grade("I think\nC", record["gold"]) == 1


@pytest.mark.parametrize("read, name, text, message", [
    (questions.read_gsm8k, "x.jsonl", None, "No such file"),
    (questions.read_gsm8k, "x.jsonl", "", "no question"),
    (questions.read_gsm8k, "x.jsonl", "{", "x.jsonl:1: not JSON"),
    (questions.read_gsm8k, "x.jsonl", '{"question": 1, "answer": "#### 1"}', "x.jsonl:1: allowed"),
    (questions.read_gsm8k, "x.jsonl", '{"question": "a", "answer": "1"}', 'no number after "####"'),
    (questions.read_mmlu, "x.jsonl", '{"question": "a", "choices": ["p"], "answer": 0}', "x.jsonl:1"),
    (questions.read_mmlu, "x.jsonl",
     '{"question": "a", "choices": ["p", "q", "r", "s"], "answer": 4}', "x.jsonl:1"),
    (questions.read_mmlu, "x.csv", "a,b\n", "x.csv:1: got 2 columns"),
    (questions.read_mmlu, "x.csv", "a,p,q,r,s,E\n", "x.csv:1: allowed")])
def test_wrong_data_is_refused(tmp_path, read, name, text, message):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError) as caught:
        read(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_methods():
    method = parse_method("golden:values=strat,samples=64+32,scores=bernoulli-group,bernoulli=4")
    assert method.samples == (64, 32)
    assert label(method.configuration()) == "strat S by layer, mean 48 bernoulli-group B=4"
    assert label(parse_method("golden:values=dense").configuration()) == "dense"
    assert label(parse_method("sdpa").configuration()) == "sdpa"
    for text in ("", "dense", "sdpa:samples=1", "golden:samples", "golden:samples=a", "golden:",
                 "golden:samples=1,samples=2", "golden:bernoulli=1+2", "cuda:values=sys"):
        with pytest.raises(InputError, match="--method"):
            parse_method(text)
