"""Sentences that earlier rules cut wrongly: they stay whole, or the cut is made another way.

What was found by reading: lists that are true only as a whole, words that look like a verb, and
places, times and conditions that hold for more than the clause they stand in.
"""

import pytest

from franq_guard.claims import RuleSplitter


def texts(answer):
    return [c.text for c in RuleSplitter().split(answer) if c.not_a_claim is None]


LISTS = [
    # made, meant or counted together
    "The wall was mainly built from clay, straw and wood.",
    "The hymn was written by Ann Reed and Bo Fox.",
    "They sold six million cups in Peru and Chile.",
    "Three kings ruled in Arn and Belm.",
    "It has three bases: one and two.",
    "The senses are those for sight, sound and smell.",
    "He averaged 10.9 points, 3.6 throws and 1.4 steals per game.",
    # one noun, or one name, for several members
    "They expect raw material, trade, and wage costs.",
    "They won two gold and five silver medals.",
    "It has more subtle and more daring tunes.",
    "She is a poignant and quiet moment in the play.",
    "It is the capital and largest town of Orrin.",
    "He fought against Carl V, Emperor of the West and King of Spain.",
    "She was the daughter of Bob Gray, the former mayor and Governor of Ulm.",
    "She is a pupil of Weaver School and the Artists Club.",
    "The talk was hard for the Department of Parks and Wildlife staff.",
    # members of different kinds
    "She keeps on walking, full of life and joy.",
    "They have been sold, plus one book and two films.",
    "The cast has Ben Bratt as Ed, Tom's friend, and Steve Coe as Si.",
    "He served as a judge in Ulm from 1976, and from 1990 to 2004 in Bern.",
    "Agnes was a poet, the child of Al Fox, Mayor of Ulm and his wife Eva Roe.",
    "The link is a bridge over the strait, the narrow part of Ulm Bay and the sea.",
    # words after the list belong to all of it
    "He knocks Ann and Bo off.",
    "The vote won Ann and Bo the prize for singing.",
    "It was led by Al Reed with Ann Roe, Bo Fox and Cy May in the leading roles.",
    "It was led by Al Reed with Ann Roe, Bo Fox and Cy May as guests.",
    # the first noun's modifier may hold for all
    "It has a very fine shape, taste and smell.",
    "He was jailed in 1933 and 1944 by the king.",
    # an adjective in a list, no verb
    "The rise is linked to changing habits, increased sales, and weakened rules.",
    "The yard was full of people playing chess, reading, and feeding their birds.",
    # words that are said once for all members, or members that are no things
    "The town borders Lake Arn and Belm.",
    "He climbed Mount Arn and Belm.",
    "It sells bread, milk and more.",
    "It sells bread, milk, and others.",
    "His score was 27 and 31.",
    'It has a lawn and its test "has parts" today.',
]

SCOPE = [
    # the first words hold for both clauses
    "In a pool, people swim, but there are no seats.",
    "Of the herbs, 600 grow here, while only two are found abroad.",
    "Every time he sang, the crowd left and the band played on.",
    "On the day, if the king is ill, and they agree, then it is put off.",
    "It's good to mend a leak soon, so your tap can run and avoid any harm.",
    "This not only saves fuel but also cuts costs.",
    # one made-up case
    "An example of a hard choice is a nurse who has one bed, but two men need it.",
    "For example, on a small frame, one bead may mean five and the other bead may mean one.",
    "Another good example is a nurse who has one bed, but two men need it.",
    # "between A and B" is one place
    "A study has suggested the future of the line between arn and the south of belm"
    " could be closing to all.",
    # another noun phrase, another voice
    "It was vetoed by President Fox, the first of his nine vetoes.",
    "The plan is not cheap, but still, it could work well.",
    "The day was quiet, with the sound of birds chirping and leaves rustling in the wind.",
    # no clause ends at the comma
    "You know, he has a dog.",
    "The club grew in Arn, while Belm, a rival, lost its park and left the league.",
    "Some thought the radio and Ulm Net would grow faster than roads.",
    "She brings them bread so Ann and Bo can hide.",
    # a sentence ends inside, or a quote does not
    "The text names two men, Al Fox and Al Fox Jr. Al Fox fought from 1985 to 1998 and won.",
    'The rise goes on" In 2017, Peru took 30 men, but only kept two.',
]

VERBS = [
    "Old roofs, bad roads, and raised taxes and fees were named as reasons.",
    "Two men were hurt, and two students injured.",
    "It sold tapes, and more than 30 million records worldwide.",
    "It shows the typical issues and challenges common to towns.",
    "The fall was driven by drops in new and used car sales.",
    "The film is a short work made by Ann Lee and based on a song.",
]

NAMES = [
    "A species of whale, the blue whale, was found here.",
    "Knights Church, Dover, is old.",
    "It was a hit in Peru, the first by a local band.",
    "A song by Ann Bell, recorded for a film, was a hit.",
    "She is one of six women, in addition to Ann, named in the book.",
    "She opened her own Marina, the largest in town.",
]

TOLD = [
    # the last words say whose statement it is
    "The storm has closed two ports and one road, the mayor said.",
    "The mill was shut and sold to a bank, said the mayor of Ulm.",
    "The mill was shut and sold to a bank, according to Ann Reed.",
    "The mill was shut in 1903, and its owner left Rome, local papers reported.",
    # thought or agreed, so no fact
    "The panel thought that the rule was old, while the mayor was proud of it.",
    "The panel agreed that the plan had merits, but was unsure of its cost.",
]

