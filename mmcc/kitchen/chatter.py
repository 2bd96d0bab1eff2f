"""What people say in a cooking video that has nothing to do with the dish: memories, tips, shopping, the cat.

It freely names dishes, foods, tools and actions of any task, so that no word reveals the task, and it is drawn
independently of the recipe and the time, so that it does not reveal the time. Nothing here mentions starting or ending.
"""

from __future__ import annotations

from collections.abc import Sequence

from mmcc.kitchen.recipes import INGREDIENTS, PIECES, VESSELS
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.words import NOUNS, Rules, article, doing, fill, sentence, with_opening

_DISHES = (
    "pancakes, french toast, lemonade, strawberry cake, banana ice cream, iced coffee, fried rice, tomato soup, "
    "grilled cheese, garden salad, omelettes, pasta, fish curry, grilled steak, apple pie, pickles, mashed potatoes, "
    "hot chocolate, crepes, milkshakes, vegetable soup, mushroom omelettes, tomato sauce, sandwiches, pizza, burgers, "
    "tacos, waffles, cookies, muffins, noodles, dumplings, brownies, chili, meatballs, toast, curry, ice cream, cake"
).split(", ")

_TOOLS = (
    "knife, spatula, wooden spoon, whisk, oven, stove, apron, grater, scale, ladle, peeler, fork, rolling pin, fridge, "
    "freezer, kettle, colander, sieve, kitchen table, dishwasher, toaster, spoon, lid"
).split(", ")

# What is done to what: every verb of the recipes, also with other objects.
_ACTIONS = """
add, measure, buy, try, get, throw out, drop, put away, carry: {food}
cut, chop, slice, dice, peel, wash, cut up: {piece}, {piece}, onions, pickles, sandwiches, cake
mash, crush, squash, squeeze, juice, press: {piece}, lemons, bananas, tomatoes, berries, potatoes, lemons
pour, spill, splash, drizzle, tip over, warm up, heat, warm: milk, water, cream, oil, coffee, vinegar, soup, lemonade
whisk, beat, blend, blitz, whizz up, mix, stir: eggs, cream, batter, soup, sauces, milkshakes, everything
knead, fold, roll out, work, press, push around: dough, pastry, bread dough, cookie dough
crack, break, boil, fry, flip: eggs, omelettes, an egg, a dozen eggs
flip, turn over, burn, stack, serve, top, decorate, dip, cover: pancakes, crepes, toast, waffles, sandwiches
fry, grill, season, salt, cook, brown: steak, fish, onions, mushrooms, meat, vegetables, potatoes, beef, salmon
simmer, boil, heat, taste, transfer: soup, curry, tomato sauce, pasta, rice
melt, bring, buy, set aside: butter, chocolate, cheese, ice cream, ice cubes
sprinkle, scatter, shake, pile up, smear, spread: sugar, cheese, herbs, spices, butter, cream, jam, flour, parsley
pack, seal, close, cover, screw shut, fill, stuff: jars, lunch boxes, leftovers, a jar, glass jars, pickles
toss, dress, dish up, mix, soak, dunk: salad, lettuce, pasta, cucumbers, vegetables, cookies, bread
bake, top, cut, place, lay out, slide around, lift, smooth out: cake, apple pie, pie, bread, cookies, pizza
"""

