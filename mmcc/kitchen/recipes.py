"""The dishes: 18 tasks of 3 to 11 steps, and related tasks whose steps all occur among these.

A step is a line `text = act ...` in the words below; the scene knows what each act does, the painter how it looks and
the narrator how to say it. As in CrossTask, 133 steps share 105 texts, and no verb or ingredient belongs to one task.

    add ITEM[.FORM] > VESSEL     by hand            pour ITEM > VESSEL       from a jug, carton or bottle
    sprinkle ITEM > VESSEL       from a shaker      squeeze ITEM > VESSEL    its juice
    crack egg > VESSEL           cut ITEM           peel ITEM                on the board
    stir | whisk | blend | mash | knead VESSEL      cook | flip | bake | cover VESSEL
    move VESSEL > VESSEL         the contents of one go into the other
    spread ITEM > VESSEL         over its contents

After a title, `| VESSEL ITEM` gives the contents before the first step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

LIQUIDS = ("milk", "water", "cream", "oil", "coffee")
POWDERS = ("flour", "sugar", "salt", "spice")
PIECES = (
    "egg butter lemon strawberry banana apple tomato onion carrot potato cucumber lettuce mushroom "
    "cheese bread rice pasta fish steak chocolate ice herbs"
).split()
INGREDIENTS = (*LIQUIDS, *POWDERS, *PIECES)
MIXING = ("stir", "whisk", "blend", "mash", "knead")
VESSELS = ("bowl", "pan", "pot", "board", "plate", "glass", "jar", "tin", "blender")


@dataclass(frozen=True)
class Step:
    """One step of a recipe: its text as in the annotations, and the act."""

    text: str
    act: str
    item: str = ""  # an ingredient, or "" if the act is on the contents of a vessel
    form: str = ""  # of the item: whole, cut, peeled, juice, poured, powder
    vessel: str = ""  # where it happens
    source: str = ""  # of a move


@dataclass(frozen=True)
class Recipe:
    """A task of the kitchen: its steps in canonical order."""

    id: str
    title: str
    steps: tuple[Step, ...]
    laid_out: tuple[tuple[str, str], ...] = ()  # (vessel, ingredient) before the first step
    primary: bool = True

    @property
    def vessels(self) -> tuple[str, ...]:
        """The vessels its steps use, in order of use."""
        used = [vessel for step in self.steps for vessel in (step.source, step.vessel) if vessel]
        return tuple(dict.fromkeys(used))

    @property
    def ingredients(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(step.item for step in self.steps if step.item))


_PRIMARY = """
10271 Make Pancakes
add flour = add flour > bowl
add sugar = add sugar > bowl
pour milk = pour milk > bowl
crack egg = crack egg > bowl
whisk mixture = whisk bowl
pour mixture into pan = move bowl > pan
flip pancake = flip pan
take pancake from pan = move pan > plate

10433 Make French Toast
crack egg = crack egg > bowl
pour milk = pour milk > bowl
whisk mixture = whisk bowl
dip bread in mixture = add bread > bowl
melt butter = add butter > pan
put bread in pan = add bread > pan
flip bread = flip pan
take bread from pan = move pan > plate
top toast with strawberries = add strawberry.cut > plate

11096 Make Lemonade
cut lemon = cut lemon
squeeze lemon = squeeze lemon > jar
add sugar = add sugar > jar
pour water = pour water > jar
stir mixture = stir jar
add ice = add ice > glass
pour lemonade into glass = move jar > glass

12240 Make Strawberry Cake
crack egg = crack egg > bowl
add sugar = add sugar > bowl
add flour = add flour > bowl
add butter = add butter > bowl
whisk mixture = whisk bowl
pour mixture into tin = move bowl > tin
put tin in oven = bake tin
take cake out of tin = move tin > plate
cut strawberries = cut strawberry
spread cream on cake = spread cream > plate
add strawberries to cake = add strawberry.cut > plate

13387 Make Banana Ice Cream
peel banana = peel banana
cut banana = cut banana
put banana in blender = add banana.cut > blender
pour milk = pour milk > blender
blend mixture = blend blender
pour ice cream into glass = move blender > glass

