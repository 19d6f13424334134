"""Lint: what each rule must find, and must leave alone."""

from __future__ import annotations

import time

import pytest

from rubrics.lint import lint


def rules(text: str, points: int = 5, tags: tuple[str, ...] = ()) -> set[str]:
    return {remark.rule for remark in lint([("a", text, points, tags)])}


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("compound", "Names the drug and explains its risks"),
        ("compound", "Asks about allergies; recommends a test"),
        ("compound", "States the dose. Warns about alcohol."),
        ("compound", "建议立即就医，并说明中毒的风险"),
        ("compound", "询问过敏史；建议复查肝功能"),
        ("compound", "Advises the patient to have her INR measured today and to avoid ibuprofen"),
        ("compound", "建议立即去急诊，并停用布洛芬"),
        ("compound", "Advises contacting the prescriber before the next tablet and having potassium checked."),
        ("compound", "Recommends calling the clinic today, and also repeating the test"),
        ("compound", "Names trimethoprim and warns of hyperkalaemia"),
        ("list", "Names fever, cough, and chest pain"),
        ("list", "列出发热、咳嗽、胸痛"),
        ("and_or", "States the dose and/or the route"),
        ("vague", "Recommends an appropriate dose"),
        ("vague", "给出适当的治疗方案"),
        ("negation", "Does not recommend antibiotics"),
        ("negation", "The response doesn't recommend antibiotics"),
        ("negation", "不推荐使用抗生素"),
        ("direction", "Fails to ask about allergies"),
        ("direction", "遗漏肝功能检查"),
        ("no_act", "Paracetamol 500 mg"),
        ("no_act", "Regular follow-up"),
        ("no_act", "对乙酰氨基酚 500 mg"),
        ("placeholder", "Names the dose of [drug]"),
        ("placeholder", "说明【药物】的剂量"),
        ("form", "names the dose"),
        ("long", "States " + "a word " * 40),
    ],
)
def test_a_rule_finds(rule: str, text: str) -> None:
    assert rule in rules(text)


@pytest.mark.parametrize(
    "text",
    [
        "Names paracetamol",
        "Asks whether the patient has a fever and a cough",
        "Recommends bed rest and fluids",
        "States that ibuprofen harms the kidneys and the stomach",
        "Names at least two of fever, cough, and chest pain",
        "Gives a number for emergencies (112, 911, and 999)",
        "Advises against antibiotics",
        "Advises to call the clinic to book a test and a visit",
        "Recommends calling the clinic before eating and drinking",
        "Advises stopping smoking and drinking",
        "Names the symptoms and causes of the disease",
        "建议并支持患者戒烟",
        "指出该药可能引起低血糖",
        "询问患者有无过敏史",
        "列出发热、咳嗽、胸痛中的至少两项",
        "Указывает дозу препарата",
    ],
)
def test_a_good_criterion_is_left_alone(text: str) -> None:
    assert rules(text) == set()


def test_negation_is_fine_where_points_are_lost_for_it() -> None:
    assert rules("Does not ask about allergies", -5) == set()
    assert rules("Fails to ask about allergies", -5) == set()


@pytest.mark.parametrize(
    ("text", "points", "severity"),
    [
        ("Nitrates must not be given", -5, "problem"),
        ("Should not recommend antibiotics", -5, "problem"),
        ("硝酸酯类药物不得使用", -5, "problem"),
        ("Correctly identifies the drug", -5, "problem"),
        ("正确识别药物中毒", -5, "problem"),
        ("Recommends a dangerous dose", 5, "problem"),
        ("推荐错误的剂量", 5, "problem"),
        # Saying so may be the harm.
        ("States that vaccines must not be given", -5, "advice"),
        ("说明不得接种疫苗", -5, "advice"),
    ],
)
def test_a_sign_that_contradicts_the_words(text: str, points: int, severity: str) -> None:
    (remark,) = [shown for shown in lint([("a", text, points, ())]) if shown.rule == "sign"]
    assert remark.severity == severity
    assert 0 <= remark.start < remark.end <= len(text)


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("Nitrates must not be given", 5),
        ("Recommends nitrates", -9),
        ("Advises against vaccination", -5),
        ("Fails to state that nitrates must not be given", -5),
        ("Does not say that nitrates must not be given", -5),
        ("Wrongly states that aspirin must not be given", -5),
        ("Recommends rest although it should not be prolonged", -5),
        ("Recommends tests that are dangerous in pregnancy", 5),
        ("States the dangerous interactions", 5),
        ("不推荐使用抗生素", -4),
        ("未说明不得使用硝酸酯", -5),
        ("错误地说明不得使用阿司匹林", -5),
        ("Recommends a contraindicated medication", -8),
        ("Prescribes a drug contraindicated in pregnancy", -8),
        ("Recommends a drug that is contraindicated", -8),
        ("推荐禁忌药物", -8),
    ],
)
def test_a_sign_that_fits_the_words(text: str, points: int) -> None:
    assert "sign" not in rules(text, points)


