"""Walking through an application's parts."""

from franq_guard.capture.walking import is_named, parts_in


class Part:
    def __init__(self, *held):
        self.held = held


class Other(Part):
    pass


def inside(part):
    return part.held if isinstance(part, Part) else None


def test_every_part_once_wherever_it_sits():
    leaf = Part()
    middle = Part({"a": [leaf, 3]}, (leaf,), "text", Part)
    top = Part(middle, leaf)
    leaf.held = (top,)  # a circle
    assert list(parts_in(top, inside)) == [top, middle, leaf]
    assert list(parts_in([{"x": top}, middle], inside)) == [top, middle, leaf]
    assert list(parts_in("text", inside)) == []


def test_a_part_is_found_though_what_held_another_was_freed():
    leaves = [Part() for _ in range(20)]
    top = Part(*leaves)
    # Lists that are made on the way and freed at once, so that they have the same id.
    found = parts_in(top, lambda part: ([held] for held in part.held))
    assert list(found) == [top, *leaves]


def test_what_is_no_part_is_not_followed():
    leaf = Part()
    top = Part(Other(leaf))
    found = parts_in(top, lambda part: None if type(part) is Other else part.held)
    assert list(found) == [top]


def test_names_of_base_classes_count():
    assert is_named(Other(), "Part")
    assert is_named(Other(), "X", "Other")
    assert not is_named(Part(), "Other")
