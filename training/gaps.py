"""Everyday sentences with a gap, such as anyone could type, and acceptable words for it.

All hundred sentences and their words were written before looking at any model's answers to them. A
gap counts as filled if one of its words is among the first five. The sentences stay unchanged, even
if a model fails one.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gap:
    """A sentence with one [MASK], and the words that would fill it well."""

    sentence: str
    good: frozenset[str]


def gap(sentence: str, good: str) -> Gap:
    """Return a gap with the words, separated by spaces, that fill it well."""
    return Gap(sentence, frozenset(good.split()))


GAPS = (
    # at home
    gap("He washed the dishes in the [MASK].", "kitchen sink evening"),
    gap("She turned off the [MASK] and fell asleep.", "light lights lamp television tv radio"),
    gap("They sat around the [MASK] and had dinner.", "table fire"),
    gap("My keys are on the [MASK].", "table floor desk shelf chair counter door bed"),
    gap("It was raining, so she took her [MASK] with her.", "umbrella coat jacket hat"),
    gap("He put on his shoes and left the [MASK].", "house room building apartment home office"),
    gap("We painted the walls of the room [MASK].", "white blue green yellow red black grey gray"),
    gap("The baby started to [MASK].", "cry scream laugh sleep walk crawl smile"),
    gap("Grandmother told the children a [MASK].", "story tale joke secret lie"),
    gap("I forgot to water the [MASK].", "plants flowers garden plant grass lawn trees"),
    gap("She looked at herself in the [MASK].", "mirror glass water window"),
    gap("He sleeps in a very small [MASK].", "bed room house apartment tent bedroom"),
    gap("The phone was ringing, but nobody [MASK].", "answered came called"),
    gap("There is a picture on the [MASK].", "wall table page desk screen door cover"),
    gap("She lit a [MASK] because it was dark.", "candle lamp fire match torch light lantern"),
    # food and drink
    gap("I like my coffee with milk and [MASK].", "sugar cream honey chocolate"),
    gap("He ate an [MASK] after lunch.", "apple orange egg ice"),
    gap("The soup is too [MASK] to eat.", "hot cold salty thick spicy warm"),
    gap("She baked a [MASK] for his birthday.", "cake pie"),
    gap(
        "For breakfast they had bread and [MASK].",
        "butter cheese jam milk eggs honey meat coffee tea",
    ),
    gap("Lemons taste [MASK].", "sour bitter"),
    gap("He was so [MASK] that he ate three plates of rice.", "hungry greedy"),
    gap("You can drink [MASK] from the tap here.", "water"),
    gap("Cheese is made from [MASK].", "milk"),
    gap("We ordered a pizza and two bottles of [MASK].", "wine beer water milk coke"),
    # animals and plants
    gap("Birds build their [MASK] in trees.", "nests nest homes"),
    gap("A spider has eight [MASK].", "legs eyes"),
    gap("The farmer milks his [MASK] every morning.", "cows cow goats sheep cattle"),
    gap("Bees make [MASK].", "honey"),
    gap("The leaves of the trees turn [MASK] in autumn.", "red yellow brown green orange gold"),
    gap("The horse jumped over the [MASK].", "fence wall gate hill river bridge water"),
    gap("A baby dog is called a [MASK].", "puppy pup"),
    gap("The lion is the king of the [MASK].", "jungle animals beasts forest"),
    gap("Cows eat [MASK].", "grass plants hay"),
    gap("The bird flew away because its [MASK] was open.", "cage door window"),
    # school and work
    gap("The teacher wrote the answer on the [MASK].", "board blackboard wall paper"),
    gap(
        "She studied medicine because she wanted to become a [MASK].",
        "doctor nurse physician surgeon",
    ),
    gap("He borrowed three books from the [MASK].", "library school"),
    gap("The students listened to the [MASK].", "teacher music professor lecture radio teachers"),
    gap("He lost his [MASK] when the factory closed.", "job work position"),
    gap("She works as a nurse in a [MASK].", "hospital clinic"),
    gap("The test was very [MASK], and many pupils failed.", "hard difficult tough long"),
    gap("He types on the [MASK] of his computer.", "keyboard keys screen"),
    gap("Two plus two is [MASK].", "four 4"),
    gap("The children learn to read and [MASK] at school.", "write count speak"),
    # travel and places
    gap("The plane landed at the [MASK] on time.", "airport"),
    gap(
        "We spent our holiday at the [MASK] and swam every day.",
        "beach sea lake coast seaside pool hotel",
    ),
    gap("Rome is a city in [MASK].", "italy"),
    gap("The capital of England is [MASK].", "london"),
    gap("People in Brazil speak [MASK].", "portuguese"),
    gap("She bought a [MASK] for the train to London.", "ticket"),
    gap("The ship crossed the [MASK].", "ocean sea river atlantic channel lake water"),
    gap("He drove his [MASK] to work.", "car truck bike van"),
    gap("They climbed to the top of the [MASK].", "mountain hill tower tree stairs wall cliff"),
    gap("The bridge crosses the [MASK].", "river valley stream water creek road canal"),
    gap("Tokyo is the capital of [MASK].", "japan"),
    gap("The Nile is a long [MASK] in Africa.", "river"),
    gap("The hotel has fifty [MASK].", "rooms beds guests bedrooms"),
    gap("We took the [MASK] because the stairs were broken.", "elevator lift train bus"),
    # time and weather
    gap("There are sixty [MASK] in an hour.", "minutes"),
    gap("The shop opens at nine in the [MASK].", "morning evening"),
    gap("After Monday comes [MASK].", "tuesday"),
    gap("Christmas is in [MASK].", "december winter"),
    gap("The sky is [MASK] and the sun is shining.", "blue clear bright"),
    gap("It is cold, and [MASK] is falling from the sky.", "snow rain ice"),
    gap("At night you can see the moon and the [MASK].", "stars sun planets sky"),
    gap("In summer the days are [MASK] than in winter.", "longer warmer hotter"),
    gap("He will come back [MASK] week.", "next this every last"),
    gap("She was born in the [MASK] 1990.", "year summer spring"),
    # body and feelings
    gap("He broke his [MASK] while skiing.", "leg arm ankle foot neck nose back wrist"),
    gap("She closed her [MASK] and slept.", "eyes door book"),
    gap("You hear with your [MASK].", "ears"),
    gap("He brushed his [MASK] before going to bed.", "teeth hair"),
    gap(
        "She was [MASK] because her dog had died.",
        "sad upset crying angry unhappy heartbroken devastated",
    ),
    gap("He laughed because the joke was so [MASK].", "funny good"),
    gap("The blood is pumped through the body by the [MASK].", "heart"),
    gap("She wore a ring on her [MASK].", "finger hand left"),
    gap("He has a fever and has to see a [MASK].", "doctor physician"),
    gap("The old man walked very [MASK].", "slowly slow well carefully fast"),
    # people
    gap("My mother's sister is my [MASK].", "aunt"),
    gap("The king and the [MASK] lived in a castle.", "queen prince princess"),
    gap("The bride kissed the [MASK].", "groom bridegroom"),
    gap("She has two children, a boy and a [MASK].", "girl"),
    gap("He asked her to [MASK] him, and she said yes.", "marry kiss help join"),
    gap(
        "The police caught the [MASK].",
        "thief murderer killer robber man suspect criminal criminals thieves",
    ),
    gap("Nobody [MASK] what happened to him.", "knows knew understands understood saw"),
    gap("The [MASK] sang a song on the stage.", "singer band girl choir woman artist boy"),
    # sport, play, things
    gap("He scored two [MASK] in the football match.", "goals points touchdowns"),
    gap("She won the race and got a gold [MASK].", "medal"),
    gap("The children play with a [MASK] in the garden.", "ball dog toy cat doll"),
    gap("He plays the guitar in a [MASK].", "band group"),
    gap("I read the [MASK] in one evening.", "book letter story newspaper novel paper"),
    gap("The film was so [MASK] that we left early.", "bad boring long dull terrible"),
    gap("A knife is used to [MASK] bread.", "cut slice"),
    gap("Ice is frozen [MASK].", "water"),
    gap("A car has four [MASK].", "wheels doors seats tires"),
    gap("She paid for the book with her credit [MASK].", "card cards"),
    # small words
    gap("I would like to go, [MASK] I have no time.", "but because"),
    gap("This house is bigger [MASK] that one.", "than"),
    gap("She has lived here [MASK] 2010.", "since"),
)
