"""The Chinese texts of the stages."""

from __future__ import annotations

from collections.abc import Mapping

from drafting.stages import names

_JSON = "只回答一个 JSON 对象，不写任何其他内容，格式必须完全如下：\n"
_CRITERION = (
    '{"text": "<评分标准>", "points": <-10 到 10，不为 0>, "axis": "<AXES 中的一个维度，逐字照抄>", '
    '"facts": [<FACTS 的编号>], "needs": [<NEEDS 的编号>], "why": "<一句话>"}'
)
_HOW_TO_WRITE = """\
怎样写评分标准
- 用一句话写明回答做了什么，使两位医生读同一份回答时对是否满足会作出相同判断。以动词开头，例如“说明”“询问”“建议”“警告”。
- 每条只要求一件事。条件与其对应的做法写在一起。
- 单独阅读也能看懂：写明药名、剂量、征象、小时数。
- 正分用于好的回答会做的事。负分用于回答所做的有害之事，此时标准写的就是这件事本身。
- 绝对值 8 到 10 分：遗漏它或做了它会危及患者，或者明显错误。4 到 7 分：使回答完整并适合这位提问者的内容。1 到 3 \
分：形式和次要细节。
- 用 CASE 的语言书写。"""
_CASE = "需要评分的回答所针对的对话：\n\n{{case}}"
_QUOTE = (
    "引文须从该段落的正文中逐字照抄：一段连续的文字，包含你所用到的每一个数字和单位，不得省略，不得使用省略号。"
    "段落正文上方的各行说明其出处，不要引用这些行。"
)

