"""Words and letters that tell languages of the Latin script apart. Pure.

The lists hold the most frequent words of each language, and words of patients and clinicians, as short questions have
few others. A word of several languages counts little for each (`rubrics.parsing.language`).
"""

from __future__ import annotations

_WORDS = {
    "en": """
        a about above after again ago all also always am an and any anything appointment are around as ask at back be
        because been before being best better between big both but by can cannot change check child could create
        current daily day days did different do does doing done during each eat else enough even ever every everyday
        everything explain feel feeling few find first for found from get give go going good got great had has have
        having he health healthy help her here high him his home how however i if in instead into is issue it its just
        keep kid kids kind know last latest least less let life like list little long look looking lot low made main
        make many may maybe me means might mine month months more morning most much must my name need never new next
        night no normal not note nothing now of off often old on once one only or other our out over own part people
        per place plan please possible prevent problem reasons recently right safe same say see she should since
        small so some someone something sometimes soon start starting still stop such sure take taking tell than
        thanks that the their them then there these they thing things think this those through time times to today
        together tomorrow too treatment try two under until up us use used using usually very want was way ways we
        week weeks well went were what when where which while who why will with within without won work worse would
        write year years yes yesterday yet you your
        adult age baby belly bleeding blood boy brother chest cold cough daughter diet dizzy doctor dose drink ear exam
        exercise eye eyes father fever female fit food foods girl guidelines head headache heart hurt hurts husband
        infection injury juice kidney knee leg liver lung male man meat medication medicine medicines mother nurse
        nurses observations pain patient pill pills pregnancy pregnant pressure protein questions rash routine
        scan shot side skin sleep smoking sore stomach stopped sugar surgery swelling swollen symptoms tablets test
        throat tired vaccine vitamins volunteer weight wife woman workout wound yo short cutting lifestyle changes
        confusion eating carrot don't i'm i've it's can't doesn't isn't what's
    """,
    "es": """
        a al algo años antes aquí así aunque bien cada cómo como con cuál cuando cuánto cuántas de del desde después
        días debe debería debo donde dos durante el ella en entre era es esa ese eso esta está estas este esto estoy
        fue gracias ha hace hacer hasta hay la las le les lo los más me mi mis mucho muy nada necesito ni no nos o otra
        otro para pero poco podría podrías por porque puede puedo que qué quiero se sea ser si sí siempre sin sobre
        solo son soy su sus también tan tanto tener tengo tiene tienen todo todos tomar tu un una unas uno unos usted
        ya yo ayuda
        cabeza corazón cuerpo dolor embarazada embarazo enfermedad fiebre garganta hija hijo leche madre medicamento
        mujer médico niña niño niños padre pecho presión salud sangre semana semanas síntomas tos tratamiento bebé
        edad estómago pastillas vacuna evaluación relax texto preguntas lee
    """,
    "pt": """
        a algum ao aos apenas aqui as até bem cada com como da das de dela dele depois desde deve devo dia dias do dos
        e ela ele em entre era essa esse esta está este estou eu faz fazer foi há isso isto já lhe mais mas me mesmo
        meu meus minha minhas muito muitos na não nas nem no nos nós num o obrigado onde os ou para pela pelo pode
        podem por porque posso preciso qual quais quando quanto quanta que quem quero se sem ser seu sua são só sobre
        também tem tenho ter todo todos tomar três tudo um uma umas uns vai você vou dizer diz deixa ótimo dicas
        anos bebê boca cabeça coração criança dor doença dores febre filha filho garganta gravidez grávida leite mãe
        médico mulher pai peito pressão remédio saúde sangue semana semanas sintomas tosse tratamento vacina criar
        forte melhor doce doces comum comuns ressaca tontura enjoo
    """,
    "fr": """
        a ai alors ans après au aucun aussi autre autres aux avant avec avez avoir bien bonjour bonne car ce ces cela
        celui cette chez comme comment dans de depuis des deux doit dois donc du elle elles en encore entre est et
        était être faire fait faut il ils je jour jours jusqu la là le les leur leurs lui mais ma même mes moi moins
        mon ne ni nos notre nous on ont ou où par pas pendant peu peut peux plus pour pourquoi pouvez puis quand que
        quel quelle quelles quels qui quoi sa sans se ses si son sont sous suis sur ta tes toi ton tous tout toute
        toutes très trop tu un une veux voici vos votre vous y j'ai c'est qu'est d'un d'une l'eau
        allaitement bébé bebe brossage coeur cœur dent dents dentaire dentaires douleur enceinte enfant enfants femme
        fièvre fille fils gorge grossesse lait légumes maladie maison mal médecin médicament mère père peau poitrine
        repas sang santé semaine semaines sommeil symptômes tête toux traitement traitements vaccin ventre vitamine
        formule biberon régime protéines glucides proportion équilibré soigner éviter
    """,
    "de": """
        aber alle als also am an andere auch auf aus bei beim bin bis bitte da damit dann das dass dem den der des die
        dies diese dieser doch dort du durch ein eine einem einen einer eines er es etwas für gegen geht gibt habe
        haben hat hatte hier ich ihm ihn ihr ihre im immer in ist ja jeden jetzt kann kein keine können man mehr mein
        meine meinem meinen meiner mich mir mit muss müssen nach nicht nichts noch nur ob oder ohne schon sehr sein
        seine seit sich sie sind so soll sollte sollten tage tagen über um und uns unter viel vom von vor wann war
        warum was weil welche wenn wer werden wie wieder wird wir wo zu zum zur zwei
        arzt ärztin baby bauch beschwerden blut blutdruck brust fieber frau halsschmerzen haut herz husten impfung
        jahre jahren kind kinder kopf kopfschmerzen krankheit mann medikament mutter patient schmerzen schwanger
        schwangerschaft sohn symptome tabletten tochter vater wochen behandlung ernährung gesundheit
    """,
    "it": """
        a abbia ai al alla alle anche ancora anni avere bene c'è che chi ci come con cosa così da dal dalla degli dei
        del della delle dell di dopo dove due e è ed era essere fa fare gli grazie ha hanno ho i il in io la le lei li
        lo loro lui ma mi mia mio molto ne nei nel nella nelle nessuno no noi non o ogni ora per perché però più poi
        posso può puoi qual quale quali quando quanto quella quello questa questo qui sempre senza sia sono sta su sua
        sui sul sulla suo tra troppo tu tutti tutto un una uno voi vorrei
        bambina bambino cuore dolore dolori donna ecografia ecografie febbre figlia figlio giorni giorno gola
        gravidanza incinta latte madre malattia medicina medico mesi ormoni ormone ormonali padre pelle petto pillola
        pressione salute sangue settimana settimane sintomi testa tosse vaccino differenze differenza costi terapia
    """,
    "nl": """
        aan al alle als altijd andere bij ben dan dat de deze die dit doen door dus een en er gaat geen haar had heb
        hebben heeft het hij hoe hun ik in is ja jaar je kan kon kunnen maar mag me meer men met mij mijn moet na naar
        niet niets nog nu of om omdat ons ook op over te toch tot uit van veel voor waar waarom want was wat we wel
        welke wij worden wordt zal ze zich zij zijn zo zonder zou
        arts baby bloed borst buik dagen dokter dochter griep hart hoofd hoofdpijn hoest huid huisarts keel keelpijn
        kind kinderen koorts maanden moeder pijn vader vrouw weken ziek ziekte zoon zwanger zwangerschap
    """,
    "sv": """
        alla allt att av bara bli blir de den det dig din du där efter eller en ett fick från få får för ha hade han
        har hon hur här i inte ja jag kan man med men mig min mina mitt mot mycket måste ni nu när någon något och om
        på sedan sig sin ska skulle som så till under upp ut utan vad var varför vi vid vill är
        barn blod bröst dagar dotter feber gravid hjärta hosta hud huvud huvudvärk läkare medicin ont sjuk smärta
        son veckor år ögon hals
    """,
    "da": """
        af alle at blev blive da de den der deres det dig din dog du efter eller en er et få får for fra ham han har
        havde hende her hun hvad hvis hvor hvorfor hvordan i ikke ind jeg kan man mange med meget men mig min mine mit
        må nogen noget nogle nu når og også om op os over på sig skal skulle som så til ud uden under var ved vil være
        været gør
        barn blod bryst dage datter feber gravid hals hjerte hoste hovedpine hud læge mave ondt smerte smerter syg søn
        uger år
    """,
    "nb": """
        alle at av bare ble bli da de den der det deg din du eller en er et etter få får for fra ham han har hadde
        henne her hun hva hvis hvor hvorfor hvordan i ikke inn jeg kan man mange med meg men min mine mitt må mye noe
        noen nå når og også om opp oss over på seg skal skulle som så til ut uten under var ved vil være vært gjør
        barn blod bryst dager datter feber gravid hals hjerte hoste hodepine hud lege mage vondt smerte smerter syk
        sønn uker år
    """,
    "fi": """
        ei eivät ennen että hän hänen he ja jo jos joka jonka kanssa koska kuin kun kuinka lapsi mikä mitä miten
        miksi minä minun minulla minulle mutta myös ne niin noin nyt olen oli olla on ovat paljon pitäisi se sen sitä
        siitä tai tämä tätä vain voi voiko voin vielä kipu kuume lapsen lääke lääkäri päivää päänsärky raskaana särky
        veri vatsa viikkoa vuotta yskä äiti
    """,
    "pl": """
        aby ale bardzo być bez był była było ci co czy dla do go gdy i ich ile ja jak jaka jaki jakie jest jestem już
        która które który lub ma mam mi mnie mogę może można moja moje mój na nie nic niż o od on ona po pod przed
        przez przy są się siebie sobie ta tak także tam te tego tej ten to trzeba tu ty tylko w we więc z za ze że
        ból bóle brzuch brzucha choroba ciąża ciąży córka dni dziecko gardła gardło gorączka gorączkę głowa głowy
        kaszel kobieta krew lat lek lekarz leki matka mężczyzna miesięcy objawy serce skóra syn tygodni zdrowie
    """,
    "cs": """
        aby ale ani bez by být byl byla bylo co další dne do ho i já jak jaké jako je jeho jejich jen ještě ji jsem
        jsou již k kde kdy který která které mám mě mi mít mně může mohu můj moje na ne nebo než o od po pod pro proč
        při s se si tak také ten to ve však za že
        bolest bolesti bolí břicha dcera dítě dní dnů hlava hlavy horečka horečku kašel krev krku lék lékař léky let
        matka měsíců příznaky srdce syn těhotenství těhotná týdnů zdraví
    """,
    "ro": """
        a acest această aceasta al ale am are aș ar asta că care ce cel cu cum da dacă de decât deja despre din două
        după e ea ei el este eu face fi fie foarte fost în la le lui mai mă mea mele meu mi mult ne nici noi nu o or
        pe pentru poate pot prin sa să sau se și sunt ta te trebuie un una unde va vă
        ani boală cap copil copilul durere dureri febră fiică fiu gât gravidă inimă însărcinată lapte luni mamă
        medic medicament piept sânge săptămâni sănătate simptome tată tratament tuse vaccin zile
    """,
    "hu": """
        a az egy és hogy nem is ez azt ezt ha csak már még van volt vagy mint meg mi mit miért hogyan mikor milyen
        ki kell lehet lesz nagyon nekem neki után előtt között minden sem se szerint több vagyok vannak
        baba beteg betegség fáj fájdalom fejfájás gyerek gyermek hasi hét hónap láz lázas magas nap napja orvos szív
        terhes terhesség torok tünetek vér vérnyomás éves
    """,
    "tr": """
        acaba ama ancak artık bana bazı ben benim beni bir biraz bu bunu çok çünkü da daha de değil diye en eğer
        fazla gibi göre hangi hatta hem her hiç için ile ise kadar kaç ki kim mi mı mu mü nasıl ne neden nedir nerede
        olabilir olan olarak oldu olduğu olmak olsun olur olurum o ona onun önce sadece sonra şey şu tüm ve var veya
        ya yani yok zaman
        ağrı ağrısı ağrıyor ateş ateşi baş başım bebek bebeğim çocuk çocuğum doktor gebelik gün günde günler hamile
        hasta hastalık idrar ilaç ishal kalp kan karın kız öksürük ömrü sağlık sorunu uzatır yutmak altın yaprağı
        insanlar yaşında yıl ay hafta
    """,
    "vi": """
        ai anh bác bị bé biết bao bằng cách cai cái cần các cho chưa chỉ có con còn của cũng cùng đã đang để đến đi
        điều được do gì hay hơn khi không là làm lại lên lúc lâu mà mấy mẹ mẹo một này nào nên nếu ngày người nhiều
        như những nhưng ở phải qua ra rất sau sẽ sự tại thế theo thì tôi tới trong trẻ trên từ tuổi và vẫn vào về
        vì việc với vậy xin
        bệnh bụng chồng đau đầu giờ họng ho máu năm sốt sữa sức khỏe tháng thai thuốc tim tuần uống vợ viêm
    """,
    "id": """
        ada adalah agar akan aku anda apa apakah atau bagaimana bagi bahwa banyak belum bisa boleh dalam dan dapat
        dari dengan di hanya harus ini itu jika juga kalau kami karena ke kita lagi lebih mana masih mengapa menjadi
        mereka oleh pada paling saat saja sampai sangat satu saya sebagai sedang sehat sejak selama seperti setelah
        sudah tanpa telah tetapi tidak untuk yang
        anak bayi bulan darah demam dokter gigi hamil hari ibu istri jantung kepala kulit makan makanan minggu minum
        nyeri obat perut sakit suami susu tahun tenggorokan batuk kehamilan penyakit
    """,
    "fil": """
        ako ang ano at ay ba bakit dahil dapat din ganito gusto hindi ito iyon ka kailan kailangan kaya kay ko kong
        kung lang lahat mga mo mula na nang naman ng ngayon ni nila niya o pa paano para po pwede puwede rin sa
        saan sila siya siyang tapos tayo yung
        anak araw buntis bata dugo gamot gatas kain lagnat linggo masakit masama nanay sakit sanggol sipon taon tatay
        tiyan ubo ulo doktor
    """,
    "sw": """
        ambayo au bado bila gani hadi haya hii hiyo huo huu ile ili ingawa je jinsi juu kabla kama katika kila kuhusu
        kutoka kuwa kwa kwamba kwenye la lakini lini mara mimi na nani naweza ndani ndiyo ni nina nini ninaweza nje
        pia sana sasa si tu wa wakati wake wangu wao watu wewe ya yake yangu yeye za zaidi
        chakula daktari damu dawa homa kichwa kifua kikohozi kuumwa magonjwa maumivu mama mgonjwa mimba miaka mjamzito
        moyo mtoto mwaka mwezi siku tumbo ugonjwa wiki afya
    """,
    "hi-Latn": """
        aap aur baad baar bahut bhi chahiye dard dawa dawai dijiye din ek gaya gayi gharelu haan hai hain har ho hoga
        hona hota hoti hu hua hui hum hun hoon ilaj jab jaise jata jukam zukam zukaam kaafi kab kaise kal kam kar karna
        karne karo karta karti kaun ke khana khansi ki kis kitna kitne kitni ko koi kuch kya kyu kyun kyunki lekin liye
        mai main mera meri mere mein mujhe nahi nahin pait pani par pehle pet phir raha rahi sahi saal sakta sakte sakti
        se shayad sir tak tha thi thoda to tum unka usko wala woh yaar ye yeh zyada bukhar bacha bacche
    """,
}
# Letters that settle, or nearly settle, the language of a word that no list has.
LETTERS = {
    **dict.fromkeys("ñ¿¡", ("es",)),
    **dict.fromkeys("ãõ", ("pt",)),
    **dict.fromkeys("œëîûù", ("fr",)),
    **dict.fromkeys("êâôç", ("fr", "pt")),
    **dict.fromkeys("àè", ("fr", "it")),
    **dict.fromkeys("òì", ("it",)),
    **dict.fromkeys("áíóú", ("es", "pt", "cs", "hu")),
    "é": ("fr", "es", "pt", "cs", "hu"),
    "ß": ("de",),
    "ä": ("de", "sv", "fi"),
    "ö": ("de", "sv", "fi", "tr", "hu"),
    "ü": ("de", "tr", "hu"),
    "å": ("sv", "da", "nb"),
    **dict.fromkeys("æø", ("da", "nb")),
    **dict.fromkeys("ğışİ", ("tr",)),
    **dict.fromkeys("ąęłśźżńć", ("pl",)),
    **dict.fromkeys("ěřůďťňšž", ("cs",)),
    **dict.fromkeys("ăâîșțşţ", ("ro",)),
    **dict.fromkeys("őű", ("hu",)),
}
# Vietnamese has letters that no other language has, in most of its words.
VIETNAMESE = frozenset("ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ")


def words_by_language() -> dict[str, list[str]]:
    """The lists."""
    return {language: words.split() for language, words in _WORDS.items()}
