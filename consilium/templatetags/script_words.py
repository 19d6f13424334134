"""The words that a page's scripts show, as one JSON script tag in the reader's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template
from django.utils.html import json_script
from django.utils.safestring import SafeString

if TYPE_CHECKING:
    from django.template import Context, NodeList
    from django.template.base import FilterExpression, Parser, Token

register = template.Library()

_WORDS = "_script_words"


class _WordNode(template.Node):
    def __init__(self, key: FilterExpression, nodelist: NodeList) -> None:
        self.key = key
        self.nodelist = nodelist

    def render(self, context: Context) -> SafeString:
        context[_WORDS][self.key.resolve(context)] = self.nodelist.render(context).strip()
        return SafeString()


class _ScriptWordsNode(template.Node):
    def __init__(self, script_id: FilterExpression, nodelist: NodeList) -> None:
        self.script_id = script_id
        self.nodelist = nodelist

    def render(self, context: Context) -> SafeString:
        words: dict[str, str] = {}
        autoescape = context.autoescape
        context.autoescape = False  # scripts set text, never markup; JSON is escaped as a whole
        try:
            with context.push(**{_WORDS: words}):
                self.nodelist.render(context)
        finally:
            context.autoescape = autoescape
        return json_script(words, self.script_id.resolve(context))


def _argument(parser: Parser, token: Token) -> FilterExpression:
    try:
        name, argument = token.split_contents()
    except ValueError:
        name = token.contents.split()[0]
        raise template.TemplateSyntaxError(f"{{% {name} %}} takes one argument") from None
    return parser.compile_filter(argument)


@register.tag
def script_words(parser: Parser, token: Token) -> template.Node:
    """``{% script_words "ID" %}{% word "saved" %}Saved{% endword %}…{% endscript_words %}``.

    `static/js/core/words.js` reads the tag with that id. White space around a word is dropped.
    """
    script_id = _argument(parser, token)
    nodelist = parser.parse(("endscript_words",))
    parser.delete_first_token()
    return _ScriptWordsNode(script_id, nodelist)


@register.tag
def word(parser: Parser, token: Token) -> template.Node:
    """One word or sentence inside ``{% script_words %}``."""
    key = _argument(parser, token)
    nodelist = parser.parse(("endword",))
    parser.delete_first_token()
    return _WordNode(key, nodelist)
