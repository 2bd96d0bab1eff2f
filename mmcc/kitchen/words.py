"""The narrator's lexicon: names of things, inflected verbs, and templates for sentences.

A template is a text with slots: `{a|b|}` is one of a, b or nothing, `{name}` one of the alternatives of a rule.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from mmcc.kitchen.rng import Rng

Rules = Mapping[str, Sequence[str]]

_SLOT = re.compile(r"\{([^{}]*)\}")
_SPACE_BEFORE_STOP = re.compile(r" +([,.?!])")
_TWICE = re.compile(r"\b(\w+) \1\b")
_VOWELS = re.compile(r"[aeiouy]+")


def fill(text: str, rules: Rules, rng: Rng) -> str:
    """A text with every slot filled, innermost first."""

    def choose(match: re.Match[str]) -> str:
        slot = match[1]
        return rng.pick(rules[slot]) if slot in rules else rng.pick(slot.split("|"))

    while "{" in text:
        text = _SLOT.sub(choose, text)
    return text


def sentence(text: str) -> str:
    """With a capital, a stop, one space between words, and no word twice where two slots met ("in in a bowl")."""
    text = _TWICE.sub(r"\1", _SPACE_BEFORE_STOP.sub(r"\1", " ".join(text.split())))
    return text[0].upper() + text[1:] + ("" if text[-1] in ".?!" else ".")


FILLED_PAUSES = 0.35  # share of sentences that open with one; equal for steps and chatter, or it would reveal which
_OPENINGS = (
    "so, |so |okay, |okay so, |alright, |um, |and |now |then |right, |well, |yeah, |you know, |um, so |and then |"
    "so yeah, |okay, now |oh, |so then |and um, "
).split("|")


def with_opening(text: str, rng: Rng) -> str:
    """Sometimes with a filler at the start."""
    return rng.pick(_OPENINGS) + text if rng.chance(FILLED_PAUSES) else text


def article(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


# --- nouns ----------------------------------------------------------------------------------------------------------


class Name(NamedTuple):
    """What a noun is called; a mass noun has no plural."""

    one: str
    many: str = ""


class Noun(NamedTuple):
    """A thing of the kitchen: its names, and how it is measured."""

    names: tuple[Name, ...]
    amounts: tuple[str, ...]


class Mention(NamedTuple):
    """A noun as mentioned in a sentence."""

    text: str
    plural: bool


_AMOUNTS = {
    "dry": "a cup of, two cups of, half a cup of, a tablespoon of, two spoons of, a spoonful of, some, a bit of",
    "wet": "a cup of, half a cup of, a splash of, a little, some, a good glug of, a little bit of, about a cup of",
    "count": "two, three, four, a couple of, a few, some, half a dozen",
    "pinch": "a pinch of, a little, some, a good pinch of, half a teaspoon of, a bit of, a teaspoon of, a sprinkle of",
    "lump": "a piece of, some, a little, a bit of, plenty of, a good chunk of, a small piece of",
    "slice": "a slice of, two slices of, some, a piece of, a thick slice of",
    "dish": "the whole, all the, all of the",
    "leaf": "a handful of, some, a bit of, a big handful of, plenty of",
    "-": "",
}

_NOUNS = """
flour: flour, plain flour, white flour, all-purpose flour; dry
sugar: sugar, white sugar, caster sugar, brown sugar; dry
salt: salt, sea salt, table salt; pinch
spice: /spices, seasoning, spice mix, curry powder; pinch
milk: milk, whole milk, cold milk; wet
water: water, cold water, warm water; wet
cream: cream, heavy cream, double cream, whipped cream; wet
oil: oil, olive oil, vegetable oil; wet
coffee: coffee, strong coffee, black coffee; wet
vinegar: vinegar, white vinegar, cider vinegar; wet
egg: egg/eggs, large egg/large eggs; count
butter: butter, soft butter, salted butter; lump
lemon: lemon/lemons, fresh lemon/fresh lemons; count
strawberry: strawberry/strawberries, /berries; count
banana: banana/bananas, ripe banana/ripe bananas; count
apple: apple/apples, green apple/green apples, red apple/red apples; count
tomato: tomato/tomatoes, ripe tomato/ripe tomatoes; count
onion: onion/onions, red onion/red onions, white onion/white onions; count
carrot: carrot/carrots; count
potato: potato/potatoes, big potato/big potatoes; count
cucumber: cucumber/cucumbers, small cucumber/small cucumbers; count
lettuce: lettuce, green lettuce, /salad leaves; leaf
mushroom: mushroom/mushrooms, fresh mushroom/fresh mushrooms; count
cheese: cheese, cheddar, cheddar cheese; lump
bread: bread, white bread, sliced bread; slice
rice: rice, white rice, cooked rice; dry
pasta: pasta, spaghetti; dry
fish: fish, white fish, salmon; lump
steak: steak/steaks, meat, beef; lump
chocolate: chocolate, dark chocolate, milk chocolate; lump
ice: ice, crushed ice, /ice cubes; leaf
herbs: /herbs, parsley, basil, /fresh herbs; leaf
mixture: mixture; dish
pancake: pancake/pancakes; -
toast: toast, bread; slice
lemonade: lemonade, drink; dish
cake: cake; dish
ice cream: ice cream; dish
soup: soup; dish
sandwich: sandwich/sandwiches; dish
salad: salad; dish
omelette: omelette/omelettes; dish
sauce: sauce, tomato sauce; dish
curry: curry; dish
dough: dough, pastry; dish
pie: pie; dish
oven: oven, hot oven; -
bowl: bowl, mixing bowl, big bowl; -
pan: pan, skillet, frying pan, hot pan; -
pot: pot, saucepan, big pot; -
board: board, cutting board, chopping board; -
plate: plate, dish, serving plate; -
glass: glass, tall glass, big glass; -
jar: jar, glass jar, mason jar; -
tin: tin, baking tin, baking dish; -
blender: blender, mixer; -
"""


def _parse_name(text: str) -> Name:
    one, _, many = text.strip().partition("/")
    return Name(one, many)


def _parse_nouns(text: str) -> dict[str, Noun]:
    nouns = {}
    for line in text.strip().splitlines():
        key, _, rest = line.partition(": ")
        names, _, amounts = rest.partition("; ")
        measured = tuple(amount for amount in _AMOUNTS[amounts].split(", ") if amount)
        nouns[key] = Noun(tuple(map(_parse_name, names.split(","))), measured)
    return nouns


NOUNS = _parse_nouns(_NOUNS)
_IRREGULAR = {"strawberries": "strawberry", "spices": "spice"}


@cache
def noun(word: str) -> Noun:
    """The entry of a noun, in the singular or plural; a word that the kitchen does not know is called by itself."""
    for key in (word, _IRREGULAR.get(word, ""), word.removesuffix("s"), word.removesuffix("es")):
        if key in NOUNS:
            return NOUNS[key]
    is_plural = word.endswith("s") and not word.endswith("ss")
    return Noun((Name("", word),) if is_plural else (Name(word),), ())


def mention(thing: Noun, rng: Rng, adjectives: Sequence[str] = (), *, is_new: bool = True) -> Mention:
    """A thing with a determiner or, where it is new, an amount: "the onion", "{my} milk", "two eggs"."""
    name = thing.names[0] if rng.chance(0.55) else rng.pick(thing.names)
    plural = bool(name.many) and (not name.one or rng.chance(0.5))
    text = name.many if plural else name.one
    if adjectives and rng.chance(0.5):
        text = f"{rng.pick(adjectives)} {text}"
    if is_new and thing.amounts and (plural or not name.many) and rng.chance(0.45):
        amount = rng.pick(thing.amounts)
        return Mention(f"{amount} {text}", plural or amount.startswith("two "))
    if is_new and name.many and not plural and rng.chance(0.4):
        return Mention(article(text), False)
    return Mention(f"{rng.pick(_THESE if plural else _THIS)} {text}", plural)


_THIS = ("the", "the", "the", "the", "this", "{my}", "{my}")
_THESE = ("the", "the", "the", "the", "these", "{my}", "{my}")


def definite(thing: Noun, rng: Rng) -> str:
    """A thing that is there: "the pan", "{my} skillet"."""
    name = thing.names[0] if rng.chance(0.6) else rng.pick(thing.names)
    return f"{rng.pick(_THIS)} {name.one}" if not name.many else f"{rng.pick(_THESE)} {name.many}"


# --- verbs ----------------------------------------------------------------------------------------------------------


@cache
def doing(phrase: str) -> str:
    """A verb phrase with its first word as a participle: "putting it in"."""
    verb, space, rest = phrase.partition(" ")
    return _participle(verb) + space + rest


def _participle(verb: str) -> str:
    if verb.endswith("e") and not verb.endswith(("ee", "ye")):
        return verb[:-1] + "ing"
    before, vowel, last = tuple(f"  {verb}"[-3:])
    is_closed = vowel in "aeiou" and before not in "aeiou " and last not in "aeiouwxy"
    doubles = is_closed and len(_VOWELS.findall(verb)) == 1
    return verb + (last if doubles else "") + "ing"