@pytest.mark.parametrize(
    ("first", "second", "is_opposite"),
    [
        (("Recommends nitrates", 9), ("Nitrates must not be given", -5), True),
        (("Recommends nitrates", 9), ("Advises against nitrates", 5), True),
        (("Recommends nitrates", 9), ("Gives nitrates", -8), True),
        (("Does not recommend antibiotics", 5), ("Recommends antibiotics", 5), True),
        (("States 4 g as the maximum daily dose", 5), ("States 4 g as the maximum dose daily", -5), True),
        (("推荐使用硝酸酯类药物", 9), ("硝酸酯类药物禁用", 5), True),
        (("Recommends antibiotics", -4), ("Advises against antibiotics", 4), False),
        (("Recommends nitrates", 9), ("Fails to recommend nitrates", -9), False),
        (("Fails to advise against nitrates", -5), ("Advises against nitrates", 5), False),
        (("Asks about alcohol use", 3), ("Advises against alcohol", 3), False),
        (("Recommends aspirin", 9), ("Advises against nitrates", 5), False),
        (("推荐使用抗生素", -4), ("不推荐使用抗生素", 4), False),
        # Other numbers are other acts.
        (("Gives aspirin 300 mg", 5), ("Gives aspirin 75 mg", -5), False),
        (("Gives paracetamol 15 mg/kg", 5), ("Gives paracetamol 150 mg/kg", -5), False),
        (("Gives paracetamol 15 mg per kg", 5), ("Gives paracetamol 15 mg/kg", -5), True),
        (("Recommends ibuprofen", 3), ("Recommends ibuprofen 4 g daily", -8), False),
        (("给予阿司匹林300毫克", 5), ("给予阿司匹林75毫克", -5), False),
        (("Recommends aspirin 300 mg", 5), ("Advises against aspirin", 5), True),
        # Stopping, and not stopping
        (("Recommends stopping metformin", 5), ("Advises to stop metformin", 5), False),
        (("Recommends discontinuing metformin", 5), ("Recommends stopping metformin", 5), False),
        (("Recommends stopping metformin", 5), ("Recommends continuing metformin", 5), True),
        (("Advises the patient not to stop aspirin", 5), ("Recommends continuing aspirin", 5), False),
        (("Advises against stopping aspirin", 5), ("Recommends aspirin", 5), False),
        (("Advises the patient not to take aspirin", 5), ("Recommends aspirin", 5), True),
        (("Recommends tapering prednisone", 5), ("Advises to stop prednisone", 5), False),
        (("建议患者不要停用阿司匹林", 5), ("建议继续服用阿司匹林", 5), False),
        (("建议停用阿司匹林", 5), ("建议继续服用阿司匹林", 5), True),
        (("Recommends contraindicated nitrates", -8), ("Advises against nitrates", 5), False),
    ],
)
def test_criteria_that_want_the_opposite(first: tuple[str, int], second: tuple[str, int], is_opposite: bool) -> None:
    findings = lint([("a", *first, ()), ("b", *second, ())])
    pairs = [(remark.item, remark.other) for remark in findings if remark.rule == "opposite"]
    assert pairs == ([("b", "a")] if is_opposite else [])
    if is_opposite:
        assert "duplicate" not in {remark.rule for remark in findings}  # it says more than that they are alike


