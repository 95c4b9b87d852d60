"""Closed word classes of English: with these words the rules need no part-of-speech tagger."""

from __future__ import annotations

from franq_guard.basics.words import word_set

DETERMINERS = word_set(
    "a an the this these those every each some any no another both all several many most few"
    " its his her their our my your one two three four five six seven eight nine ten"
)
POSSESSIVES = word_set("its his her their our my your")
SUBJECT_PRONOUNS = word_set("he she it they we you i this that these those there who")
PERSONAL_PRONOUNS = word_set("he she it they we i")
OBJECT_PRONOUNS = word_set("him them me us")
"""Those that are nothing else ("her", "it" and "you" may be): no clause has one as its subject."""
THIRD_PERSON = word_set(
    "he she it they him her them his its their hers theirs himself herself itself"
)
PRONOUN_VERBS = word_set(
    "it's he's she's that's there's they're we're you're i'm it'll he'll she'll they'll we'll"
    " i'll he'd she'd they'd we'd i'd they've we've i've you've what's who's"
)
PREPOSITIONS = word_set(
    "about above across after against along alongside amid among amongst atop around as at before"
    " behind below beneath beside between beyond by despite during except for from in inside into"
    " like near of"
    " off on onto opposite out outside over per since through throughout to toward towards under"
    " underneath until unto up upon via with within without worth including following"
)
COORDINATORS = word_set("and but or yet nor")
CONTRASTS = word_set("while whereas although though")
SUBORDINATORS = word_set(
    "because if when whenever after before until unless since as once so provided lest whether"
)
RELATIVES = word_set("who which whose whom where that what")
COMPLEMENT_VERBS = word_set(
    "said says say stated states claimed claims argued argues believed believes thought thinks"
    " suggested suggests reported reports showed shows found announced explained explains noted"
    " notes concluded hoped hopes feared knew knows wrote revealed reveals indicated indicates"
    " mention mentions mentioned confirm confirms confirmed estimated proved"
    " demonstrated demonstrates means meant discovered learned learnt realised realized recognised"
    " recognized observed observes warned warns told agreed decided opined opines asserted asserts"
    " insisted insists maintained maintains predicted predicts emphasized emphasizes emphasised"
    " emphasises stressed stresses admitted admits acknowledged acknowledges contended contends"
    " recalled recalls clarified clarifies highlighted highlights added adds"
)
BE = word_set("is are was were am be been being isn't aren't wasn't weren't")
AUXILIARIES = BE | word_set(
    "has have had hasn't haven't hadn't do does did doesn't don't didn't will would can could may"
    " might must shall should won't wouldn't can't cannot couldn't shouldn't mustn't"
)
HAVE = word_set("has have had")
FINITE_AUXILIARIES = AUXILIARIES - {"be", "been", "being"}
MODALS = word_set(
    "will would can could may might must shall should won't wouldn't can't cannot couldn't"
    " shouldn't mustn't do does did doesn't don't didn't"
)
ADVERBS = word_set(
    "also later then often soon now still already never always again once twice thus therefore"
    " eventually today currently even only just not n't instead perhaps sometimes usually first"
    " ultimately afterwards afterward thereafter meanwhile ever further both together rarely"
    " generally largely mostly mainly widely formerly initially originally famously seldom hardly"
    " barely"
)
NO_ADVERBS = word_set(
    "family assembly supply reply anomaly monopoly jelly belly bully rally tally homily elderly"
    " friendly lovely likely unlikely costly deadly lonely silly butterfly dragonfly firefly apply"
    " multiply comply imply timely orderly"
)
"""Nouns, adjectives and verbs that end like adverbs."""
OPENERS = word_set(
    "however moreover furthermore additionally meanwhile today yes no overall therefore thus"
    " instead finally first second third lastly eventually later then similarly consequently"
    " nevertheless nonetheless besides indeed also yesterday currently"
)
COLLECTIVE = word_set(
    "between among consists consist consisted consisting composed comprises comprised comprise"
    " mixture combination blend pair set series group team trio total sum union made mix alloy"
    " both either neither difference differences distance relationship border collaboration"
    " marriage rivalry merger cooperation dispute conflict friendship comparison conversation"
    " debate"
)
DEALT_OUT = word_set(
    "respectively together jointly alternately combined each collectively either versus vs mutual"
    " simultaneously"
)
NAMING = word_set("called named titled entitled dubbed nicknamed known considered termed based")
LETTING = word_set("let lets make makes made help helps helped")
"""Somebody else acts after these: "a shop that lets you save time"."""
PLURAL_NOUNS = word_set(
    "two three four five six seven eight nine ten many some people children"
    " men women they them we us you i police mice geese cattle sheep salmon fish deer both these"
)
