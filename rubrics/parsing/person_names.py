"""Finds names of people by the words around them: kinship words, titles, “name is”, in English and Chinese. Pure.

A capitalised word alone is no finding, since drugs, diseases and places begin with a capital letter as well. In Chinese
a name is a common surname with one or two characters, so its end must be clear, and medicine's own words are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from consilium.llm.quantities import drugs_in

_HAN = r"\u4e00-\u9fff"
_ANY_HAN = re.compile(f"[{_HAN}]")

# English --------------------------------------------------------------------------------------------------------------

_UPPER, _LOWER = "A-ZÀ-ÖØ-Þ", "a-zß-öø-ÿ"
_PART = rf"(?:Mc|Mac|O['’]|D['’])?[{_UPPER}][{_LOWER}]{{1,20}}"
_WORD = rf"{_PART}(?:-{_PART})?(?![{_LOWER}{_UPPER}])"
_LINK = r"(?: (?:de la|de los|de|del|da|dos|van der|van den|van|von|bin|ibn|al|el|[A-Z]\.?))?"
_WHOLE = rf"{_WORD}(?:{_LINK} {_WORD}){{1,2}}"  # a first and a last name
_ANY = rf"{_WORD}(?:{_LINK} {_WORD}){{0,2}}"

_KIN = (
    r"(?:(?:step|grand|great-grand|god|foster |half-|half |older |elder |younger |little |late |ex-|twin |best |best-)?"
    r"(?:husband|wife|spouse|partner|son|daughter|child|kid|baby|infant|toddler|mother|father|mom|mum|mummy|mommy|dad|"
    r"daddy|parent|brother|sister|sibling|twin|ma|pa|grandma|grandpa|granny|nana|aunt|auntie|uncle|niece|nephew|cousin|"
    r"fiancée?|boyfriend|girlfriend|friend|roommate|flatmate|housemate|neighbou?r|colleague|coworker|co-worker|boss|"
    r"teacher|student|client|patient|doctor|physician|gp|nurse|midwife|surgeon|therapist|dentist|carer|caregiver))"
    r"(?:-in-law)?"
)
_OWNER = r"(?i:\b(?:my|our|his|her|their|your|the|a|this|patient['’]s))"
_PERSON = rf"(?:man|woman|boy|girl|gentleman|lady|guy|person|{_KIN})"
_TITLE = r"(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof)\b\.?|(?:Doctor|Professor|Nurse)\b"
_ABOUT = (
    r"has|had|is|was|will|would|can|cannot|does|did|who|whose|says|said|fell|started|began|woke|got|takes|took|feels|"
    r"felt|complains|complained|keeps|kept|needs|died|passed|lives|suffers|suffered|developed|came|went"
)
_AGE = r"(?:aged? )?\d{1,3}(?![\d./]| ?(?:mg|mcg|g|ml|mL|units?|times|x|%)\b)"
# Here the name is at an end.
_PAUSE = r"[.,;!?(\n]| \(| and (?:I|he|she|they|my|is|has)\b|$"
_OPINION = "think|believe|guess|suspect|know|assume|hope|fear|suppose|wonder"

_ENGLISH = (
    # My husband John Smith; our daughter, Ana de la Cruz
    re.compile(rf"{_OWNER} {_KIN},? ({_WHOLE})"),
    # My husband John has; my son Tom, 5
    re.compile(rf"{_OWNER} {_KIN},? ({_WORD})(?=,? \(?(?:{_AGE}|(?:{_ABOUT})\b)|['’]s\b)"),
    # John Smith, my husband; Jane Roe is my wife
    re.compile(rf"(?<![\w-])({_WHOLE})(?:,| is| was) (?:my|our|his|her) {_KIN}(?![\w'’-])"),
    # My husband is John Smith and he has; my son is Tom Brown, 5
    re.compile(rf"(?i:\b(?:my|our|his|her|their)) {_KIN}(?: is| was|['’]s),? ({_WHOLE})(?={_PAUSE})"),
    # A man named John; my wife, called Mary Roe
    re.compile(rf"\b{_PERSON},? (?:named|called|by the name of) ({_ANY})"),
    # My name is Jane; her name's Jane Roe; my son's name is Tom
    re.compile(
        rf"(?i:\b(?:my|his|her|their|our|{_PERSON}['’]s) (?:full |first |last |middle |given |family |real )?"
        rf"(?:sur)?name(?: is| was|['’]s| ?[:=]) ?)({_ANY})"
    ),
    # I'm Jane Roe, 45
    re.compile(rf"(?i:\bI(?:['’]m| am)) ({_WHOLE})(?=,? (?:and I(?:['’]m| am) |I(?:['’]m| am) |a |an )?\(?{_AGE})"),
    # I am John Smith and I have; Hi, I'm Jane Roe.
    re.compile(rf"(?i:\bI(?:['’]m| am)) ({_WHOLE})(?={_PAUSE})"),
    # This is Mary Roe, I need help; this is Mary Roe calling
    re.compile(
        rf"(?i:\bthis is) ({_WHOLE})"
        rf"(?=(?:,| and|, and) (?:I(?! (?:{_OPINION})\b)|my)\b|,? (?:calling|writing|speaking)\b)"
    ),
    re.compile(
        rf"(?:(?i:\b(?:patient(?:['’]s)? name|full name|name of (?:the )?patient)) ?[:=] ?|(?<![\w ])Name ?: ?)"
        rf"({_PART},? {_PART}(?: {_PART})?)"
    ),
    re.compile(rf"(?i:\b(?:the |a )?patient,? )({_WHOLE})(?=,? (?:\(|aged? )?\d{{1,3}}[ -]?(?:y|,|\)))"),
)
_TITLED = re.compile(rf"\b(?:{_TITLE}) ({_ANY})(?: ?\([^)]{{0,20}}\))?")
_TITLE_OF_PATIENTS = re.compile(r"(?:Mr|Mrs|Ms|Miss|Mx)\b")
_NUMBER_NEAR = 40
# Dr. Patel, ext. 4471: somebody who can be reached is a person.
_REACHED = re.compile(
    r"[,;]? ?(?:\(|at |on |is )?(?:ext(?:n|ension)?|tel|telephone|phone|pager|bleep|mobile|cell)\b\.?"
    r"(?: ?(?:number|no\.?))?(?: is)? ?[:#]? ?\+?\d",
    re.IGNORECASE,
)
_GIVEN_TO = re.compile(
    r"\b(?:giv(?:e|es|ing|en)|gave|feed(?:ing)?|fed|offer(?:ed)?|bought|buy|put|let|get|got)\s+$", re.I
)

# Words with a capital letter that are no part of a name.
_NO_NAMES = frozenset(
    re.findall(
        r"\w+",
        """
        i a the is was has had can does did will who what when where why how if and or but so also please thanks thank
        hi hello dear yes no not she he they we it you my his her our their this that then there here after before since
        january february march april june july august september october november december monday tuesday wednesday
        thursday friday saturday sunday christmas easter ramadan
        type stage grade group class blood pressure diabetes cancer disease syndrome disorder covid corona virus flu
        hepatitis hiv aids lyme crohn crohns alzheimer alzheimers parkinson parkinsons hashimoto hashimotos graves down
        asperger lupus asthma migraine heart health care hospital clinic medical emergency room center centre school
        university insurance medicare medicaid practitioner manager assistant specialist coordinator supervisor line
        tylenol advil motrin aleve zyrtec claritin benadryl allegra children childrens infants baby aspirin vitamin
        omega ozempic wegovy mounjaro eliquis xarelto coumadin lipitor zoloft prozac lexapro xanax ativan valium
        adderall ritalin concerta synthroid lasix plavix keppra humira botox viagra cialis nyquil dayquil
        mucinex sudafed pedialyte calpol nurofen panadol pepto bismol tums imodium miralax gaviscon epipen ventolin
        flonase
        american african asian european indian chinese hispanic native english british french german spanish muslim
        christian jewish catholic hindu god jesus lord
        italian irish scottish polish greek russian ukrainian turkish mexican latino latina puerto rican cuban
        brazilian japanese korean vietnamese filipino pakistani iranian nigerian canadian australian caucasian
        ashkenazi eastern western northern southern buddhist sikh mormon jehovah jehovahs witness
        internal medicine board certified blood rh autism autistic adhd diabetic celiac coeliac anemia anaemia gout
        shingles sepsis stroke epilepsy copd ibs gerd pneumonia dementia eczema rosacea acne glaucoma lymphoma melanoma
        myeloma malaria ebola zika sjogren sjogrens raynaud raynauds chemo chemotherapy dialysis surgery
        acute chronic severe atrial ventricular
        trazodone gabapentin pregabalin lamotrigine levothyroxine hydroxyzine tramadol melatonin acetaminophen naproxen
        allopurinol tamoxifen letrozole clonidine cetirizine levetiracetam phenytoin donepezil memantine entresto
        jardiance farxiga trulicity victoza januvia humalog lantus novolog crestor zocor nexium prilosec pepcid zantac
        norco percocet vicodin oxycontin ambien lunesta seroquel abilify cymbalta effexor wellbutrin celexa paxil
        remicade enbrel imuran
        google internet siri alexa chatgpt health questionnaire plan score test scale index positive negative
        """,
    )
)

_DISEASE = re.compile(r"(?:itis|osis|pathy|algia|plasia|uria|aemia|(?<!h)emia)$", re.IGNORECASE)


def _english(text: str) -> Iterator[tuple[int, int]]:
    for pattern in _ENGLISH:
        for match in pattern.finditer(text):
            if _is_name(match[1]) and not _GIVEN_TO.search(text[max(0, match.start() - 20) : match.start()]):
                yield match.span(1)
    for match in _TITLED.finditer(text):
        # A whole name, a patient's surname with a number close by, or a surname with a telephone number. Other surnames
        # alone are often books or brands.
        near = text[match.end() : match.end() + _NUMBER_NEAR].split("\n", 1)[0]
        numbered = _TITLE_OF_PATIENTS.match(match[0]) and any(map(str.isdigit, near))
        reached = _REACHED.match(text, match.end(1))
        if (" " in match[1] or numbered or reached) and _is_name(match[1]):
            yield match.span()


def _is_name(words: str) -> bool:
    parts = re.findall(r"[^\W\d_]+", words.replace("’", "").replace("'", ""))
    if any(part.lower() in _NO_NAMES or _DISEASE.search(part) for part in parts):
        return False
    return not drugs_in(parts[0])  # surnames end like drugs at times, as Caine does


# Chinese --------------------------------------------------------------------------------------------------------------

_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪"
    "田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文庞樊兰殷施陶洪翟安颜倪严牛温芦季"
    "俞章鲁葛伍韦申尤毕聂丛焦向柳邢骆岳齐尚梅莫庄辛管祝左涂谷祁时舒耿牟卜路詹关苗凌费纪靳盛童欧甄项曲成游阳裴席卫查屈鲍位覃霍翁隋"
)
# Words that begin like a surname.
_NO_CHINESE_NAMES = (
    "高血|高烧|高热|高度|高尿|高脂|高糖|高龄|高级|高中|高压|高危|白血|白内|白癜|白天|白带|白细|白色|黄疸|黄色|黄体|"
    "常年|常常|常有|常见|时常|时而|时候|时间|时不|严重|牛皮|牛奶|康复|温度|安全|安排|安眠|于是|于今|于昨|于前|万一|"
    "万分|关节|关心|关系|石头|金属|段时|方面|方便|梅毒|莫名|辛苦|尤其|成年|成天|成功|成人|查出|查体|查血|查尿|查过|查了|"
    "管床|左侧|左腿|左眼|左手|左脚|左边|左肩|左胸|左下|左上|焦虑|焦躁|向来|童年|凌晨|夏天|谢谢|何时|马上|周一|周二|"
    "周三|周四|周五|周六|周日|周末|周围|周身|许多|曾经|曾有|苏醒|叶酸|颜面|毕竟|毕业|尚未|尚可|尚有|涂药|舒服|舒适|程度|"
    "任何|任意|陆续|游泳|阳性|阳痿|阳光|路上|文化|易怒|易醒|易疲|易感|康健|平时|江湖|史上|马拉|胡言|胡话|胡思|"
    "汤药|金黄|余下|余热|余年|钟头|孙子|孙女|花粉|林蛙|杜绝|戴口|戴眼|戴牙|贺尔|荷尔|洪水|安静|安定|温和|温热|水痘|"
    "曲张|项目|费用|费力|位于|卫生|盛行|纪录|方案|毛病|毛囊|甲亢|齐全|文静|武术|常规|乔迁|路过|全身|"
    "江苏|江西|安徽|成都|武汉|温州|石家|金华|常州|徐州|郑州|沈阳|邢台|唐山|秦皇|马来|韩国"
)
# No name has these characters after the surname.
_NOT_IN_NAMES = "某或由的了是就也都不被把对从到等吗呢吧啊您你我他她"
_SURNAME = rf"(?:欧阳|上官|司马|诸葛|东方|皇甫|尉迟|公孙|慕容|司徒|[{_SURNAMES}])"
_CHINESE = rf"(?!{_NO_CHINESE_NAMES}){_SURNAME}(?:(?![{_NOT_IN_NAMES}])[{_HAN}]){{1,2}}"
# These begin other words more often than a name, where no word such as 叫 comes before it.
_WEAK = "常时于曾易向查管左成位费毛项方"
_CHINESE_KIN = (
    "丈夫|老公|先生|妻子|老婆|爱人|太太|媳妇|对象|男友|女友|男朋友|女朋友|儿子|女儿|孩子|小孩|宝宝|父亲|母亲|爸爸|妈妈|"
    "老爸|老妈|爸|妈|公公|婆婆|岳父|岳母|哥哥|弟弟|姐姐|妹妹|大哥|二哥|大姐|二姐|爷爷|奶奶|外公|外婆|姥爷|姥姥|孙子|孙女|"
    "外孙|外孙女|伯伯|伯父|叔叔|舅舅|姑姑|姨妈|阿姨|侄子|侄女|外甥|外甥女|表哥|表弟|表姐|表妹|堂哥|堂弟|堂姐|堂妹|"
    "朋友|同事|同学|邻居|室友|老师|学生"
)
_CHINESE_TITLE = "先生|女士|小姐|太太|医生|医师|大夫|主任|教授|护士|护士长|老师|阿姨|叔叔|大爷|大妈|同志|老人家"
_STOP = r"[,，.。、;；!！?？\s:：(（)）]|$"
_CHINESE_NAMES = (
    re.compile(rf"(?:姓名|患者名|病人名)(?:是|为)? ?[: ]? ?({_CHINESE}?(?![{_HAN}])|{_CHINESE}?(?=[男女性年]))"),
    # 我叫王芳，; 他的名字是王芳; 我丈夫叫张伟
    re.compile(
        rf"(?:[我他她]|名|名字|(?:{_CHINESE_KIN}))(?:叫做|叫|名叫|的?名字(?:叫|是|为)|名字[:：]) ?({_CHINESE}?)"
        rf"(?={_STOP}|今年|今|男|女|\d)"
    ),
    # 我丈夫张伟，; 她儿子李小明（5岁）; 我妈妈王芳今年60岁
    re.compile(
        rf"(?:[我他她您你]|我们|咱|家|患者)的?(?:{_CHINESE_KIN})[,，:： ]?(?![{_WEAK}])({_CHINESE}?)"
        rf"(?=[,，、;；\s(（]|[。.!！?？]|$|今年|现年|年\d|男[,，性]|女[,，性]|\d{{1,3}} ?岁)"
    ),
    re.compile(
        rf"(?:患者|病人|病患)[:, ]?({_CHINESE}?)(?=[,， (（]{{0,2}}(?:男|女|性别|\d{{1,3}} ?岁))"
        rf"|(?<![{_HAN}])({_CHINESE}?)(?=[,， ]{{1,2}}(?:男|女)[性]?[,， ]{{0,2}}\d{{1,3}} ?岁)"
    ),
    # 主治医生是李建国，; 我的家庭医生叫王芳
    re.compile(
        r"(?:主治|主管|管床|主刀|接诊|责任|家庭|值班|首诊|经治)(?:医生|医师|大夫|护士|专家|主任|教授)"
        rf"(?:是|叫|名叫|为|:) ?({_CHINESE}?)(?={_STOP}|医生|医师|大夫|主任|教授|护士|和|的)"
        rf"|(?:医生|医师|大夫|护士|主任|教授)(?:叫|名叫) ?(?![{_WEAK}])({_CHINESE}?)(?={_STOP})"
    ),
    # 张伟医生, at the beginning of a phrase or after who is spoken to or of
    re.compile(
        rf"(?:(?<![{_HAN}\d])(?<!\d )|(?<=[请找由跟给让])|(?<=患者)|(?<=我是))"
        rf"(?![{_WEAK}])({_CHINESE}?)(?={_CHINESE_TITLE})"
    ),
)


def _chinese(text: str) -> Iterator[tuple[int, int]]:
    for pattern in _CHINESE_NAMES:
        for match in pattern.finditer(text):
            yield match.span(match.lastindex or 0)


def name_spans(text: str) -> list[tuple[int, int]]:
    """Where names of people stand, in the order of the rules; some may overlap."""
    return [*(_chinese(text) if _ANY_HAN.search(text) else ()), *_english(text)]
