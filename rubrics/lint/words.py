"""Word lists of the lint, in English and Chinese."""

from __future__ import annotations

import re


def _listed(text: str) -> list[str]:
    return text.split()


# What a response can be seen to do. Base forms: `third_person` makes the form in which criteria begin.
ACTS = _listed(
    """
    accept accommodate account achieve acknowledge adapt add address adhere adjust adopt advise advocate affirm agree
    align analyse analyze answer anticipate apologise apologize apply arrange articulate ask assert assess assign
    assume assure attempt attribute avoid base begin break bring build bury calculate call caution challenge
    characterise characterize check choose cite claim clarify classify close combine comment communicate compare
    complete comply compose compute conclude condense confirm confuse connect consider construct contain contextualise
    contextualize contrast contribute convert convey correct counsel cover create criticise criticize debunk decline
    define delay deliver demonstrate deny depict derive describe design detail determine develop diagnose
    differentiate direct disagree disclaim disclose discourage discuss dismiss distinguish document downplay draft
    draw educate elaborate elicit emphasise emphasize empathise empathize employ encourage end endorse enquire ensure
    entail enumerate establish estimate evaluate examine exclude exhibit expand explain explore express extract
    fabricate fail feature find flag focus follow force form format formulate frame generalise generalize generate
    give go group guide handle have help highlight hint identify ignore illustrate imply incite include incorporate
    indicate infer inform initiate inquire insist instruct integrate interpret introduce invent invite involve judge
    justify keep lack launch lay lead leave limit link list litter look maintain make manage mention mentor minimise
    minimize misattribute misclassify mislead misinterpret misrepresent misspell misstate mistake misunderstand mix
    modify monitor name neglect note notify notice offer omit open opt order organise organize outline overcomplicate
    overestimate overlook overstate overuse paraphrase perform persuade phrase place plan point pose praise predict
    prefer prepare prescribe present preserve prevent prioritise prioritize probe produce prohibit promise promote
    prompt propose provide pursue put qualify query question quote raise rank rationalise rationalize reach read
    realise realize reassure recap recognise recognize recommend recount redirect reduce refer reference refrain
    refuse reflect reframe reinforce reiterate reject relate rely remain remark remind repeat reply report request
    require resolve respect respond restate restrict retain return reveal review rewrite rule say scold screen see
    seek select separate set shift show signal simplify situate solicit specify speculate spell split start state stay
    steer strengthen stress structure suggest summarise summarize supplement supply support take tailor talk target
    teach tell temper think touch trace transcribe translate treat triage trivialise trivialize try underestimate
    underline underscore understand understate underplay update urge use utilise utilize validate verify view
    volunteer walk warn weigh withhold word write
    """
)
STATES = ("is", "are", "was", "has", "does", "can", "should", "must", "may", "will", "shall", "would", "could", "needs")


def third_person(verb: str) -> str:
    """``goes``, ``identifies``, ``discusses``: the form in which criteria describe the response."""
    if verb == "have":
        return "has"
    if re.search(r"(?:s|x|z|ch|sh|o)$", verb):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb) else f"{verb}s"


ACTS_OF_A_RESPONSE = frozenset(third_person(verb) for verb in ACTS)
# Some are nouns as often as verbs; after “and” they are read as nouns, so that not every list counts as two acts.
BOTH = frozenset(
    _listed(
        """
        accounts addresses answers bases calls causes checks claims closes comments conditions contacts contrasts
        covers delays details directs documents draws ends estimates exhibits features finds focuses forces forms
        frames functions groups guides has helps highlights hints judges leads limits links lists litters looks
        measures monitors names needs notices opens orders outlines phrases places plans points poses practices
        processes produces programs promises prompts queries questions quotes ranks reaches reads reasons references
        refuses remains remarks replies reports requests respects results returns reviews rules screens sees sets
        shifts shows signals splits starts stays steers stresses structures supplies supports takes talks targets
        tests thinks touches traces treats triages tries updates uses views visits volunteers walks weighs words works
        """
    )
)
ZH_ACTS = (
    "建议|推荐|说明|解释|提到|提及|指出|询问|追问|问及|告知|提醒|强调|警告|给出|列出|列举|要求|提供|描述|阐述|阐明|介绍|识别|判断|"
    "诊断|评估|考虑|承认|表达|表明|安排|转诊|禁止|劝|鼓励|引用|包含|包括|避免|拒绝|纠正|区分|鉴别|比较|使用|采用|安抚|安慰|回应|"
    "回答|回复|总结|归纳|确认|核实|标明|注明|明确|遵循|遵守|未|没有|遗漏|忽略|错误|误|计算|开具|制定|指导|教|写|按|将|声称|认为|得出|排除|支持"
)