TEXTS: Mapping[str, tuple[str, str]] = {
    names.PLAN: (
        """\
你为检索医学证据做准备。CASE 是一段对话，医生将对其最后一条消息的回答评分。

用一句话说明提问者需要知道什么。然后写 3 到 5 条检索词，用于在指南、药品说明和患者资料中按词检索。\
每条检索词是一段好的资料中会出现的几个词，\
使用 CASE 的语言：疾病、药物、征象、剂量。至少一条查找警示征象。如涉及药物，须有一条查找其剂量或禁忌。""",
        _CASE,
    ),
    names.RANK: (
        """\
你为撰写评分标准的医生挑选段落。CASE 是一段对话，PASSAGES 是检索得到的编号列表。

按各段落对判断 CASE 最后一条消息的回答是否正确、完整、安全有多大帮助来排序。优先选择正好针对这种情况（年龄、疾病、\
药物）的段落，写明警示征象、\
剂量、禁忌或时限的段落，以及来自较新、较权威文献的段落。没有帮助的段落不列出。只使用前 {{keep}} 段。""",
        f"{_CASE}\n\n段落：\n\n{{{{passages}}}}",
    ),
    names.EVIDENCE: (
        f"""\
你为撰写评分标准的医生阅读医学段落。CASE 是一段对话，PASSAGES 是编号列表。

收集段落中与回答 CASE 最后一条消息有关的内容。
- `statements`：该做什么、该告知什么、剂量、条件、不该做什么。每条只写一件事。
- `red_flags`：必须紧急就医的征象，以及危及生命的错误。每条只写一件事，绝不把两件合在一起。
- `conflicts`：两个段落互相矛盾之处，并写明各方的说法。

不要写任何段落中没有的内容，不论你知道什么。{_QUOTE}""",
        f"{_CASE}\n\n段落：\n\n{{{{passages}}}}",
    ),
    names.FACTS: (
        f"""\
你把陈述拆成可以核对的单个事实。CASE 是一段对话，PASSAGES 是编号的文本列表，STATEMENTS 是从中提取的陈述，\
各附段落编号和引文。\
以 [red flag] 开头的是警示征象。

把每条陈述拆到每个事实只说一件事。条件与其做法写在一起（“如孩子呕吐，等待 20 分钟”是一个事实）。写明代词所指，\
使每个事实可以单独阅读。\
重复的不写。每个警示征象单独保留为一个事实。类别：
- `red_flag`：警示征象，或危及生命的错误
- `prohibition`：不得做或不得给予的
- `number`：剂量、限度、时长
- `condition`：只适用于部分患者的
- `statement`：其他

{_QUOTE}""",
        f"{_CASE}\n\n段落：\n\n{{{{passages}}}}\n\n陈述：\n\n{{{{statements}}}}",
    ),
    names.RELEVANCE: (
        """\
你剔除与问题无关的事实。CASE 是一段对话，FACTS 是编号列表。

指出回答 CASE 最后一条消息时用不到的事实：针对其他患者、其他疾病，或没有人问的问题。有疑问时保留。\
绝不要列出可能与此人有关的警示征象或禁止事项。""",
        f"{_CASE}\n\n事实：\n\n{{{{facts}}}}",
    ),
    names.SUPPORT: (
        """\
你对照引文核对事实。FACTS 和 QUOTES 是编号列表：与事实编号相同的引文是该事实所依据的文字。

只根据引文判断每一对，不凭你所知。
- `entails`：接受引文就必须接受整个事实
- `partly`：引文只说了一部分，或者附有事实中省去的条件
- `does_not`：引文说的是别的，或者相反

每个事实都要核对，各一次。""",
        "事实：\n\n{{facts}}\n\n引文：\n\n{{quotes}}",
    ),
    names.NEEDS: (
        """\
你描述提问者的需求。CASE 是一段对话，医生将对其最后一条消息的回答评分。

- `register`：提问者是患者或家属写 lay，从事医疗工作写 professional
- `state`：用一句话写提问者的处境和心情
- `asks`：提问者所求的每一件事，包括言外之意
- `missing`：没有说到、但会改变建议的信息（如年龄、妊娠、其他疾病、用药、过敏、持续时间），写成回答应当提出的问题，\
并说明理由
- `tone`：回答应以怎样的语气对此人说话
- `form`：对回答形式的要求，如长度、语言或列表

引文须从 CASE 中逐字照抄，即表明该需求的文字。不要虚构需求。""",
        _CASE,
    ),
    names.SYNTHESIS: (
        f"""\
你为一段医学对话的回答撰写评分标准。CASE 是对话，FACTS 是已核对事实的编号列表，NEEDS 是提问者需求的编号列表，AXES \
是维度列表。

写出医生据以对 CASE 最后一条消息的回答评分的标准，最多 {{{{most}}}} 条。每条至少依据一个事实或需求，写明其编号。\
每个警示征象和每个禁止事项\
各有单独一条，每个 `missing` 类的需求也是如此。至少一条为负分。数字、单位、药名和时间与事实完全一致，\
不添加事实中没有的医学内容。\
任何两条都不要求同一件事，不论用词相同还是从反面来说。

{_HOW_TO_WRITE}""",
        f"{_CASE}\n\n事实：\n\n{{{{facts}}}}\n\n需求：\n\n{{{{needs}}}}\n\n维度：\n\n{{{{axes}}}}",
    ),
    names.DIRECT: (
        f"""\
你为一段医学对话的回答撰写评分标准。CASE 是对话，AXES 是维度列表。

写出医生据以对 CASE 最后一条消息的回答评分的标准，最多 {{{{most}}}} 条：好的回答必须说明、询问和警告什么，\
以及不得说什么。至少一条为负分。\
没有事实和需求的列表：`facts` 和 `needs` 为空。

{_HOW_TO_WRITE}""",
        f"{_CASE}\n\n维度：\n\n{{{{axes}}}}",
    ),
    names.AUDIT: (
        f"""\
你检查他人撰写的评分标准。CASE 是被评分回答所针对的对话，FACTS 和 NEEDS 是标准应当依据的内容，AXES 是维度，CRITERIA \
是带分值和维度的编号标准。\
LINKS 写明每条标准依据哪些事实和需求。FINDINGS 是程序发现的问题，可能为空。

只写应当改动之处：
- `add`：没有标准涵盖的事实和需求所缺的标准，首先是警示征象、禁止事项和缺失的信息
- `unsupported`：标准所说超出其事实和需求，或与之不符
- `irrelevant`：对给本对话的回答评分没有帮助的标准
- `contradicts`：与另一条标准或某个事实矛盾的标准
- `merge`：要求同一件事的几条标准。新标准保留每个数字、药名和时间。绝不合并两个警示征象或两个禁止事项
- `split`：要求几件事的标准；各部分保留其事实、数字和条件
- `reword`：两位医生会有不同理解的标准，或发现的问题所涉及的标准

最后最多 {{{{most}}}} 条。如一切妥当，所有列表为空。

{_HOW_TO_WRITE}""",
        f"{_CASE}\n\n事实：\n\n{{{{facts}}}}\n\n需求：\n\n{{{{needs}}}}\n\n维度：\n\n{{{{axes}}}}\n\n"
        "标准：\n\n{{criteria}}\n\n依据：\n\n{{links}}\n\n程序发现的问题：\n\n{{findings}}",
    ),
}

