"""Speech as a recognizer transcribes it: lower case, no punctuation, and some wrong words."""

from __future__ import annotations

from collections.abc import Sequence

from mmcc.kitchen.rng import Rng

WORST = 0.08  # of a video's words; the mean over videos is 3 %

_CONFUSIONS = """
flour flower; whisk risk, whisper; bowl ball, bull; pan pen, pam; pot part, port; dough doe, though; knead need
batter better, patter; butter better, but a; oil all, owl; egg leg, edge; eggs legs, ex; pour poor, four
stir star, steer; add ad, at; sugar shook, sure; salt soul, sold; milk mill, mick; cream creme, cram
water what a, waiter; rice rise, race; bread red, breath; cheese cheers, she's; steak stake; fish fits, finish
pie pi, buy; apple a pull, able; lemon lehman; lemons lemmings; onion union; onions unions; carrot karat
carrots karats; potato but ado; tomato to mato; ice eyes, i's; pasta pastor, faster; sauce source, sass
soup super, soap; herbs urbs, hubs; spices spaces; plate played, late; jar jaw; glass class, gloss; tin ten, thin
oven often, other; peel peal, pill; slice slides, lies; dice dies, ties; chop shop; mash match, mesh
blend bland, blond; flip lip, clip; fold fall, old; melt belt, mail; boil boy, boiled; fry fly, try; heat he, eat
hot hard, hat; half have; piece peace; pieces peaces; some sum; two to, too; to two; too to; four for; for four
in and, an; and an, in; the a, that; a the; it's its; your you're; you're your; there their; their there; right write
see sea; here hear; it that; that it; this is; we'll well, will; i'll all; i'm i am; let's lets, less; want won't
going gone; gonna going to; is as; our are, hour; or are; so sew; not knot; know no; like light; just just a; put but
cup cop; cups cops; good could; okay ok; alright all right; really rarely; thin fin; smooth move; lid lead
cover clover; board bored; banana bandana; berries buries; mushroom mush room; mushrooms mush rooms; cucumber q cumber
curry carry; lettuce let us; parsley partly; coffee coffin; chocolate chalk lit; vinegar vin a gar; skillet skill it
saucepan sauce pan; pinch bench; squeeze squeeze's; season seasons; simmer summer, simple; sprinkle wrinkle
scatter shatter; toss tossed; my by, me; all are, oh; you ya, u; can could, kin; i eye, a; with which; of off, a
on own, in; at that; do due; get got; if it; one won; be bee; but bud; she he; they day; them him; what watt
"""

_OFTEN_DROPPED = frozenset("a an and at i in is it of on or so some that the then this to um we with you".split())


def _parse(text: str) -> dict[str, tuple[str, ...]]:
    table = {}
    for entry in text.replace("\n", "; ").strip("; ").split("; "):
        word, _, heard = entry.partition(" ")
        table[word] = tuple(heard.split(", "))
    return table


CONFUSIONS = _parse(_CONFUSIONS)


def as_automatic(text: str) -> str:
    """The words alone, as automatic captions write them."""
    return " ".join(word.strip(".,?!;:") for word in text.lower().split())


def mishear(texts: Sequence[str]) -> list[str]:
    """The utterances of one video as a recognizer writes them.

    Accuracy differs from video to video; the same narration is always transcribed the same way.
    """
    rng = Rng("recognition", *texts)
    luck = rng.uniform()
    rate = min(WORST, 0.09 * luck * luck)
    return [" ".join(_heard(as_automatic(text).split(), rate, rng)) for text in texts]


def _heard(words: list[str], rate: float, rng: Rng) -> list[str]:
    heard: list[str] = []
    for word in words:
        heard += _wrong(word, rng) if rng.chance(rate) else [word]
    return heard or words  # an utterance never becomes empty


def _wrong(word: str, rng: Rng) -> list[str]:
    if word in _OFTEN_DROPPED and rng.chance(0.6):
        return []
    if word in CONFUSIONS and rng.chance(0.85):
        return rng.pick(CONFUSIONS[word]).split()
    if len(word) <= 4 or "'" in word or rng.chance(0.3):
        return [word, word]
    return [word[:-1] if word.endswith(("s", "g")) else f"{word}s"]