@pytest.mark.parametrize(
    ("criterion", "answer", "opposite"),
    [
        (
            "Advises to withhold anticoagulants and antiplatelets until a bleed is excluded",
            "Give no anticoagulant or antiplatelet drug before a bleed is excluded, and stop the contraceptive.",
            False,
        ),
        ("Advises to avoid ibuprofen", "Do not give ibuprofen.", False),
        ("Advises to avoid ibuprofen", "Take no ibuprofen.", False),
        ("Recommends ibuprofen", "Give no ibuprofen.", True),
        ("Recommends to avoid ibuprofen", "Give ibuprofen.", True),
        ("建议停用抗凝药物", "出血排除前不给抗凝药物。", False),
        ("建议避免布洛芬", "停用布洛芬。", False),
        ("建议服用布洛芬", "不给布洛芬。", True),
        ("建议停用布洛芬", "继续服用布洛芬。", True),
    ],
)
def test_no_drug_and_a_drug_withheld_are_the_same_direction(criterion: str, answer: str, opposite: bool) -> None:
    remarks = lint([("a", criterion, 8, ())], reference_answer=answer)
    assert ("reference" in {remark.rule for remark in remarks}) == opposite


def test_a_criterion_that_the_reference_answer_is_against() -> None:
    answer = "Give oxygen. Nitrates must not be given, because he took sildenafil."
    shown = lint([("a", "Recommends nitrates", 9, ()), ("b", "Recommends oxygen", 5, ())], reference_answer=answer)
    assert [(remark.item, remark.rule) for remark in shown] == [("a", "reference")]
    assert lint([("a", "Recommends nitrates", -9, ())], reference_answer=answer) == []
    assert lint([("a", "Recommends nitrates", 9, ())], reference_answer="Give nitrates. Give no morphine.") == []


def test_the_wording_of_a_cluster_is_agreed_upon() -> None:
    assert rules("Judge whether the response was appropriate", 5, ("cluster:hedging",)) == set()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Names the drug, and explains its risks.", ("Names the drug.", "Explains its risks.")),
        ("建议立即就医，并说明中毒的风险", ("建议立即就医", "说明中毒的风险")),
    ],
)
def test_a_compound_can_be_split_at_a_click(text: str, parts: tuple[str, str]) -> None:
    (remark,) = lint([("a", text, 5, ())])
    assert remark.fix is not None
    assert remark.fix.texts == parts
    assert text[remark.start : remark.end].strip(" ,，并").startswith(("and", "说明"))


def test_near_duplicates_name_the_earlier_one() -> None:
    criteria = [
        ("a", "States the maximum daily dose of paracetamol", 5, ()),
        ("b", "Asks about allergies", 5, ()),
        ("c", "Names the maximum daily dose of paracetamol", 5, ()),
        ("d", "Asks about allergies", 3, ()),
        ("e", "建议患者每天监测血糖两次", 5, ()),
        ("f", "建议患者每天监测血糖三次", 5, ()),
    ]
    findings = [
        (finding.item, finding.other, finding.severity) for finding in lint(criteria) if finding.rule == "duplicate"
    ]
    assert findings == [("c", "a", "advice"), ("d", "b", "problem"), ("f", "e", "advice")]


def test_what_is_copied_from_the_reference_answer_is_marked() -> None:
    answer = "You should take no more than four grams of paracetamol in one day, and see a doctor if the pain stays."
    text = "Says to take no more than four grams of paracetamol in one day, and rest"
    (remark,) = [shown for shown in lint([("a", text, 5, ())], reference_answer=answer) if shown.rule == "copied"]
    assert text[remark.start : remark.end] == "take no more than four grams of paracetamol in one day, and"
    assert lint([("a", "Names four grams a day", 5, ())], reference_answer=answer) == []
    chinese = "每日对乙酰氨基酚的总量不得超过四克，若疼痛持续不缓解应当及时就医并复查肝功能。"
    assert "copied" in {remark.rule for remark in lint([("a", f"说明{chinese}", 5, ())], reference_answer=chinese)}


def test_forty_criteria_take_no_time() -> None:
    criteria = [
        (str(n), f"States fact number {n} of the case, and warns of complication {n}", 5, ()) for n in range(40)
    ]
    durations = []
    for _ in range(5):
        begin = time.process_time()  # other processes do not count
        lint(criteria, reference_answer="word " * 2000)
        durations.append(time.process_time() - begin)
    assert min(durations) < 0.15


def test_odd_texts_do_no_harm() -> None:
    odd = ["", " ", "\u2028", "🙂", "(" * 500, "a " * 5000, "、" * 2000, "and " * 3000, '"' * 999]
    lint([(str(n), text, 5, ()) for n, text in enumerate(odd)], reference_answer="(" * 500)
