"""Oracle of predictions: one row after another."""


def predicted_class(record, classes):
    """Return the first class of largest probability."""
    best = classes[0]
    for name in classes:
        if record["p"][name] > record["p"][best]:
            best = name
    return best


def predictions(records, classes):
    """Return the (score, uncertainty, whether the class is right, weight) of each record."""
    predicted = []
    for record in records:
        name = predicted_class(record, classes)
        predicted.append(
            (record["p"][name], record["uncertainty"], record["label"] == name, record["weight"])
        )
    return predicted


def by_predicted_class(records, classes):
    """Divide the predictions by class, in the order of names; no class of weightless records only."""
    names = {predicted_class(record, classes) for record in records if record["weight"]}
    return {
        name: predictions([record for record in records if predicted_class(record, classes) == name], classes)
        for name in sorted(names)
    }
