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


def _gap(sentence: str, good: str) -> Gap:
    return Gap(sentence, frozenset(good.split()))


GAPS = (
    # at home
    _gap("He washed the dishes in the [MASK].", "kitchen sink evening"),
    _gap("She turned off the [MASK] and fell asleep.", "light lights lamp television tv radio"),
    _gap("They sat around the [MASK] and had dinner.", "table fire"),
    _gap("My keys are on the [MASK].", "table floor desk shelf chair counter door bed"),
    _gap("It was raining, so she took her [MASK] with her.", "umbrella coat jacket hat"),
    _gap("He put on his shoes and left the [MASK].", "house room building apartment home office"),
    _gap("We painted the walls of the room [MASK].", "white blue green yellow red black grey gray"),
    _gap("The baby started to [MASK].", "cry scream laugh sleep walk crawl smile"),
    _gap("Grandmother told the children a [MASK].", "story tale joke secret lie"),
    _gap("I forgot to water the [MASK].", "plants flowers garden plant grass lawn trees"),
    _gap("She looked at herself in the [MASK].", "mirror glass water window"),
    _gap("He sleeps in a very small [MASK].", "bed room house apartment tent bedroom"),
    _gap("The phone was ringing, but nobody [MASK].", "answered came called"),
    _gap("There is a picture on the [MASK].", "wall table page desk screen door cover"),
    _gap("She lit a [MASK] because it was dark.", "candle lamp fire match torch light lantern"),
    # food and drink
    _gap("I like my coffee with milk and [MASK].", "sugar cream honey chocolate"),
    _gap("He ate an [MASK] after lunch.", "apple orange egg ice"),
    _gap("The soup is too [MASK] to eat.", "hot cold salty thick spicy warm"),
    _gap("She baked a [MASK] for his birthday.", "cake pie"),
    _gap(
        "For breakfast they had bread and [MASK].",
        "butter cheese jam milk eggs honey meat coffee tea",
    ),
    _gap("Lemons taste [MASK].", "sour bitter"),
    _gap("He was so [MASK] that he ate three plates of rice.", "hungry greedy"),
    _gap("You can drink [MASK] from the tap here.", "water"),
    _gap("Cheese is made from [MASK].", "milk"),
    _gap("We ordered a pizza and two bottles of [MASK].", "wine beer water milk coke"),
    # animals and plants
    _gap("Birds build their [MASK] in trees.", "nests nest homes"),
    _gap("A spider has eight [MASK].", "legs eyes"),
    _gap("The farmer milks his [MASK] every morning.", "cows cow goats sheep cattle"),
    _gap("Bees make [MASK].", "honey"),
    _gap("The leaves of the trees turn [MASK] in autumn.", "red yellow brown green orange gold"),
    _gap("The horse jumped over the [MASK].", "fence wall gate hill river bridge water"),
    _gap("A baby dog is called a [MASK].", "puppy pup"),
    _gap("The lion is the king of the [MASK].", "jungle animals beasts forest"),
    _gap("Cows eat [MASK].", "grass plants hay"),
    _gap("The bird flew away because its [MASK] was open.", "cage door window"),
    # school and work
    _gap("The teacher wrote the answer on the [MASK].", "board blackboard wall paper"),
    _gap(
        "She studied medicine because she wanted to become a [MASK].",
        "doctor nurse physician surgeon",
    ),
    _gap("He borrowed three books from the [MASK].", "library school"),
    _gap("The students listened to the [MASK].", "teacher music professor lecture radio teachers"),
    _gap("He lost his [MASK] when the factory closed.", "job work position"),
    _gap("She works as a nurse in a [MASK].", "hospital clinic"),
    _gap("The test was very [MASK], and many pupils failed.", "hard difficult tough long"),
    _gap("He types on the [MASK] of his computer.", "keyboard keys screen"),
    _gap("Two plus two is [MASK].", "four 4"),
    _gap("The children learn to read and [MASK] at school.", "write count speak"),
    # travel and places
    _gap("The plane landed at the [MASK] on time.", "airport"),
    _gap(
        "We spent our holiday at the [MASK] and swam every day.",
        "beach sea lake coast seaside pool hotel",
    ),
    _gap("Rome is a city in [MASK].", "italy"),
    _gap("The capital of England is [MASK].", "london"),
    _gap("People in Brazil speak [MASK].", "portuguese"),
    _gap("She bought a [MASK] for the train to London.", "ticket"),
    _gap("The ship crossed the [MASK].", "ocean sea river atlantic channel lake water"),
    _gap("He drove his [MASK] to work.", "car truck bike van"),
    _gap("They climbed to the top of the [MASK].", "mountain hill tower tree stairs wall cliff"),
    _gap("The bridge crosses the [MASK].", "river valley stream water creek road canal"),
    _gap("Tokyo is the capital of [MASK].", "japan"),
    _gap("The Nile is a long [MASK] in Africa.", "river"),
    _gap("The hotel has fifty [MASK].", "rooms beds guests bedrooms"),
    _gap("We took the [MASK] because the stairs were broken.", "elevator lift train bus"),
    # time and weather
    _gap("There are sixty [MASK] in an hour.", "minutes"),
    _gap("The shop opens at nine in the [MASK].", "morning evening"),
    _gap("After Monday comes [MASK].", "tuesday"),
    _gap("Christmas is in [MASK].", "december winter"),
    _gap("The sky is [MASK] and the sun is shining.", "blue clear bright"),
    _gap("It is cold, and [MASK] is falling from the sky.", "snow rain ice"),
    _gap("At night you can see the moon and the [MASK].", "stars sun planets sky"),
    _gap("In summer the days are [MASK] than in winter.", "longer warmer hotter"),
    _gap("He will come back [MASK] week.", "next this every last"),
    _gap("She was born in the [MASK] 1990.", "year summer spring"),
    # body and feelings
    _gap("He broke his [MASK] while skiing.", "leg arm ankle foot neck nose back wrist"),
    _gap("She closed her [MASK] and slept.", "eyes door book"),
    _gap("You hear with your [MASK].", "ears"),
    _gap("He brushed his [MASK] before going to bed.", "teeth hair"),
    _gap(
        "She was [MASK] because her dog had died.",
        "sad upset crying angry unhappy heartbroken devastated",
    ),
    _gap("He laughed because the joke was so [MASK].", "funny good"),
    _gap("The blood is pumped through the body by the [MASK].", "heart"),
    _gap("She wore a ring on her [MASK].", "finger hand left"),
    _gap("He has a fever and has to see a [MASK].", "doctor physician"),
    _gap("The old man walked very [MASK].", "slowly slow well carefully fast"),
    # people
    _gap("My mother's sister is my [MASK].", "aunt"),
    _gap("The king and the [MASK] lived in a castle.", "queen prince princess"),
    _gap("The bride kissed the [MASK].", "groom bridegroom"),
    _gap("She has two children, a boy and a [MASK].", "girl"),
    _gap("He asked her to [MASK] him, and she said yes.", "marry kiss help join"),
    _gap(
        "The police caught the [MASK].",
        "thief murderer killer robber man suspect criminal criminals thieves",
    ),
    _gap("Nobody [MASK] what happened to him.", "knows knew understands understood saw"),
    _gap("The [MASK] sang a song on the stage.", "singer band girl choir woman artist boy"),
    # sport, play, things
    _gap("He scored two [MASK] in the football match.", "goals points touchdowns"),
    _gap("She won the race and got a gold [MASK].", "medal"),
    _gap("The children play with a [MASK] in the garden.", "ball dog toy cat doll"),
    _gap("He plays the guitar in a [MASK].", "band group"),
    _gap("I read the [MASK] in one evening.", "book letter story newspaper novel paper"),
    _gap("The film was so [MASK] that we left early.", "bad boring long dull terrible"),
    _gap("A knife is used to [MASK] bread.", "cut slice"),
    _gap("Ice is frozen [MASK].", "water"),
    _gap("A car has four [MASK].", "wheels doors seats tires"),
    _gap("She paid for the book with her credit [MASK].", "card cards"),
    # small words
    _gap("I would like to go, [MASK] I have no time.", "but because"),
    _gap("This house is bigger [MASK] that one.", "than"),
    _gap("She has lived here [MASK] 2010.", "since"),
)
