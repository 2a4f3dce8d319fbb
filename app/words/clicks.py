"""What can be clicked in markup, by mouse and by keyboard.

A group carries `data_rove` with its name: Tab stops at one of its parts, and arrow keys go from
there to the others. `assets/components/bridge.js` reads both, and tells the page.
"""


def pick(name: str, value: int, *, stop: bool, element: str = "span") -> dict[str, str | int]:
    """Return the attributes of one part of a group that can be clicked.

    `name` is that of the click in `Screen.clicks` or `Page.picks`, `value` the number that the page
    gets. Tab stops (`stop`) at one part of a group. What is no `button` is announced as one.

    >>> pick("piece", 3, stop=True, element="button")
    {'type': 'button', 'tabindex': 0, 'data_pick': 'piece', 'data_value': 3}
    >>> pick("piece", 3, stop=False)
    {'role': 'button', 'tabindex': -1, 'data_pick': 'piece', 'data_value': 3}
    """
    kind: dict[str, str | int] = {"type": "button"} if element == "button" else {"role": "button"}
    return {**kind, "tabindex": 0 if stop else -1, "data_pick": name, "data_value": value}