UNSURE = [
    # no statement of its own
    "Where r is the radius and a and b are the sides.",
    "Probably because rice grew in Ulm, first sold as a drink.",
    # where an aside ends
    "The court sent Al Fox, who robbed a shop in Ulm, to six years in prison.",
    "He played in Ulm—she saw him there once—and still lives in Rome.",
    # what follows "meaning" may be part of it
    "The lamp is small, meaning each cell has little power, and the light fades at night.",
    # two adjectives of one noun
    "It has a bright, shining tower in the park.",
]


@pytest.mark.parametrize("answer", [*LISTS, *SCOPE, *VERBS, *NAMES, *TOLD, *UNSURE])
def test_it_stays_whole(answer):
    assert texts(answer) == [answer]


@pytest.mark.parametrize(
    ("first", "addition"),
    [
        # whose act or state it is would be a guess
        ("Michel was a smith from Arden", ", who died in 1544."),
        ("He saw a guard near the gate", ", who then left."),
        ("The rise came from slaves", ", who would then revolt."),
        ("He was a singer", ", followed by several jobs."),
        ("She was born in Ulm", ", the queen of the south."),
        ("He ran his own firm", ", not knowing that it was lost."),
        ("He made his debut in the film", ", featuring Ann Lee."),
        # said without its time it would be another statement; a date is no place
        ("It was adopted in April 1948", ", where most of its works are found."),
        ("He began his work in May", ", when Ann was ten years old."),
        ("It was there that Ann taught", ", and wrote her book."),
        # "was" may be left out
        ("He was caught in the fight", ", and beheaded the next day."),
        ("The match was the third final", " and billed as the greatest."),
        ("He left the club", ", winning the cup, the league and the shield."),
        # "critic" is no editor
        ("Tom is editor for the Times", ", critic for the Post."),
    ],
)
def test_what_is_added_is_said_with_the_whole_sentence(first, addition):
    assert texts(first + addition) == [f"{first}.", first + addition]


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        # the subject keeps its "both"; a list inside the second predicate is not taken for one
        ("Both towns lie in Orrin but have other laws.",
         ["Both towns lie in Orrin.", "Both towns have other laws."]),
        ("This season shows the main cast and depicts the issues and changes common to towns.",
         ["This season shows the main cast.",
          "This season depicts the issues and changes common to towns."]),
        # "claims" is a noun here, so nothing is reported
        ("The panel rejected his claims that the law allowed it, but found the rule too old.",
         ["The panel rejected his claims that the law allowed it.",
          "The panel found the rule too old."]),
        # "made" may be passive
        ("He was raised to duke, made a knight in 1942 and was called lord in 1956.",
         ["He was raised to duke, made a knight in 1942.", "He was called lord in 1956."]),
        # only a nationality is shared
        ("He was a graduate student and chemist.",
         ["He was a graduate student.", "He was a chemist."]),
        ("He was an Austrian film actor and director.",
         ["He was an Austrian film actor.", "He was an Austrian director."]),
        # a time of something past does not limit what follows
        ("In 1903 she left Rome and moved to Ulm.",
         ["In 1903 she left Rome.", "She moved to Ulm."]),
        ("In addition, the club has a pool and offers lessons.",
         ["In addition, the club has a pool.", "The club offers lessons."]),
        # an ordinal is the noun here, and a bracket right after a word belongs to it
        ("The second was built in 1910 and sold in 1920.",
         ["The second was built in 1910.", "The second was sold in 1920."]),
        ("The cost of f(n) is low and has no bound.",
         ["The cost of f(n) is low.", "The cost of f(n) has no bound."]),
        # "but" ends a pair of nouns; it is no part of a subject
        ("Blue was worn by smiths and cooks but green was kept for lords.",
         ["Blue was worn by smiths and cooks.", "Green was kept for lords."]),
        # what was suggested stays suggested
        ("They proposed skating, closing the road and building a bridge.",
         ["They proposed skating.", "They proposed closing the road.",
          "They proposed building a bridge."]),
        # here the last word tells of no speaker
        ("The blast began in a shed, but no fire was reported.",
         ["The blast began in a shed.", "No fire was reported."]),
        # examples and places are true one by one
        ("He drove between Arn and Belm and sold tea.",
         ["He drove between Arn and Belm.", "He sold tea."]),
        ("For example, she left Rome and moved to Ulm.",
         ["For example, she left Rome.", "She moved to Ulm."]),
        ("He wrote books, directed films and sold the house.",
         ["He wrote books.", "He directed films.", "He sold the house."]),
        ("She has run firms in Madrid and Los Altos.",
         ["She has run firms in Madrid.", "She has run firms in Los Altos."]),
        ("It has many uses such as light and heat.",
         ["It has many uses such as light.", "It has many uses such as heat."]),
        ("She trained at Arden, where she met Bo.",
         ["She trained at Arden.", "At Arden, she met Bo."]),
    ],
)  # fmt: skip
def test_the_other_cuts_stay(answer, claims):
    assert texts(answer) == claims


def test_a_sentence_before_a_formula_or_list_stays_whole():
    assert len(texts("We add both sides, and the sum will be:")) == 1


def test_an_item_of_a_counted_list_stays_whole():
    items = '1. The 2014 film "Ulm", a play shot by Al Reed.\n2. The opera.'
    counted = texts(f"The text has two topics:\n\n{items}")
    assert len(counted) == 3
    assert counted[1] == 'The text has two topics: The 2014 film "Ulm", a play shot by Al Reed.'
    assert len(texts(f"The text has these topics:\n\n{items}")) > 3


def test_every_claim_has_words_of_its_own():
    # The claim of what is included says the sentence in full, ", who ..." too, but owns two words.
    answer = "Ann and her men, including two sons, sold goods to slaves, who would then revolt."
    found = RuleSplitter().split(answer)
    assert all(claim.spans for claim in found)
    own = "".join(answer[a:b] for claim in found for a, b in claim.spans)
    assert sorted(own.replace(" ", "")) == sorted(answer.replace(" ", ""))
