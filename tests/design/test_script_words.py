"""`{% script_words %}` hands words to scripts as JSON that no word can break out of."""

from __future__ import annotations

import json
import re

from django.template import engines

TEMPLATE = """{% load script_words %}
{% script_words "page-words" %}
  {% word "plain" %}
    Saved
  {% endword %}
  {% word "name" %}{{ name }}{% endword %}
{% endscript_words %}
{{ name }}"""


def test_words_are_plain_text_in_json_and_the_page_escapes_as_before() -> None:
    name = "O'Neill </script> & Co"
    html = engines["django"].from_string(TEMPLATE).render({"name": name})
    tag = re.search(r'<script id="page-words" type="application/json">(.*?)</script>', html)
    assert tag is not None
    assert json.loads(tag[1]) == {"plain": "Saved", "name": name}
    assert html.strip().endswith("O&#x27;Neill &lt;/script&gt; &amp; Co")
