"""Words by which the rules of drafting recognise kinds of facts and needs, in English and Chinese. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping


def _any_of(english: str, chinese: str) -> re.Pattern[str]:
    """Any of the English words or phrases as a whole, or any of the Chinese ones anywhere."""
    return re.compile(rf"\b(?:{english})\b|{chinese}", re.IGNORECASE)


# The first list that matches a sentence gives its kind; a sentence that matches none is a statement.
PROHIBITION = _any_of(
    "never|do not|don't|don’t|must not|should not|avoid|contraindicated|not recommended|not be (?:used|given|taken)|"
    "cannot be (?:used|given|taken)",
    "禁止|禁用|禁忌|忌用|不要|不应|不宜|不得|不可|切勿|避免|严禁",
)
RED_FLAG = _any_of(
    "emergency|emergencies|at once|immediately|urgent|urgently|same day|without delay|within (?:one|an|1) hour|"
    "ambulance|red flags?|alarm (?:signs?|symptoms?)|warning signs?|life-threatening|fatal|call (?:911|999|112|120)|"
    "seek (?:medical )?(?:care|help)",
    "急救|急诊|立即|立刻|马上就医|尽快就医|及时就医|警惕|危及生命|致命|危险信号|拨打120",
)
NUMBER = re.compile(r"[0-9０-９]")
CONDITION = _any_of(
    "if|when|unless|until|only (?:with|for|after)|in (?:patients|people|adults|children|women|men) with|provided that|"
    "in case of",
    "如果|若|当|除非|只有|的情况下|时[应可需，]|者应|者可|者须",
)
KINDS: Mapping[str, re.Pattern[str]] = {
    "prohibition": PROHIBITION,
    "red_flag": RED_FLAG,
    "number": NUMBER,
    "condition": CONDITION,
}

# What an answer may depend on: it is missing if the conversation has none of these words.
NAMED: Mapping[str, re.Pattern[str]] = {
    "age": _any_of(
        r"[0-9]+[- ](?:years?|months?|weeks?|days?)[- ]old|aged? [0-9]+|[0-9]+ ?(?:yo|y/o)|[0-9]+[- ]?(?:year|month)s? "
        r"of age|newborn|I am [0-9]+|I['’]m [0-9]+",
        "[0-9一二三四五六七八九十]+个?(?:岁|月大|月龄)|年龄|新生儿",
    ),
    "pregnancy": _any_of(
        "pregnan(?:t|cy)|trimester|gestation|gestational|breastfeeding|postpartum|weeks pregnant|male|man|boy|son|"
        "husband|father|grandfather|brother|uncle|menopaus(?:e|al)|child|toddler|infant",
        "怀孕|妊娠|孕[0-9一二三四五六七八九十]*周|孕妇|哺乳|产后|男|儿子|丈夫|老公|父亲|爸|爷爷|绝经|孩子|宝宝|幼儿|婴儿",
    ),
    "duration": _any_of(
        r"since|ago|yesterday|last night|this morning|for (?:the (?:past|last) )?(?:[0-9]+|an?|one|two|three|several|"
        r"some|many) (?:minutes?|hours?|days?|weeks?|months?|years?)|[0-9]+ (?:minutes?|hours?|days?|weeks?)",
        "昨天|昨晚|前天|今早|以来|[0-9一二两三四五六七八九十几半]+个?(?:分钟|小时|天|周|星期|月|年)(?:前|了|来)?|从.{1,6}开始",
    ),
    "medicines": _any_of(
        "medicines?|medications?|tablets?|pills?|drugs?|mg|takes|taking|prescribed|no medication|antibiotics?",
        "药|服用|用着|片剂|胶囊|毫克",
    ),
    "allergies": _any_of("allerg(?:y|ies|ic)|anaphyla(?:xis|ctic)", "过敏"),
}

# At least two different words of this list make a professional asker.
PROFESSIONAL = _any_of(
    "patient|presents?|presented|presenting|on examination|differential|afebrile|intravenous|intravenously|ward|"
    "admitted|bid|tid|prn|dosing|work-up|workup|prophylaxis|resident|pharmacist|comorbidities|ICU",
    "患者|病人|病史|查体|主诉|入院|鉴别诊断|给药|静脉|病房|科室|医嘱|会诊|病区",
)
WORRIED = _any_of(
    "worried|worry|worries|scared|afraid|anxious|frightened|panic|terrified|desperate",
    "担心|害怕|着急|焦虑|恐慌|紧张|很怕",
)
# A sentence with one of them says in which form the asker wants the answer.
FORM = _any_of(
    "in (?:a )?(?:table|list)|as a (?:table|list)|bullet points?|step by step|briefly|in short|in one sentence|"
    "keep it (?:short|brief|simple)|in plain (?:words|language|english)|short answer",
    "列表|表格|分点|简短|简单说|一句话|逐步|一步一步|用通俗",
)
