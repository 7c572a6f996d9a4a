"""What pages are made of: templates, data and scripts, in which text stays text."""

import json
import re

import pytest

from aligntools.ground.errors import visible
from aligntools.viewing.page import as_json, bundle, framed, page

ODD = "</script><script>alert(1)</script> & \" ' <!-- \u2028 \u2029 \x00"


def test_markup_in_text_and_data():
    assert visible("a b") == "a b"
    assert visible("\x00\t\x1b[1m\x7f\x85\udcff\ufffe") == "␀␉␛[1m␡\ufffd\ufffd\ufffd"
    assert visible("שלום é ü 你好") == "שלום é ü 你好"
    text = as_json({"a": [ODD]})
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == {"a": [ODD]}
    with pytest.raises(ValueError, match="Out of range"):
        as_json(float("nan"))
    made = page(ODD, "alignments", {"source": [ODD], "target": [ODD], "systems": []}, tables=[], left_out=0, most=1)
    assert "alert(1)</script>" not in made
    assert made.count("<script") == 2
    assert made.count("</script>") == 2
    assert "\x00" not in made
    made.encode()
    made = page("t", "alignments", {"source": [], "target": [], "systems": []}, tables=[], left_out=0, most=1)
    assert "default-src &#39;none&#39;" in made
    assert not re.search(
        r"""(?:src|href)=(?!["']?(?:#|data:))""", re.sub(r"<script>.*</script>", "", made, flags=re.DOTALL)
    )
    assert set(re.findall(r"https?://[\w./]+", made)) <= {"http://www.w3.org/2000/svg"}
    made = framed("<p class='a'>\"x\"</p>")
    assert "&lt;p class=&#x27;a&#x27;&gt;&quot;x&quot;" in made
    assert "allow-same-origin" not in made


def test_modules_become_functions_in_the_order_of_need():
    modules = {
        "main": 'import { two, Three } from "./lib.js";\nimport { one } from "./base-a.js";\nstart(one, two);\n',
        "lib": 'import { one } from "./base-a.js";\nexport const two = one + 1;\nexport class Three {}\n',
        "base-a": "const hidden = 1;\nexport function one() {}\nexport async function later() {}\n",
    }
    script = bundle("main", modules.__getitem__)
    assert [m[1] for m in re.finditer(r"^const (\$\w+) =", script, re.MULTILINE)] == ["$base_a", "$lib", "$main"]
    assert "return { one, later };" in script
    assert "const { two, Three } = $lib;" in script
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)


@pytest.mark.parametrize(
    ("modules", "problem"),
    [
        ({"main": 'import x from "./lib.js";\n'}, "another form"),
        ({"main": "export default 1;\n"}, "another form"),
        ({"main": 'import { a } from "./b.js";\n', "b": 'import { c } from "./main.js";\n'}, "need each other"),
    ],
)
def test_modules_of_another_form_are_refused(modules, problem):
    with pytest.raises(ValueError, match=problem):
        bundle("main", modules.__getitem__)
