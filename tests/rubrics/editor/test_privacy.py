"""What names a person is marked, and medicine's own numbers are not."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubrics.editor.privacy import has_whole_words
from rubrics.parsing.privacy import findings, valid_chinese_id

# 11010519491231002X is the example of GB 11643-1999.
NAMES_SOMEBODY = [
    ("Write to jane.doe+rx@mail.example.org today", "email", "jane.doe+rx@mail.example.org"),
    ("请发到 zhang_san@example.cn。", "email", "zhang_san@example.cn"),
    ("我的手机是13812345678，谢谢", "phone", "13812345678"),
    ("电话：010-62345678", "phone", "010-62345678"),
    ("手机１３８１２３４５６７８", "phone", "１３８１２３４５６７８"),
    ("Call me at (212) 555-0143.", "phone", "(212) 555-0143"),
    ("Call me at 212-555-0143 tonight", "phone", "212-555-0143"),
    ("Reach me on +44 20 7946 0958", "phone", "+44 20 7946 0958"),
    ("Phone: 555 0143 22", "phone", "555 0143 22"),
    ("身份证号11010519491231002X", "identity", "11010519491231002X"),
    ("编号 110105194912310020 与 11010519491231002x", "identity", "11010519491231002x"),
    ("证件 110105491231002 。", "identity", "110105491231002"),
    ("Call the ward, ext. 4471.", "phone", "4471"),
    ("微信号是wxm_1958，谢谢", "identity", "wxm_1958"),
    ("My WeChat ID is wxm_1958.", "identity", "wxm_1958"),
    ("SSN 219-09-9999", "identity", "219-09-9999"),
    ("Passport number: E12345678", "identity", "E12345678"),
    ("医保卡号：330102123456", "identity", "330102123456"),
    ("NHS number 943 476 5919", "identity", "943 476 5919"),
    ("MRN: 00482913", "record", "00482913"),
    ("Patient ID 774-2210", "record", "774-2210"),
    ("住院号：ZY0012345，心内科", "record", "ZY0012345"),
    ("病历号 2023001122", "record", "2023001122"),
    ("Seen on 2023-04-17 in clinic", "date", "2023-04-17"),
    ("Seen on 04/17/2023 in clinic", "date", "04/17/2023"),
    ("Admitted 17 April 2023", "date", "17 April 2023"),
    ("Admitted April 17th, 2023", "date", "April 17th, 2023"),
    ("It began on March 3 after lunch", "date", "March 3"),
    ("DOB: 4/17/61", "date", "4/17/61"),
    ("于2023年4月17日入院", "date", "2023年4月17日"),
    ("4月17日出现发热", "date", "4月17日"),
    ("I live at 221 Baker Street, London", "address", "221 Baker Street"),
    ("Send it to 12 N Oak Hill Ave", "address", "12 N Oak Hill Ave"),
    ("Springfield, IL 62704", "address", ", IL 62704"),
    ("家住北京市海淀区中关村大街27号", "address", "家住北京市海淀区中关村大街27号"),
    ("阳光小区3号楼", "address", "阳光小区3号楼"),
    ("姓名：张伟，男，45岁", "name", "张伟"),
    ("患者李小明，男，45岁", "name", "李小明"),
    ("我叫王芳，最近头晕", "name", "王芳"),
    ("Patient name: Jane Roe", "name", "Jane Roe"),
    ("My name is Jane Roe and I cough", "name", "Jane Roe"),
    ("Mr. Jones, 67, has chest pain", "name", "Mr. Jones"),
    ("Mrs. Jane Roe has chest pain", "name", "Mrs. Jane Roe"),
]
NAMES_NOBODY = [
    "Knee extension 120 degrees, ext. 90, extension 1200 kcal; WeChat: please write. 扫码关注微信公众号健康之家",
    "Amoxicillin 500 mg three times a day for 7-10 days; max 4000 mg/24 h",
    "BP 120/80/60, HR 110-120, SpO2 94%, pH 7.35-7.45, Na 138 mmol/L",
    "Titrate 5/10/20 mg; ratio 1/2/3; MME 1.5-2.0",
    "WBC 11.2 x10^9/L, PLT 150-450, CK 12345 U/L, NT-proBNP 1380 pg/mL, ferritin 13812.5",
    "Since 2019 she takes 10 mg; in March 2021 it was doubled; a 65-year-old woman",
    "You may 10 mg more; it may 5 times recur. In May 10 patients fell ill",
    "Call 911, 988, or poison control at 1-800-222-1222 or (800) 273-8255",
    "ICD-10 E11.9, CPT 99213-25, NCT01234567, PMID 12345678, doi 10.1000/182, CA 125 of 350",
    "GFR 45-59 (G3a), HbA1c 6.5-7.0%, NYHA 2-3, GCS 3-4-5, G2P1-0-1",
    "患者高血压3年，糖尿病10年，每日2次，每次5毫克，疗程7天",
    "患者高热3天，体温39.2℃，血压140/90mmHg，白细胞12.5×10^9/L，于2020年起病",
    "张某，男，45岁，李某某，女，60岁",
    "每月复查1次，3月龄婴儿，12月后随访，第1日2片",
    "拨打12320或400-161-9995咨询，必要时拨打120",
    "Dr. Google said so. The Smith-Magenis syndrome. Mr. Jones has chest pain.",
    "Drug name: Paracetamol Extra 500 mg. Take 2 Tablets By Mouth Every 6 Hours",
    "rs1801133, chr17:41196312-41277500, 5-HT2A, 1,25-(OH)2D3",
    "29f836f4-7a99-4dce-a075-4429207be42b-erratum-1 and 63b1a22e-2334-4327-b63f-14109558247f",
    "Room 12, Bed 4; 3 Main Courses",
    "PaO2/FiO2 200-300, 300-400; A-a gradient 15-20-25; 1990-2000-2010",
]


@pytest.mark.parametrize(("text", "kind", "quote"), NAMES_SOMEBODY)
def test_what_names_somebody_is_found_in_its_place(text: str, kind: str, quote: str) -> None:
    assert [(finding.kind, finding.quote) for finding in findings(text)] == [(kind, quote)]
    (finding,) = findings(text)
    assert text[finding.start : finding.end] == quote
    assert str(finding.why)


# Reserved by Ofcom for drama: 01632 960000-960999, 0131 496 0000-0999, 020 7946 0000-0999, 028 9649 6000-6999,
# 029 2018 0000-0999, 07700 900000-900999 and 03069 990000-990999, as people write them.
UK_NUMBERS = [
    *("020 7946 0958", "(020) 7946 0958", "020-7946-0958", "0207946 0958", "020 79460958", "02079460958"),
    *("+44 20 7946 0958", "+44 (0)20 7946 0958", "+442079460958", "0044 20 7946 0958", "020 8123 4567"),
    *("028 9649 6001", "(029) 2018 0999", "029 2018 0123", "0131 496 0123", "(0131) 496 0123", "0131-496-0123"),
    *("0191 498 0123", "01632 960123", "(01632) 960123", "01632 960 123", "01632-960123", "+44 1632 960123"),
    *("07700 900123", "07700 900 123", "07700900123", "+44 7700 900123", "03069 990123"),
]


@pytest.mark.parametrize("number", UK_NUMBERS)
@pytest.mark.parametrize("before", ["My daughter can ring ", "You can call me on ", "Please call ", "Her number:"])
def test_a_number_of_the_united_kingdom_is_found(before: str, number: str) -> None:
    matches = findings(f"{before}{number}, after six.")
    assert [(finding.kind, finding.quote) for finding in matches] == [("phone", number)]


@pytest.mark.parametrize(
    "text",
    [
        "Take 020 mg, then 0.25 to 0.50 mg, 1000 to 2000 units, 0.020 7946",
        "Sample 020-7946, order 0207946, lot 02079, accession 0131496",
        "NDC 00093-7146-56 and 0093-7146-01, ISBN 0-19-852663-6, PMID 02079460",
        "From 2020 to 2046, 0800 to 2000 hours, on days 01-02 and 07-09",
        "Ratio 02:79:46, score 0207/0946, version 02.0794.6095",
        "剂量 0.2 mg，每日 0-1-1，编号 0207946",
    ],
)
def test_doses_ids_and_times_are_no_numbers_of_the_united_kingdom(text: str) -> None:
    assert findings(text) == []


@pytest.mark.parametrize("text", NAMES_NOBODY)
def test_the_numbers_of_medicine_name_nobody(text: str) -> None:
    assert [(finding.kind, finding.quote) for finding in findings(text)] == []


def test_the_check_digit_of_the_standards_own_example() -> None:
    assert valid_chinese_id("11010519491231002X")
    assert not valid_chinese_id("110105194912310021")


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.sampled_from("0123456789-/. ()+@aZJ年月日号路患者张伟男：，\n"), max_size=300))
def test_findings_are_parts_of_the_text_in_order_and_never_overlap(text: str) -> None:
    matches = findings(text)
    assert all(finding.quote == text[finding.start : finding.end] != "" for finding in matches)
    assert all(first.end <= second.start for first, second in pairwise(matches))


@pytest.mark.slow
def test_a_long_text_of_one_kind_of_character_takes_no_time() -> None:
    for character in ("1", "a", ".", "张", "A ", "1-", "a@", "Aa "):
        assert len(findings(character * 20_000)) < 20_000


@pytest.mark.parametrize(
    ("text", "quote", "is_there"),
    [
        ("Ann has a cough", "Ann", True),
        ("Her annual visit to Ann's ward", "Ann", True),
        ("An Annual visit", "Ann", False),
        ("Joanne and Ann2", "Ann", False),
        ("Anna Ann", "Ann", True),
        ("Dr. Poe", "Dr. Poe", True),
        ("Dr. Poets", "Dr. Poe", False),
        ("Mr. Müller", "Mr. Mü", False),
        ("Call 555-0143.", "555-0143", True),
        ("Call 1555-0143.", "555-0143", False),
        ("患者李小明，男", "李小明", True),
        ("我叫李小明今年45岁", "李小明", True),
        ("患者Ann今年45岁", "Ann", True),
        ("手机13812345678号", "13812345678", True),
        ("(Jane Roe)", "(Jane Roe)", True),
        ("anything", "", False),
    ],
)
def test_a_kept_name_is_found_as_whole_words(text: str, quote: str, is_there: bool) -> None:
    assert has_whole_words(text, quote) is is_there


@settings(max_examples=60, deadline=None)
@given(
    st.text(alphabet="abZé7", min_size=1, max_size=6),
    st.text(alphabet="abZé7", min_size=1, max_size=2),
    st.sampled_from(["", " ", ".", "，", "患", "か", "한", "_", "-"]),
)
def test_a_kept_name_ends_where_its_word_ends(name: str, more: str, gap: str) -> None:
    assert has_whole_words(f"患者{gap}{name}{gap}今年", name)
    assert not has_whole_words(f"{more}{name}", name) and not has_whole_words(f"{name}{more}", name)
    assert has_whole_words(f"{more}{name} {name}", name)