# What a response can advise somebody to do; after “to … and to …” these are two acts.
ADVISED_ACTS = (
    "avoid|stop|withhold|discontinue|continue|start|begin|take|use|give|call|contact|see|seek|go|visit|return|have|get|"
    "undergo|check|measure|monitor|repeat|test|ask|tell|inform|bring|keep|drink|eat|rest|limit|reduce|increase|switch|"
    "change|schedule|book|arrange|refer|order|consult|discuss|report|attend|come"
)
_DOUBLED = frozenset(_listed("stop begin get refer"))
# Of these a gerund that follows may be the object: “stopping smoking and drinking” is no second act.
_WITH_GERUND = frozenset(_listed("avoid stop withhold discontinue continue start begin keep limit reduce discuss"))


def _gerund(verb: str) -> str:
    if verb in _DOUBLED:
        return f"{verb}{verb[-1]}ing"
    return f"{verb[:-1] if re.search('[^e]e$', verb) else verb}ing"


ADVISED_GERUNDS = "|".join(_gerund(verb) for verb in ADVISED_ACTS.split("|") if verb not in _WITH_GERUND)
ZH_ADVISED_ACTS = (
    "停用|停服|停药|停止|暂停|服用|使用|改用|换用|口服|注射|补充|监测|检测|检查|复查|化验|测量|就诊|就医|前往|拨打|联系|"
    "随访|复诊|减量|增加|减少|戒烟|戒酒|休息|饮水|避开"
)

VAGUE = (
    "appropriate|appropriately|adequate|adequately|sufficient|sufficiently|proper|properly|suitable|suitably|reasonable|"
    "reasonably|relevant|well-written|comprehensive|comprehensively|thorough|thoroughly|helpful|optimal|optimally|"
    "satisfactory|as needed|if needed|when needed|as necessary|if necessary|when necessary|as appropriate|"
    r"and so on|and so forth|etc\.?|acceptable|decent|nice|high-quality|in-depth"
)
ZH_VAGUE = "适当|合适|恰当|适宜|足够|充分|合理|全面|良好|较好|相关|等等|必要时|酌情|尽量|尽可能|妥善|完善|到位|高质量"

NEGATED = re.compile(
    r"^\s*(?:the (?:response|answer|model|assistant) |it )?"
    r"(does not|doesn['’]t|do not|don['’]t|did not|should not|shouldn['’]t|must not|is not|isn['’]t|has no|never|no)\b",
    re.IGNORECASE,
)
ZH_NEGATED = re.compile(r"^\s*(?:回答|回复|答复|模型|应答)?(?:中)?(不应|不得|不能|不要|不|没有|没|未|无)")
FAULTY = re.compile(
    r"^\s*(?:the (?:response|answer|model|assistant) |it )?"
    r"(fails to|omits|lacks|neglects|overlooks|ignores|incorrectly|wrongly|inaccurately|inappropriately|falsely|"
    r"misstates|fabricates|misleads|invents)\b",
    re.IGNORECASE,
)
ZH_FAULTY = re.compile(r"^\s*(?:回答|回复|答复|模型|应答)?(?:中)?(遗漏|忽略|忽视|错误地|误将|误把|捏造|编造|未能)")