14702 Make Iced Coffee
add ice = add ice > glass
pour coffee = pour coffee > glass
add sugar to coffee = add sugar > glass
pour cream = pour cream > glass
stir mixture = stir glass

15518 Make Fried Rice
cut onion = cut onion
cut carrot = cut carrot
pour oil = pour oil > pan
add onion = add onion.cut > pan
add carrot = add carrot.cut > pan
add rice = add rice > pan
crack egg into pan = crack egg > pan
stir mixture = stir pan

16049 Make Tomato Soup
cut tomato = cut tomato
cut onion = cut onion
add onion = add onion.cut > pot
add tomato = add tomato.cut > pot
pour water = pour water > pot
simmer soup = cook pot
mash tomato = mash pot
pour soup into bowl = move pot > bowl

17133 Make Grilled Cheese | board bread
spread butter on bread = spread butter > board
put bread in pan = add bread > pan
add cheese on bread = add cheese.cut > pan
close sandwich = add bread > pan
flip sandwich = flip pan
take sandwich from pan = move pan > plate
cut sandwich = cut plate

18274 Make Garden Salad
cut lettuce = cut lettuce
cut tomato = cut tomato
cut cucumber = cut cucumber
add lettuce = add lettuce.cut > bowl
add tomato = add tomato.cut > bowl
add cucumber = add cucumber.cut > bowl
pour oil over salad = pour oil > bowl
toss salad = stir bowl

19365 Make Mushroom Omelette
cut mushrooms = cut mushroom
crack egg = crack egg > bowl
add salt = sprinkle salt > bowl
whisk mixture = whisk bowl
pour mixture into pan = move bowl > pan
add mushrooms = add mushroom.cut > pan
sprinkle cheese = sprinkle cheese > pan
fold omelette = flip pan
take omelette from pan = move pan > plate

20416 Make Pasta with Tomato Sauce
pour water = pour water > pot
boil water = cook pot
add pasta = add pasta > pot
cut tomato = cut tomato
fry tomato = add tomato.cut > pan
season sauce = sprinkle salt > pan
simmer sauce = cook pan
put pasta on plate = move pot > plate
pour sauce over pasta = move pan > plate

21558 Make Fish Curry
pour oil = pour oil > pot
fry onion = add onion.cut > pot
add spices = sprinkle spice > pot
pour cream into pot = pour cream > pot
add fish = add fish.cut > pot
simmer curry = cook pot
sprinkle herbs = sprinkle herbs > pot

22690 Grill a Steak | board steak
season steak = sprinkle salt > board
pour oil = pour oil > pan
put steak in pan = add steak > pan
flip steak = flip pan
add butter to pan = add butter > pan
take steak from pan = move pan > plate

23714 Make Apple Pie | board flour
peel apple = peel apple
cut apple = cut apple
knead dough = knead board
put dough in tin = move board > tin
add apples = add apple.cut > tin
sprinkle sugar = sprinkle sugar > tin
put pie in oven = bake tin
take pie from tin = move tin > plate

24853 Make Pickles
cut cucumber = cut cucumber
pack cucumber in jar = add cucumber.cut > jar
pour vinegar = pour water > jar
add spices = sprinkle spice > jar
add salt to jar = add salt > jar
close jar = cover jar

25961 Make Mashed Potatoes
peel potato = peel potato
cut potato = cut potato
add potatoes = add potato.cut > pot
pour water over potatoes = pour water > pot
boil potatoes = cook pot
pour milk = pour milk > pot
mash potatoes = mash pot
serve potatoes = move pot > plate

26048 Make Hot Chocolate
warm milk = pour milk > pot
add chocolate = add chocolate.cut > pot
pour chocolate into glass = move pot > glass
"""

_RELATED = """
31174 Make Crepes
crack egg = crack egg > bowl
pour milk = pour milk > bowl
add flour = add flour > bowl
whisk mixture = whisk bowl
melt butter = add butter > pan
pour mixture into pan = move bowl > pan
flip pancake = flip pan
take pancake from pan = move pan > plate
top toast with strawberries = add strawberry.cut > plate

