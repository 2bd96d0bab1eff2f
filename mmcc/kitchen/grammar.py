"""Sentences about a step: who does it, what is done, where, how and why.

The step's text gives the verb and its object ("pour mixture into pan"); the vessel, if missing, comes from the act.
Nothing here knows where in a video the step is, so no sentence reveals it.

    {o}  the object, also as a pronoun          {O}  the object by name       {it} {them}  the object again
    {in} {on} {to} {from}  the place, after a verb of that direction          {at}  where it happens
    {W}  what the text adds after "with"
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from mmcc.kitchen.recipes import Step
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.words import NOUNS, Mention, definite, doing, fill, mention, noun, sentence, with_opening

VAGUE = 0.11  # share of sentences that name neither a thing nor a place
PRONOUN = 0.08  # share of the others that say "it" or "them" for the object; half of these omit the place too
MANNER, REMARK, LEAD = 0.35, 0.22, 0.08  # how often a sentence says how, ends with a remark, or starts with one

_PATTERNS = """
add: add {o} {to}; add {o} {to}; add in {O}; put {o} {in}; throw {o} {in}; drop {o} {in}; toss {o} {in}; pop {o} {in}
    get {o} {in}; stick {o} {in}
pour: pour {o} {in}; pour {o} {in}; pour in {O}; add {o} {to}; tip {o} {in}; splash {o} {in}; drizzle {o} {in}
pour out: pour {o} {in}; pour {o} {in}; tip {o} {in}; get {o} {in}; transfer {o} {in}; pour out {O}
crack: crack {o} {in}; crack {o} {in}; break {o} {in}; crack open {O}; get {o} {in}
whisk: whisk {o}; whisk {o} together; beat {o}; mix {o}; give {o} a good whisk; whisk {o} {at}; mix {o} up
stir: stir {o}; stir {o} {at}; give {o} a good stir; mix {o}; mix {o} together; give {o} a mix; move {o} around {at}
blend: blend {o}; blend {o} {at}; blitz {o}; give {o} a quick blitz; whizz {o} up; mix {o} {at}
flip: flip {o}; flip {o} over; turn {o} over; turn {o} {at}; give {o} a flip; flip over {O}
take: take {o} {from}; take {o} {from}; lift {o} {from}; get {o} {from}; slide {o} {from}; pull {o} {from}
put: put {o} {in}; put {o} {in}; place {o} {in}; lay {o} {in}; set {o} {in}; pop {o} {in}; get {o} {in}; slide {o} {in}
dip: dip {o} {in}; dip {o} {in}; soak {o} {in}; dunk {o} {in}; lay {o} {in}
melt: melt {o} {at}; melt {o}; let {o} melt {at}; heat {o} {at}; drop {o} {in}
warm: warm {o} {at}; warm {o} up; heat {o} {at}; heat up {O}; get {o} nice and warm
top: top {o} with {W}; decorate {o} with {W}; cover {o} with {W}; pile {W} on {o}; put {W} on {o}; add {W} on top
cut: cut {o}; cut {o} {at}; chop {o}; slice {o}; cut up {O}; chop {o} up; dice {o}; slice {o} up
squeeze: squeeze {o} {in}; squeeze {o}; squeeze the juice {in}; juice {o}; press the juice out of {o}
spread: spread {o} {on}; spread {o} {on}; smear {o} {on}; smooth {o} {on}; put {o} {on}
peel: peel {o}; peel {o} {at}; take the skin off {o}; take the peel off {o}; get the skin off {o}
simmer: simmer {o}; simmer {o} {at}; let {o} simmer; let {o} bubble away {at}; cook {o} gently; heat {o} {at}
boil: boil {o}; boil {o} {at}; bring {o} to a boil; get {o} boiling; heat {o} up; let {o} boil {at}
mash: mash {o}; mash {o} {at}; crush {o}; mash {o} up; squash {o} down; break {o} up {at}
close: close {o}; close {o} up; put the other slice on top; cover {o}; put the top on {o}
close jar: close {o}; close {o} up; put the lid on {o}; seal {o}; screw the lid on; cover {o}
toss: toss {o}; toss {o} {at}; mix {o}; give {o} a good toss; turn {o} over {at}; stir {o} gently
sprinkle: sprinkle {o} {on}; sprinkle {o} {on}; scatter {o} {on}; shake {o} {on}; add {o} {to}; throw {o} {on}
season: season {o}; season {o} {at}; put some salt on {o}; salt {o}; season {o} with salt; add seasoning to {o}
fold: fold {o} over; fold {o} in half; fold {o} {at}; turn {o} over on itself; fold over {O}
fry: fry {o} {at}; fry {o}; cook {o} {at}; brown {o} {at}; get {o} frying; throw {o} {in}
knead: knead {o}; knead {o} {at}; work {o} with your hands; press {o} down {at}; push {o} around {at}; knead {o} well
pack: pack {o} {in}; pack {o} {in}; push {o} {in}; squeeze {o} {in}; press {o} {in}; put {o} {in}
serve: serve {o}; serve up {O}; spoon {o} {in}; put {o} {in}; dish {o} up; get {o} {in}
remove: remove {o} {from}; take {o} {from}; get {o} {from}; pull {o} {from}
mix: mix {o}; mix {o} together; stir {o}; give {o} a good mix
tighten: tighten {o}; tighten {o} up; do {o} up tight
loosen: loosen {o}; get {o} loose; loosen {o} up
"""

# How it is done and why, by the verb of the step's text; those of "-" suit any verb.
_TAILS = """
add crack: {one by one}; a little at a time; all in one go; nice and gently; {one by one}; for the flavor
pour: nice and slowly; a little at a time; all at once; in a thin stream; bit by bit; without spilling any
whisk blend mix: until {it's} smooth; until there are no lumps; for a minute or two; really well; on a high speed
    until everything comes together; so {it} {comes} out fluffy; to get some air in
stir toss: until everything is combined; really well; so {it} {doesn't} stick; for a minute; nice and gently
    all the way around
flip: with a spatula; very carefully; so both sides get some color; when {it's} golden underneath; in one quick move
take serve: with a spatula; very carefully; while {it's} hot; nice and gently; before {it} {gets} cold
put pack: nice and gently; {one by one}; so {it} {fits}; and leave {them} alone; with some space around; very carefully
dip: on both sides; nice and gently; for a few seconds; so {it} {soaks} it up; very carefully
melt warm: on a low heat; until {it's} bubbling; over a gentle heat; for a minute or two; so {it} {doesn't} burn
top spread sprinkle: all over; nice and evenly; right to the edges; as much as you like; in a nice thick layer
    to make it pretty; with a spoon
cut: into small pieces; into cubes; in half; nice and thin; into slices; fairly small; with a sharp knife
    so {it} {cooks} evenly; as small as you like; mind the fingers
squeeze: with both hands; as hard as you can; to get all the juice; and catch the seeds; through a sieve
peel: with a peeler; nice and thin; because nobody likes the skin; using a small knife; all the way around
simmer: for about ten minutes; on a low heat; with the lid on; until {it} {thickens}; so {it} {doesn't} burn
boil: for about ten minutes; on a high heat; with the lid on; for a few minutes; with a little salt
fry: on a medium heat; until {it's} soft; for a few minutes; so {it} {doesn't} burn; until {it's} golden
mash: until {it's} smooth; with a fork; for a few minutes; until there are no lumps; with some muscle
knead: until {it's} smooth; for a few minutes; with some muscle; until {it's} soft; with a little flour
close fold: nice and tight; very carefully; with both hands; nice and gently; so nothing falls out
season: really well; with plenty of pepper; nice and evenly; to bring out the flavor; as much as you like
-: like this; very carefully; with both hands; nice and slowly; all the way
"""

_REMARKS = (
    "like so|just like that|if you like|that's how I do it|it's really easy|okay|as you can see|no need to rush|"
    "it makes a big difference|nice and easy|you can't go wrong|trust me|the way I like it|and that's it|see|"
    "don't worry about the mess|it's not hard at all|right here|it's up to you"
).split("|")
_TASTY_REMARKS = ("because it tastes so much better", "it smells so good", "I love that smell", "it looks so pretty")

_FRAMES = {
    "my": "I'm going to {D}|I'm gonna {D}|I'm just {DOING}|I'm {DOING}|I like to {D}|I always {D}|I'll {D}|"
    "I'll just {D}|I just {D}|what I do is {D}|here I'm {DOING}|I prefer to {D}|I usually {D}|you see me {DOING}|"
    "I want to {D}",
    "our": "let's {D}|let's go ahead and {D}|we'll {D}|we're going to {D}|we're {DOING}|we want to {D}|we can {D}|"
    "we're just {DOING}|let's just {D}|we'll go ahead and {D}",
    "your": "{D}|{D}|just {D}|go ahead and {D}|make sure you {D}|make sure to {D}|try to {D}|{D}|just {D}|"
    "you want to {D}|you can {D}|you'll want to {D}|you need to {D}|you just {D}|you're going to {D}|you have to {D}|"
    "you should {D}|it's time to {D}|this is where you {D}|don't be afraid to {D}|all you do is {D}|"
    "the trick is to {D}",
}
_FRAMES_BY_OWNER = [(owner, frame) for owner, frames in _FRAMES.items() for frame in frames.split("|")]

_LEADS = (
    "for this recipe|if you ask me|to make it easy|at home|like my mom taught me|with clean hands|if you want|"
    "to save some time|to do it right|without any fuss|as always"
).split("|")

_VAGUE_PHRASES = ("do {this|that}", "do it like {this|that}", "take care of {o}", "see to {o}", "work on {o} here")

# Texts of CrossTask that are not a verb and its object.
_REWORDED = {"brake on": "put brake on", "start loose": "loosen wheel", "tight wheel": "tighten wheel"}
_PARTICLES = ("up", "down", "off", "away", "back", "out")
_INWARD = ("in", "into", "inside", "to")
_UPON = ("on", "onto", "upon", "over")
_PREPOSITIONS = (*_INWARD, *_UPON, "from", "with", "under", "beneath", "above", "through", "against", "for")
_SURFACES = ("plate", "board", "bread", "cake", "pasta", "toast", "salad", "potatoes")
_CUT = ("chopped", "sliced", "diced")
_SINGULAR_VERBS = ("comes", "fits", "cooks", "thickens", "gets", "soaks")
_KEEPS_HOLD = "flip take close fold serve boil mash knead simmer season stir whisk blend toss".split()

_ONE_BY_ONE = ("one at a time", "one by one")
_BIT_BY_BIT = ("bit by bit", "all at once")

Table = dict[str, tuple[str, ...]]


def _parse_table(text: str, *, shared: bool) -> Table:
    """Lines `key: a; b`, continued on indented lines; shared: each word before the colon is a key."""
    table: Table = {}
    keys: list[str] = []
    for line in text.strip().splitlines():
        if not line.startswith(" "):
            head, _, line = line.partition(": ")
            keys = head.split() if shared else [head]
        for key in keys:
            table[key] = table.get(key, ()) + tuple(entry.strip() for entry in line.split(";"))
    return table


PATTERNS = _parse_table(_PATTERNS, shared=False)
TAILS = _parse_table(_TAILS, shared=True)


class Parsed(NamedTuple):
    """A parsed step text."""

    verb: str
    thing: str  # "" for a verb alone
    preposition: str
    place: str  # the noun after the preposition, or the vessel of the act
    patterns: tuple[str, ...]
    vague_patterns: tuple[str, ...]
    adjectives: tuple[str, ...]
    remarks: Sequence[str]


@cache
def parse(step: Step) -> Parsed:
    """The verb, its object and its place: "take cake out of tin" is take, cake, from, tin."""
    text = step.text.replace("_", " ").replace("out of", "from")
    verb, *rest = _REWORDED.get(text, text).split()
    after_thing = next((at for at, word in enumerate(rest) if word in _PREPOSITIONS), len(rest))
    preposition, place = "".join(rest[after_thing : after_thing + 1]), " ".join(rest[after_thing + 1 :])
    particle = "".join(word for word in rest[:after_thing] if word in _PARTICLES)
    thing = " ".join(word for word in rest[:after_thing] if word not in _PARTICLES)
    if preposition and not place:
        particle, preposition = preposition, ""
    if not preposition:
        preposition, place = ("in", step.vessel) if step.act else ("", "")  # the place of real steps is unknown
    patterns = PATTERNS.get(f"{verb} out" if step.act == "move" else f"{verb} {thing}") or PATTERNS.get(verb)
    if particle or not patterns:
        side = {"": "", "from": "{from}", "with": "with {W}"}.get(preposition, "{there}")
        patterns = (f"{verb} {{o}} {particle} {side}",)
    vague = tuple(p for p in patterns if "{o}" in p and "{W}" not in p and NOUNS.keys().isdisjoint(p.split()))
    adjectives = _CUT if step.form == "cut" else ()
    remarks = (*_REMARKS, *_TASTY_REMARKS) if step.act else _REMARKS
    return Parsed(verb, thing, preposition, place, patterns, vague + _VAGUE_PHRASES, adjectives, remarks)


def joins(step: Step, other: Step) -> bool:
    """Whether one sentence can name the objects of both."""
    one, two = parse(step), parse(other)
    return bool(one.verb == two.verb and one.place == two.place and one.thing and two.thing and one.thing != two.thing)


def say_step(step: Step, rng: Rng, also: Step | None = None) -> str:
    """A sentence about a step, or about two that join."""
    parsed = parse(step)
    is_vague = rng.chance(VAGUE)
    named = _object(parsed, also, rng)
    short = rng.pick(("them", "those", "them", "these") if named.plural else ("it", "that", "it", "this"))
    said = short if is_vague or rng.chance(PRONOUN) else named.text
    owner, frame = rng.pick(_FRAMES_BY_OWNER)
    rules = {"o": (said,), "O": (named.text,), "my": (owner,), **_agreement(named.plural)}
    rules |= _vague_places() if is_vague else _places(parsed, rng)
    action = rng.pick(parsed.vague_patterns if is_vague else parsed.patterns)
    said = frame.replace("{DOING}", doing(action)).replace("{D}", action)
    return sentence(with_opening(fill(_around(said, parsed, rng), rules, rng), rng))


def _object(parsed: Parsed, also: Step | None, rng: Rng) -> Mention:
    if not parsed.thing:
        return Mention("it", False)
    if parsed.thing == "mixture" and rng.chance(0.5):
        return Mention(rng.pick(("everything", "it all", "all of this", "all of that")), False)
    is_new = parsed.verb in PATTERNS and parsed.verb not in _KEEPS_HOLD
    adjectives = parsed.adjectives if parsed.preposition != "with" else ()  # it is the toast's topping that is cut
    named = mention(noun(parsed.thing), rng, adjectives, is_new=is_new)
    if also is None:
        return named
    other = parse(also)
    return Mention(f"{named.text} and {mention(noun(other.thing), rng, other.adjectives).text}", True)


def _around(said: str, parsed: Parsed, rng: Rng) -> str:
    """Optionally add how or why it is done."""
    if rng.chance(LEAD):
        said = f"{rng.pick(_LEADS)}, {said}"
    if rng.chance(MANNER):
        return f"{said} {rng.pick(TAILS.get(parsed.verb, TAILS['-']))}"
    return f"{said}, {rng.pick(parsed.remarks)}" if rng.chance(REMARK / (1 - MANNER)) else said


def _agreement(plural: bool) -> Table:
    if not plural:
        verbs: Table = {verb: (verb,) for verb in _SINGULAR_VERBS}
        return {
            "it": ("it",),
            "them": ("it",),
            "it's": ("it's",),
            "doesn't": ("doesn't",),
            "one by one": _BIT_BY_BIT,
            **verbs,
        }
    verbs = {verb: (verb.removesuffix("s"),) for verb in _SINGULAR_VERBS}
    return {
        "it": ("they",),
        "them": ("them",),
        "it's": ("they're",),
        "doesn't": ("don't",),
        "one by one": _ONE_BY_ONE,
        **verbs,
    }


def _vague_places() -> Table:
    return {
        "in": ("in", "in there", "right in", "in here"),
        "on": ("on", "on there", "over the top", "on top"),
        "to": ("", "in", "to this", "in there"),
        "from": ("out", "off", "out of there", "out of here"),
        "at": ("", "here", "in there"),
        "there": ("there", "in there"),
    }


def _places(parsed: Parsed, rng: Rng) -> Table:
    """The ways to say where, for each direction; empty if the step has no place."""
    if not parsed.place or parsed.preposition == "with":
        added = mention(noun(parsed.place), rng, parsed.adjectives).text if parsed.place else ""
        nowhere: Table = {"in": ("in place", "right here"), "on": ("on", "all over"), "from": ("off",)}
        return {**nowhere, "to": ("",), "at": ("",), "there": ("",), "W": (added,)}
    place = definite(noun(parsed.place), rng)
    ways: Table = {
        "there": (f"{parsed.preposition} {place}",),
        "from": (f"from {place}", f"out of {place}", f"out of {place}", "out"),
    }
    if parsed.preposition not in (*_INWARD, *_UPON, "from"):
        return ways | dict.fromkeys(("in", "on", "to", "at"), ways["there"])
    if parsed.place in _SURFACES or parsed.preposition in _UPON:
        on = (f"on {place}", f"onto {place}", f"on {place}", "on top")
        over = (*on, f"over {place}", f"all over {place}")
        return ways | {"in": on, "on": over, "to": (f"to {place}",), "at": ("", f"on {place}")}
    inward = (f"into {place}", f"in {place}", f"into {place}", f"right into {place}", "in", "in there")
    sprinkled = (f"into {place}", f"in {place}", "over the top", "on top")
    to = (f"to {place}", f"to {place}", "in", "")
    return ways | {"in": inward, "on": sprinkled, "to": to, "at": ("", f"in {place}")}