_TEMPLATES = """
my {kin} makes {great} {dish}
my {kin} {taught|showed} me {how to|the trick to} {do} {years ago|when I was little|the old way|one summer}
my {kins} {love|hate|never liked|can't stand|always ask for} {eat}
I {grew up|was raised} on {dish} and {food}
{I|my {kin}} {used to|would} {do} {every {day}|all the time|for hours|with my {kins}}
when I was {a kid|little|a student|in college} we {had|ate} {dish} {every {day}|all week|on {day}s}
you {could|can} {use|try|take} {food} {too|instead|if you have some|if that's all you have}
if you don't {have|like|eat} {food}, {you can use|use|try|go with} {food}
you can {pair|mix|serve|combine} {food} with {food} {too|if you like|in {month}|and people love it}
{food} and {food} {belong together|are a classic|taste weird together|cost a fortune}
I {bought|got|picked up} {this|my} {tool} {at {shop}|for {number} dollars|years ago|online}
{get|buy} {good|fresh|local|cheap} {food} {at {shop}|if you can|when you can}
at {shop} {food_is} {so|really} {good|cheap|expensive|fresh} {this week|these days|right now}
{number} {dollars|bucks} for {food}, can you believe {it|that}?
do you {prefer|like} {dish} or {dish}?
what's your favorite {kind of {food}|way to {do}|thing to cook|kitchen tool}?
let me know in the comments {if you like {dish}|how you {do}|what you think|where you're from}
{leave a comment|send me a picture|write to me} if you {make|try} {dish}
{don't forget to subscribe|hit the like button|share this} if you {enjoy|like} {{dish}|this}
I {made|did} a {whole video|video} about {topic} {a year ago|a while ago|in {month}}
somebody asked me {about {doing}|how I {do}|where I buy {food}|which {tool} I use}
{the|my} {cat|dog|parrot} {loves|always steals|wants|is crazy about} {food}
sorry about the {noise|light|mess|dog}, {they're painting the walls|it's {windy|busy} here|that's life}
it's {really|so|very} {hot|cold|warm|loud|quiet|rainy} {in here|in this kitchen|outside} today
the weather {is|has been} {awful|lovely|strange|beautiful} {this week|here|lately}
{doing} {always|really} {relaxes me|makes me hungry|takes me forever|reminds me of my {kin}|calms me down}
I {never|really} {enjoyed|understood|learned} {doing} {in school|as a kid|until I met my {kin}}
{doing} is {my thing|not that hard|an art|good exercise|fun with kids|so boring|not for everybody}
it's {easy|hard|fun|silly} to {do} {by hand|with {tool_one}|without {tool_one}|in a small kitchen|with kids}
never {do} {when you're tired|with wet hands|in a hurry|with the window open|on an empty stomach}
you don't {need|have to own} {tool_one} to {do}
{a|every} {good|decent} cook {needs|has|deserves} {tool_one}
I {broke|lost|burned|dropped} {my {kin}'s|my favorite|my old} {tool} {in {month}|yesterday|being silly}
{my|our} {tool} is {older than me|from my {kin}|from {country}|my best friend|brand new}
{in|over in} {country} they {eat|serve|have} {food} with {everything|{eat}}
we {went|traveled|drove} to {country} {in {month}|with my {kins}|and ate {dish}|and it was {lovely|amazing}}
I {had|ate|tried} {amazing|terrible|wonderful|weird} {dish} in {country}
{dish_is} {perfect|great|lovely} for {breakfast|lunch|dinner|a party|a picnic|a rainy day|birthdays|busy people}
{food_is} {good for you|full of vitamins|really healthy|not that healthy|cheap|filling|my weakness}
the doctor told {me|my {kin}} to {eat {more {food}|plenty of {food}}|drink more water|stop eating {dish}}
I'm trying to {eat|buy|use} {more|plenty of} {food} {these days|this year|for my {kin}}
my {kin} is {allergic to|obsessed with|scared of|famous for} {eat}
{honestly|to be honest|seriously}, I could {eat {dish}|{do}|drink {drink}} all day
I {had|drank} {number} cups of {drink} {this morning|today|while cooking}
{store|keep} {food} in {the fridge|a cool dark place|a paper bag|the freezer|an airtight container}
always {wash your hands|clean your {tool}|taste your food|read the label} {when you cook|please|my {kin} says}
{keep|store} your {tool} {dry|clean|in a safe place|out of reach of kids}
I {read somewhere|read online|heard on the radio|saw online} that {food_is} {bad|good} for your {skin|heart|hair|teeth}
there's a {shop|restaurant|food truck|little place} {near us|down the street|in town} that sells {eat}
{people|chefs|my {kins}} {argue|fight|talk} about {dish} {all the time|a lot|way too much}
{I'm not|I've never been} {a chef|a professional|good at {doing}}, {I just love food|but who cares|and that's fine}
cooking {is|should be} {fun|love|like {a hobby|music|meditation}}, {I think|don't you think|you know|my {kin} says}
I {cook|bake} for {number} people {every {day}|on {day}s|most of the time}
our {garden|balcony} {is full of|gives us plenty of|smells of} {food} {in {month}|this year|and {food}}
{on {day}|in {month}} we're {having|throwing} a {party|dinner|birthday} {for my {kin}|with {number} guests|here}
the kids {are at school|want {dish}|helped me {do}|are watching cartoons|won't eat {food}}
I {wear|love|need|washed} this {apron|shirt|sweater} {all the time|because it's cozy|so much|for the color}
{thanks|thank you} for {the comments|the kind words|your support|your letters} {about {topic}|guys|everyone}
{the|this} {song|music} in my head {won't go away|is driving me crazy|is so catchy}
my {phone|camera|battery} {keeps falling over|is acting up again|is always full|really hates the steam}
I {forgot|never remember} {where I put my {tool}|what it's called|my {kin}'s birthday|to buy {food}}
{leftover|frozen|dried|organic|canned} {food_is} {fine too|just as good|a bit different|what my {kin} uses}
some people {do} {with {tool_one}|in the microwave|in the sink|and I don't get it|differently}
{a|one} friend of mine {does nothing but|can't|refuses to|likes to} {do}
in {a restaurant|the old days|{country}|my family} they {do} {for hours|by hand|all day long}
I {dream|think} about {dish} {at night|at work|on the bus|more than I should}
{life's|summer's} too short {for bad|to eat boring|to worry about} {food}
{money|time} is tight so we {eat|buy|make} {a lot of|mostly|plenty of} {food}
you {know|remember} {that|the} {story|joke} about {food}, {right|no|don't you}?
this {vessel} {was|is} {a gift|a present|from {shop}|so old|too small for {dish}}
I {need|want} a {nicer|new|better} {vessel} {for {dish}|to {do}|someday|for my birthday}
{wash|clean|dry} {the|your} {vessel} {by hand|with hot water|right away|or my {kin} gets angry}
the {seeds|edges|skin|bottom|lumps|juice} of {food} {belong in the bin|can be bitter|can stain your clothes}
use {both hands|a sharp knife|a low heat|some muscle|a wooden spoon|your eyes} when you {do}
{carefully|quickly|slowly|gently|evenly} {doing} is {a skill|harder than it looks|all about patience}
I {dropped|found|lost|stepped on|carried} {one} {at {shop}|on the bus|at work|this morning|in {month}}
all {you need|I want|my {kin} wants} is {one} and {{one}|{food}}
my {kin} {draws|eats|buys|packs|peels} {one} {every {day}|for the kids|at night}
have you ever {seen|tasted|painted|bought} {one} like {this|that|the ones in {country}}?
{one} {costs|was} {number} {dollars|bucks} {at {shop}|in {country}|in {month}}
{one} {a day|in your pocket|for breakfast} {makes you happy|is a good idea|never hurt anybody}
my {kin} {does|did} everything {on a high heat|in one go|at high speed|with the lid on|without salt and pepper}
"""

