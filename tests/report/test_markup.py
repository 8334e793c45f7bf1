"""Markup: text is escaped wherever it stands, and only where it is text."""

from sandbox.report.markup import fragment, tag, verbatim


def test_text_is_escaped_and_markup_is_not() -> None:
    assert tag("p", "a < b & c", tag("b", "d")) == "<p>a &lt; b &amp; c<b>d</b></p>"


def test_an_attribute_can_t_be_left_by_its_value() -> None:
    assert tag("p", title="\"'><script>") == '<p title="&quot;&#x27;&gt;&lt;script&gt;"></p>'


def test_what_is_none_leaves_no_trace_and_zero_does() -> None:
    assert tag("p", None, 0, class_=None, hidden=False, open=True, width=0.0) == '<p open width="0">0</p>'


def test_children_may_come_in_heaps() -> None:
    assert fragment("a", (tag("i", n) for n in range(2)), [["b"], None]) == "a<i>0</i><i>1</i>b"


def test_markup_that_is_put_together_by_hand_is_text_again() -> None:
    assert tag("p", verbatim("<i>") + "<b>") == "<p>&lt;i&gt;&lt;b&gt;</p>"


def test_an_element_that_can_t_hold_anything_is_not_closed() -> None:
    assert tag("meta", name="viewport") == '<meta name="viewport">'
