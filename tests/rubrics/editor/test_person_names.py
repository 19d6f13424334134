"""Names of people after kinship words, titles and “name is”, in English and Chinese, and what is no name."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubrics.parsing.privacy import findings


def names(text: str) -> list[str]:
    return [finding.quote for finding in findings(text) if finding.kind == "name"]


NAMED = [
    # after kinship words
    ("My husband John Smith has had chest pain", "John Smith"),
    ("I worry about my mother-in-law, Ana de la Cruz.", "Ana de la Cruz"),
    ("her younger brother José Álvarez fell", "José Álvarez"),
    ("Our neighbour Sean O’Brien-McDonald cannot sleep", "Sean O’Brien-McDonald"),
    ("My friend Mary J. Blythe asked me", "Mary J. Blythe"),
    ("my son Tom, 5, has a rash", "Tom"),
    ("My daughter Emma is coughing", "Emma"),
    ("My wife Rosa’s blood pressure is high", "Rosa"),
    ("Jane Roe, my wife, is pregnant", "Jane Roe"),
    ("John Smith is my father and he is 80", "John Smith"),
    ("My husband is John Smith and he has asthma", "John Smith"),
    ("My son is Tom Brown, 5", "Tom Brown"),
    ("her father was Sean O’Brien.", "Sean O’Brien"),
    ("My uncle is Michael Caine, I think", "Michael Caine"),
    # after titles
    ("I saw Dr. Jane Roe yesterday", "Dr. Jane Roe"),
    ("Professor Ian McKay operated on me", "Professor Ian McKay"),
    ("Ask Dr. Patel, ext. 4471, about it", "Dr. Patel"),
    ("Dr Patel (phone 4471) knows", "Dr Patel (phone 4471)"),
    ("Mr. O'Neill, 67, is short of breath", "Mr. O'Neill"),
    ("Nurse Jane Roe told me to wait", "Nurse Jane Roe"),
    # "name is", "named"
    ("My name is Jane", "Jane"),
    ("His full name is Peter van der Berg.", "Peter van der Berg"),
    ("my son's name is Tom Roe and he is five", "Tom Roe"),
    ("Her name's Mary Roe", "Mary Roe"),
    ("a man named John Smith came in", "John Smith"),
    ("I'm Jane Roe, a 45-year-old teacher", "Jane Roe"),
    # who speaks
    ("I am John Smith and I have diabetes", "John Smith"),
    ("Hi, I'm Jane Roe.", "Jane Roe"),
    ("This is Mary Roe, I need help", "Mary Roe"),
    ("Hello, this is Mary Roe calling about my results", "Mary Roe"),
    # Chinese
    ("我丈夫张伟，最近胸痛", "张伟"),
    ("我的女儿李小明（5岁）发烧", "李小明"),
    ("我妈妈王芳今年60岁", "王芳"),
    ("她老公叫欧阳建国，有高血压", "欧阳建国"),
    ("他的名字是陈晓东。", "陈晓东"),
    ("请张伟医生看一下", "张伟"),
    ("主治医生是李建国。", "李建国"),
    ("我的家庭医生叫王芳，她", "王芳"),
    ("王小红女士，您好", "王小红"),
    ("我爱人刘洋 45岁", "刘洋"),
]
NOT_NAMED = [
    "I gave my son Tylenol, and my daughter Children's Motrin",
    "Is it safe to give my baby Zyrtec is the question",
    "My husband has Type 2 Diabetes. My wife, Monday morning, felt ill",
    "My mother Has Lupus, My Daughter Keeps Vomiting",
    "my father's Crohn's Disease and my aunt's Alzheimer's",
    "My husband says Dr. Google is right. Dr. Seuss wrote books. Nurse Practitioner Smith",
    "the drug name is Paracetamol, its name is Ibuprofen, a drug named Eliquis",
    "I'm African American, 45. I am Native American, 30 years old. I'm Type One, 20 years now",
    "my doctor prescribed Lisinopril; my GP Practice; the patient Health Questionnaire is 9",
    "Lyme Disease, my wife said. Blood Pressure is my problem.",
    "My husband and John both cough. My son is Max's age",
    "My mother Warfarin was held, and my wife Celiac was diagnosed",
    "My father Atorvastatin was stopped. My son Pancreatitis is back. My aunt Letrozole was started",
    "My wife is African American, my doctor is Board Certified. My mother is Irish Catholic and has asthma",
    "I am Puerto Rican and I have diabetes. I'm Rh Negative. I am Type Two.",
    "This is Atrial Fibrillation, I think. This is Acute Pancreatitis, and my doctor agrees",
    "the patient Positive, my partner Covid is gone",
    "我妈高血压，我爸白血病，我女儿黄疸，我老婆焦虑，我丈夫左腿疼",
    "我爸曾中风，我妈常头晕，我儿子时常咳嗽，我妈查血糖，正常",
    "我妈周三，我爸凌晨，我爱人马上，孩子全身，我妈温州人，我爸于去年，住院",
    "请家庭医生评估，主治医生、高级医生、任何医生、康复医生、管床医生",
    "张先生您好，李医生说，王某某，于是医生建议，有时候医生不在",
    "一般在缓解后2至4周或由医生在保护下开始，4 周后医生复查，周到的医生",
    "他叫救护车了，她叫我马上来",
    "主治医生是女性，主管医生是江湖医生，医生叫我停药，主治医生为患者查体，",
    "Dr. Atkins wrote a diet. Phone me. Dr. Seuss, 12 books",
]


@pytest.mark.parametrize(("text", "name"), NAMED)
def test_a_name_is_found_by_the_words_around_it(text: str, name: str) -> None:
    assert names(text) == [name]


@pytest.mark.parametrize("text", NOT_NAMED)
def test_drugs_diseases_and_figures_of_speech_are_no_names(text: str) -> None:
    assert names(text) == []


FIRST = st.sampled_from(["John", "Mary", "José", "Åsa", "Mary-Ann", "Siobhán", "Oluwaseun", "Wei"])
LAST = st.sampled_from(
    ["Smith", "O'Brien", "McDonald", "de la Cruz", "van der Berg", "Müller", "Nguyen", "Smith-Jones"]
)
KIN = st.sampled_from(["husband", "wife", "grandmother", "son-in-law", "older sister", "nephew", "best friend"])
OWNER = st.sampled_from(["My", "my", "Our", "his", "Her", "their"])
BEFORE = st.sampled_from(["", "Hello, ", "I am worried. ", "Last week "])
AFTER = st.sampled_from([" has chest pain", ", 54, takes 5 mg of it", ".", "\nWhat should I do?", " (age 60) fell"])


@settings(max_examples=120, deadline=None)
@given(BEFORE, OWNER, KIN, st.sampled_from([" ", ", "]), FIRST, LAST, AFTER)
def test_any_whole_name_after_a_kinship_word(
    before: str, owner: str, kin: str, between: str, first: str, last: str, after: str
) -> None:
    assert names(f"{before}{owner} {kin}{between}{first} {last}{after}") == [f"{first} {last}"]


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from(["我丈夫", "我的妈妈", "她女儿", "我们邻居"]),
    st.sampled_from(["王芳", "李小明", "欧阳雪", "高建国", "白雪", "周杰"]),
    st.sampled_from(["，45岁", "（男，30岁）", "今年60岁", "。", "，昨天开始发烧"]),
)
def test_any_chinese_name_after_a_kinship_word(kin: str, name: str, after: str) -> None:
    assert names(f"{kin}{name}{after}") == [name]


@settings(max_examples=150, deadline=None)
@given(
    OWNER,
    KIN,
    st.sampled_from(["has", "takes", "was given", "cannot stop", "needs", "is allergic to"]),
    st.sampled_from(
        ["Tylenol", "Lisinopril", "Type 2 Diabetes", "Crohn's Disease", "Vitamin D", "Hepatitis B", "COVID"]
    ),
)
def test_a_sentence_about_a_relative_names_nobody(owner: str, kin: str, verb: str, thing: str) -> None:
    assert names(f"{owner} {kin} {verb} {thing}, and {owner.lower()} {kin} had {thing} in March.") == []