FORMS: Mapping[str, str] = {
    names.PLAN: f"""{_JSON}\
{{"intent": "<一句话>", "queries": [{{"text": "<检索词>", "looking_for": "recommendation"|"dose"|"red_flag"|\
"contraindication"|"patient_advice"|"background"}}]}}""",
    names.RANK: f"""{_JSON}\
{{"order": [{{"passage": <编号>, "why": "<几个字>"}}]}}
最好的段落在前；编号不得重复。""",
    names.EVIDENCE: f"""{_JSON}\
{{"statements": [{{"text": "<一件事>", "passage": <编号>, "quote": "<段落原文>"}}], "red_flags": \
[{{"text": "<一个征象>", "passage": <编号>, "quote": "<段落原文>"}}], "conflicts": [{{"about": "<何事>", \
"sides": [{{"passage": <编号>, "quote": "<段落原文>", "says": "<其说法>"}}]}}]}}
矛盾至少有两方。列表可以为空。""",
    names.FACTS: f"""{_JSON}\
{{"facts": [{{"kind": "statement"|"number"|"condition"|"prohibition"|"red_flag", "text": "<一个事实>", "passage": \
<编号>, "quote": "<段落原文>"}}]}}""",
    names.RELEVANCE: f"""{_JSON}\
{{"drop": [{{"fact": <编号>, "why": "<几个字>"}}]}}
列表可以为空。""",
    names.SUPPORT: f"""{_JSON}\
{{"checks": [{{"fact": <编号>, "support": "entails"|"partly"|"does_not", "why": "<几个字>"}}]}}""",
    names.NEEDS: f"""{_JSON}\
{{"register": "lay"|"professional", "state": "<一句话>", "asks": [{{"text": "<所求>", "quote": "<CASE 原文>"}}], \
"missing": [{{"question": "<应问什么>", "why": "<一句话>"}}], "tone": ["<几个字>"], "form": [{{"text": "<要求>", \
"quote": "<CASE 原文>"}}]}}
列表可以为空。""",
    names.SYNTHESIS: f"""{_JSON}{{"criteria": [{_CRITERION}]}}""",
    names.DIRECT: f"""{_JSON}{{"criteria": [{_CRITERION}]}}
`facts` 和 `needs` 为空列表。""",
    names.AUDIT: f"""{_JSON}\
{{"add": [CRITERION], "unsupported": [{{"criterion": <编号>, "why": "<一句话>"}}], "irrelevant": \
[{{"criterion": <编号>, "why": "<一句话>"}}], "contradicts": [{{"criterion": <编号>, "with_criterion": \
<编号或 null>, "with_fact": <编号或 null>, "why": "<一句话>"}}], "merge": [{{"criteria": [<两个以上编号>], \
"into": CRITERION}}], "split": [{{"criterion": <编号>, "into": [<两个以上 CRITERION>]}}], "reword": \
[{{"criterion": <编号>, "into": CRITERION, "why": "<一句话>"}}]}}
每个 CRITERION 都是格式完全如下的对象：
{_CRITERION}
列表可以为空。""",
}