32205 Make a Banana Milkshake
peel banana = peel banana
cut banana = cut banana
put banana in blender = add banana.cut > blender
add sugar = add sugar > blender
pour milk = pour milk > blender
blend mixture = blend blender
add ice = add ice > glass
pour ice cream into glass = move blender > glass

33312 Make Vegetable Soup
cut carrot = cut carrot
peel potato = peel potato
cut potato = cut potato
add carrot = add carrot.cut > pot
add potatoes = add potato.cut > pot
pour water = pour water > pot
add spices = sprinkle spice > pot
simmer soup = cook pot
pour soup into bowl = move pot > bowl

34461 Make Cheese Pasta
pour water = pour water > pot
boil water = cook pot
add pasta = add pasta > pot
put pasta on plate = move pot > plate
add butter = add butter > plate
sprinkle cheese = sprinkle cheese > plate

35529 Make Tomato Omelette
cut tomato = cut tomato
crack egg = crack egg > bowl
add salt = sprinkle salt > bowl
whisk mixture = whisk bowl
pour oil = pour oil > pan
pour mixture into pan = move bowl > pan
add tomato = add tomato.cut > pan
fold omelette = flip pan
take omelette from pan = move pan > plate

36640 Make Coffee Milkshake
add ice = add ice > blender
pour coffee = pour coffee > blender
pour milk = pour milk > blender
add sugar = add sugar > blender
blend mixture = blend blender
"""

_FORMS = {"pour": "poured", "squeeze": "juice", "sprinkle": "powder", "crack": "cracked", "spread": "spread"}


def _parse(text: str, *, primary: bool) -> tuple[Recipe, ...]:
    recipes = []
    for block in text.strip().split("\n\n"):
        head, *lines = block.splitlines()
        name, _, laid_out = head.partition(" | ")
        task, title = name.split(" ", 1)
        vessel, _, item = laid_out.partition(" ")
        lies = ((vessel, item),) if laid_out else ()
        recipes.append(Recipe(task, title, tuple(map(_parse_step, lines)), lies, primary))
    return tuple(recipes)


def _parse_step(line: str) -> Step:
    text, _, done = line.partition(" = ")
    act, _, rest = done.partition(" ")
    what, _, into = rest.partition(" > ")
    if act == "move":
        return Step(text, act, vessel=into, source=what)
    if what in VESSELS:
        return Step(text, act, vessel=what)
    item, _, form = what.partition(".")
    if item == "butter" and into in ("pan", "pot"):
        form = "poured"  # it melts
    form = form or _FORMS.get(act) or ("powder" if item in POWDERS else "whole")
    return Step(text, act, item, "whole" if act in ("cut", "peel") else form, into or "board")


PRIMARY = _parse(_PRIMARY, primary=True)
RELATED = _parse(_RELATED, primary=False)


@cache
def needs(recipe: Recipe) -> tuple[frozenset[int], ...]:
    """For each step, the earlier steps it requires.

    A cut ingredient must have been cut. An act on the contents of a vessel requires everything that was added to it.
    Ingredients that are only added can be added in any order.
    """
    found: list[frozenset[int]] = []
    for at, step in enumerate(recipe.steps):
        held = step.source or step.vessel
        wanted = {
            before
            for before, earlier in enumerate(recipe.steps[:at])
            if (earlier.vessel == held and not adds(step) and earlier.act not in ("cut", "peel"))
            or (earlier.act in ("cut", "peel") and earlier.item == step.item and step.item)
            or (earlier.vessel == step.vessel and earlier.act in ("move", "cook", *MIXING) and step.vessel != "board")
        }
        found.append(frozenset(wanted.union(*(found[before] for before in wanted))))
    return tuple(found)


def adds(step: Step) -> bool:
    """Whether a step adds an ingredient to a vessel, rather than acting on its contents."""
    return bool(step.item) and step.act not in ("cut", "peel")