_CHOICES = """
great: great, amazing, the best, terrible, wonderful, decent, perfect, fluffy, golden
kin: sister, mom, grandmother, husband, neighbor, best friend, dad, uncle, cousin, roommate, aunt, grandpa, wife
kins: kids, parents, friends, cousins, neighbors, coworkers, students
day: Sunday, Monday, Friday, Saturday
month: January, March, June, July, August, October, winter, spring, summer
shop: the farmers market, the corner shop, the supermarket, a flea market, the bakery, a garage sale, the store
number: two, three, four, five, six, ten, twelve, twenty, fifty
country: Italy, France, Mexico, Japan, India, Spain, Korea, Greece, Germany, England, Texas, Canada
drink: coffee, tea, milk, lemonade, hot chocolate, water, juice, iced coffee, black coffee
"""


def _called(items: Sequence[str]) -> list[str]:
    """Names without a determiner: "white flour", "red onions"."""
    return [name.many or name.one for item in items for name in NOUNS[item].names]


def _with_verb(names: list[str]) -> list[str]:
    return [f"{name} {'are' if name.endswith('s') else 'is'}" for name in names]


def _one_of(options: list[str]) -> str:
    return f"{{{'|'.join(options)}}}"


def _rules() -> Rules:
    choices = [line.partition(": ") for line in _CHOICES.strip().splitlines()]
    actions = [line.partition(": ") for line in _ACTIONS.strip().splitlines()]
    foods = _called((*INGREDIENTS, "vinegar", "dough"))
    vessels = [name.one for vessel in VESSELS for name in NOUNS[vessel].names]
    tools = _TOOLS + vessels
    return {name: options.split(", ") for name, _, options in choices} | {
        "dish": _DISHES,
        "dish_is": _with_verb(_DISHES),
        "food": foods,
        "food_is": _with_verb(foods),
        "piece": _called(PIECES),
        "one": [article(name.one) for thing in NOUNS.values() for name in thing.names if name.many and name.one],
        "eat": ["{dish}", "{food}"],
        "topic": ["{dish}", "{food}", "{doing}"],
        "do": [f"{_one_of(verbs.split(', '))} {_one_of(things.split(', '))}" for verbs, _, things in actions],
        "doing": [
            f"{_one_of([doing(verb) for verb in verbs.split(', ')])} {_one_of(things.split(', '))}"
            for verbs, _, things in actions
        ],
        "tool": tools,
        "tool_one": [article(tool) for tool in tools],
        "vessel": vessels,
    }


_RULES = _rules()
_SENTENCES = _TEMPLATES.strip().splitlines()


def chat(rng: Rng) -> str:
    """A sentence about anything but the dish."""
    return sentence(with_opening(fill(rng.pick(_SENTENCES), _RULES, rng), rng))


_GREETINGS = (
    "{hi|hello|hey} {everyone|everybody|guys|there}, {welcome|welcome back} to my {kitchen|channel}",
    "{hi|hello|hey} {everyone|everybody|guys}, today I'll show you how to {task}",
    "{hi|hello|hey there}, today we're going to {task}",
    "good {morning|evening} {everyone|guys}, let's {task} together",
)
_FAREWELLS = (
    "{thanks|thank you} {so much|} for watching, {bye|see you soon|see you in another video}",
    "{so|and} that's how you {task}, {bye|goodbye|take care} {everyone|guys|}",
    "{I hope you enjoyed this|enjoy your meal}, {bye|goodbye|see you soon} {everyone|guys|}",
)


def greet(title: str, rng: Rng) -> str:
    """A greeting, for videos that have one; the title is a task's, such as "Make Pancakes"."""
    return sentence(fill(rng.pick(_GREETINGS), {"task": (title.lower(),)}, rng))


def take_leave(title: str, rng: Rng) -> str:
    return sentence(fill(rng.pick(_FAREWELLS), {"task": (title.lower(),)}, rng))
