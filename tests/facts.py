"""What the tables of statements say of facts."""


def statements_by(places, fact):
    """Return the names of what needs a fact, and of what is said without it only."""
    needs = {name for name, place in places.items() if fact in place.needs}
    return needs, {name for name, place in places.items() if fact in place.unless}
