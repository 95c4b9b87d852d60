"""Words that say whether a person is a man or a woman: "mother", "King", "Mrs"."""

from __future__ import annotations

from typing import Literal

from franq_guard.basics.words import word_set

Sex = Literal["female", "male"]

PRONOUN_SEXES: dict[str, Sex] = {"she": "female", "her": "female", "he": "male", "his": "male"}

_FEMALE_NOUNS = word_set(
    "mother grandmother stepmother godmother sister half-sister stepsister daughter granddaughter"
    " stepdaughter wife ex-wife widow aunt niece girlfriend fiancée bride mistress matriarch girl"
    " woman lady queen princess empress duchess countess baroness actress heiress hostess heroine"
    " goddess priestess abbess nun waitress stewardess poetess ballerina"
)
_MALE_NOUNS = word_set(
    "father grandfather stepfather godfather brother half-brother stepbrother son grandson stepson"
    " husband ex-husband widower uncle nephew boyfriend fiancé bridegroom patriarch boy man"
    " gentleman king prince emperor duke baron monk friar pope nobleman businessman salesman"
    " craftsman"
)
_FEMALE_TITLES = word_set(
    "mrs ms miss mme madame madam mademoiselle lady dame queen princess empress duchess countess"
    " baroness sister mother aunt"
)
_MALE_TITLES = word_set(
    "mr sir lord king prince emperor duke count earl baron brother father uncle pope monsieur"
)
_EITHER = word_set("the dr doctor prof professor president senator governor judge saint st")
# First names that are hardly ever given to the other sex.
_FEMALE_NAMES = word_set(
    "mary elizabeth anna anne ann emma emily sarah catherine katherine margaret susan helen alice"
    " julia laura linda barbara jane eva clara rosa eleanor martha ruth"
    " diana hannah sophie sophia amelia ada marie elena maria lucy grace judith elsa ingrid"
)
_MALE_NAMES = word_set(
    "john james william robert michael david richard thomas charles george henry edward peter paul"
    " joseph daniel mark karl carl albert frederick francis stephen steven philip andrew martin"
    " walter hans otto max louis isaac arthur johann ludwig antonio carlos pablo ivan erik oscar"
)


def sex_of_name(name: str) -> Sex | None:
    """The sex that a title or first name shows: "Queen Mary", "Mrs. Holm"; None if none does."""
    words = (word.strip(".,*_").lower() for word in name.split())
    first = next((word for word in words if word not in _EITHER), "")
    if first in _FEMALE_TITLES | _FEMALE_NAMES:
        return "female"
    return "male" if first in _MALE_TITLES | _MALE_NAMES else None


def sex_of_noun(low: str) -> Sex | None:
    """The sex of a person who is called so: "mother", "spokeswoman"; None if none is shown."""
    if low in _FEMALE_NOUNS or low.endswith("woman"):
        return "female"
    return "male" if low in _MALE_NOUNS else None
