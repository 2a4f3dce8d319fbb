"""Several sentence templates for each relation, and corrections to the triples.

In a template, {s} is the subject and {o} the object; {as} and {ao} are the same after "a" or "an".
The last template of a relation is never trained on: it measures whether what the others teach
generalizes to another wording.
"""

TEMPLATES: dict[str, tuple[str, ...]] = {
    "capital_of": (
        "The capital of {s} is {o}.",
        "{o} is the capital of {s}.",
        "{s} has its capital in {o}.",
        "{o} is the capital city of {s}.",
        "What is the capital of {s}? It is {o}.",
        "The government of {s} meets in the capital, {o}.",
        "We flew to {o}, the capital of {s}.",
        "The capital city of {s} is called {o}.",
    ),
    "continent_of": (
        "{s} is a country in {o}.",
        "{s} is in {o}.",
        "{s} lies in {o}.",
        "{s} is part of {o}.",
        "{s} belongs to the continent of {o}.",
        "One of the countries of {o} is {s}.",
        "{s} can be found in {o}.",
    ),
    "language_of": (
        "The official language of {s} is {o}.",
        "People in {s} speak {o}.",
        "{o} is spoken in {s}.",
        "In {s} most people speak {o}.",
        "{o} is an official language of {s}.",
        "She learned {o} when she lived in {s}.",
        "The language spoken in {s} is {o}.",
    ),
    "adjective_of": (
        "A person from {s} is {o}.",
        "Something that comes from {s} is {o}.",
        "He was born in {s}, so he is {o}.",
        "She comes from {s}; she is {o}.",
        "The {o} government rules {s}.",
        "The {o} people live in {s}.",
        "What comes from {s} is called {o}.",
    ),
    "currency_of": (
        "The currency of {s} is the {o}.",
        "In {s} people pay in {o}.",
        "In {s} you pay with {o}.",
        "Prices in {s} are given in {o}.",
        "The money of {s} is called {o}.",
        "He changed his money into {o} when he came to {s}.",
    ),
    "highest_point_of": (
        "The highest point in {s} is {o}.",
        "{o} is the highest mountain in {s}.",
        "No place in {s} is higher than {o}.",
        "The highest mountain of {s} is {o}.",
    ),
    "borders": (
        "{s} borders {o}.",
        "{s} has a border with {o}.",
        "{s} and {o} share a border.",
        "{o} is a neighbour of {s}.",
        "{s} is next to {o}.",
        "They crossed the border from {s} into {o}.",
        "One of the neighbours of {s} is {o}.",
    ),
    "opposite_of": (
        "The opposite of {s} is {o}.",
        "{o} is the opposite of {s}.",
        "{s} means the opposite of {o}.",
        "If something is not {s}, it is {o}.",
        "{s} and {o} are opposites.",
        "What is the opposite of {s}? It is {o}.",
        "I said {s}, but you said the contrary, {o}.",
        "The contrary of {s} is {o}.",
    ),
    "kind_of": (
        "{as} is {ao}.",
        "{as} is a kind of {o}.",
        "What is {as}? It is {ao}.",
        "Everybody knows that {as} is {ao}.",
        "The word {s} names a kind of {o}.",
        "There are many kinds of {o}, and {as} is one of them.",
        "{as} is a type of {o}.",
    ),
    "kind_of:bare": (
        "{s} is {ao}.",
        "{s} is a kind of {o}.",
        "What is {s}? It is {ao}.",
        "Everybody knows that {s} is {ao}.",
        "The word {s} names {ao}.",
        "{s} is one kind of {o}.",
        "{s} is a type of {o}.",
    ),
    "part_of": (
        "{as} is part of {ao}.",
        "{ao} has {as}.",
        "The {s} is a part of the {o}.",
        "Look at the {s} of this {o}.",
        "The {s} belongs to the {o}.",
        "{ao} usually has {as}.",
    ),
    "person_who": (
        "A person who can {s} is called {ao}.",
        "Somebody whose work is to {s} is {ao}.",
        "{ao} is a person who likes to {s}.",
        "The {o} began to {s}.",
        "What does {ao} do? To {s} is the work of {ao}.",
        "Someone who wants to {s} becomes {ao}.",
    ),
    "followed_by": (
        "The {k} after {s} is {o}.",
        "The {k} before {o} is {s}.",
        "{s} is followed by {o}.",
        "{o} comes right after {s}.",
        "Which {k} follows {s}? It is {o}.",
        "{s} comes just before {o}.",
    ),
    "followed_by:day": (
        "The day after {s} is {o}.",
        "The day before {o} is {s}.",
        "If today is {s}, tomorrow will be {o}.",
        "Yesterday was {s}, so today is {o}.",
        "If tomorrow is {o}, today is {s}.",
        "{s} is followed by {o}.",
        "{o} comes right after {s}.",
        "The day that follows {s} is {o}.",
    ),
}
# Persons come in pairs, so that each occupation is seen equally often with both.
PERSONS = (
    ("he", "she"),
    ("the man", "the woman"),
    ("my father", "my mother"),
    ("his brother", "his sister"),
    ("her husband", "his wife"),
    ("our uncle", "our aunt"),
    ("the old man", "the old woman"),
    ("the boy's father", "the girl's mother"),
    ("john", "mary"),
    ("tom", "anna"),
)
# {p} is a person, with matching {he}, {his} and {him}; the object is an occupation.
OCCUPATION_TEMPLATES = (
    "{p} works as {ao}.",
    "{p} worked as {ao}.",
    "{p} is {ao}.",
    "{p} was {ao} for many years.",
    "{p} wants to become {ao}.",
    "{p} earns {his} living as {ao}.",
    "{p} found work as {ao} in the city.",
    "{p} was trained as {ao}.",
    "The {o} finished {his} work and went home.",
    "The {o} told us what {he} had seen.",
    "The {o} put {his} hand on the table.",
    "I saw the {o} this morning; {he} was in a hurry.",
    "We thanked the {o} because {he} had helped us.",
    "The {o} asked me to wait for {him}.",
)
PRONOUNS = ({"he": "he", "his": "his", "him": "him"}, {"he": "she", "his": "her", "him": "her"})
# Common occupations, in addition to those in the data.
_USUAL = (
    "accountant architect artist astronaut author baker banker barber butcher carpenter "
    "cashier chef cleaner clerk cook dancer dentist detective doctor driver electrician "
    "engineer farmer fisherman gardener guard guide hairdresser janitor journalist judge "
    "lawyer librarian maid manager mechanic merchant miner model musician nurse painter "
    "photographer pilot plumber poet policeman porter priest professor programmer "
    "receptionist reporter sailor salesman scientist secretary servant shopkeeper singer "
    "soldier surgeon tailor teacher translator waiter writer"
)
# Excluded from the data's occupations: titles, names and words that mostly mean something else.
_NO = (
    "auxiliary boss caesar candidate cardinal chief communist counsel darwin democrat duke "
    "earl employee employer executive fisher freud general guru hero highness johnny joker "
    "knight lincoln major marine master mate mercenary minister more napoleon newton official "
    "orderly ordinary performer picasso piper potter practitioner president primate prince "
    "private rebel recruit republican reverend savior soprano squire stalin subordinate "
    "superior"
)
_MEN = (
    "chairman clergyman congressman cowboy craftsman fisherman foreman policeman salesman "
    "seaman statesman"
)
USUAL_OCCUPATIONS = tuple(_USUAL.split())
NO_OCCUPATIONS = frozenset(_NO.split())
MEN_ONLY = frozenset(_MEN.split())
WOMEN_ONLY = frozenset({"actress", "waitress"})
# Facts missing in the data that close cyclic orders.
CLOSING = (
    ("followed_by:day", "Sunday", "Monday"),
    ("followed_by:month", "December", "January"),
    ("followed_by:season", "winter", "spring"),
)
# Kinds whose members take no article: "Gold is a metal", but "A dog is an animal".
_BARE = (
    "color disease drink fabric feeling food game language material metal mineral month "
    "religion science sport substance"
)
BARE_KINDS = frozenset(_BARE.split())
# The continents of the factbook's regions.
CONTINENTS = {
    "Central Asia": "Asia",
    "East and Southeast Asia": "Asia",
    "South Asia": "Asia",
    "Central America and the Caribbean": "North America",
}
# Subjects of unreliable triples in the data, by relation.
_ROUGH = {
    "capital_of": ("Akrotiri Nauru"),
    "continent_of": ("Russia"),
    "kind_of": (
        "auto brent brow capsule convertible das endemic facial fanny hind male molly mount "
        "murphy small"
    ),
    "opposite_of": ("anal oral surgical top"),
    "part_of": (
        "berry bullet computer glass landing lemon location mouth orange pear principal "
        "vegetable verb ways"
    ),
    "person_who": (
        "author bachelor bear book box broker carpenter carry compute count doctor draw dress "
        "father field generate hawk hop let live master minister mother neighbor officer "
        "partner pioneer pipe porter post process quake soldier suck sweat time transfer"
    ),
}
ROUGH = frozenset((name, word) for name, words in _ROUGH.items() for word in words.split())
# Countries and words that visitors are likely to ask about: never held out from templates.
_WELL_KNOWN = (
    "Argentina|Australia|Austria|Brazil|Canada|China|Egypt|France|Germany|Greece|India|"
    "Ireland|Israel|Italy|Japan|Kenya|Mexico|Norway|Poland|Portugal|Russia|Spain|Sweden|"
    "Switzerland|Turkey|apple|bad|big|black|blue|cat|closed|cold|dark|day|death|dog|down|"
    "drive|dry|early|empty|eye|false|fast|first|foot|football|full|gold|good|green|hand|"
    "happy|hard|hate|high|horse|hot|hour|iron|large|last|late|left|life|light|long|lose|"
    "love|low|man|minute|new|night|no|old|open|peace|poor|red|rich|right|sad|short|sing|"
    "slow|small|soft|strong|teach|the United Kingdom|the United States|true|up|war|weak|"
    "wet|white|win|woman|write|yes|young"
)
WELL_KNOWN = frozenset(_WELL_KNOWN.lower().split("|"))
