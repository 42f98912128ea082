"""40 JSON schemas: nested, enums, patterns, numbers, arrays, Unicode, optional
and other parts. Some texts end only by chance: those of nodes in nodes, of
dictionaries, of fractions of a second."""


def text(most=12, **more):
    return {"type": "string", "maxLength": most, **more}


def integer(least=None, most=None, **more):
    return {"type": "integer", **({} if least is None else {"minimum": least}),
            **({} if most is None else {"maximum": most}), **more}


def array(items, most=4, least=0):
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def closed(properties, required=None, **more):
    return {"type": "object", "properties": properties,
            "required": list(properties) if required is None else required,
            "additionalProperties": False, **more}


PERSON = closed({"name": text(), "age": integer(0, 120)})
COORDINATE = {"type": "number", "minimum": -1, "maximum": 1, "multipleOf": 0.125}
POINT = closed({"x": COORDINATE, "y": COORDINATE})

SCHEMAS = {
    "boolean": {"type": "boolean"},
    "null": {"type": "null"},
    "integer": integer(-50, 50),
    "large integer": integer(10**9, 10**12),
    "exclusive bounds": {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 6},
    "number": {"type": "number", "minimum": 0.25, "maximum": 17.5, "multipleOf": 0.25},
    "multiple": integer(0, 1000, multipleOf=7),
    "string": text(30),
    "string of some length": text(9, minLength=5),
    "pattern": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3,5}$"},
    "pattern of letters of any language": {"type": "string", "pattern": "^[äöüßéλжم]{2,8}$"},
    "unanchored pattern": {"type": "string", "pattern": "[0-9]x", "maxLength": 9},
    "enum": {"enum": ["red", "green", "blue"]},
    "enum of all types": {"enum": [1, 2.5, "three", None, True, ["f", {"g": 5}]]},
    "enum of Unicode": {"enum": ["日本語", "emoji 🐕", "naïve", "\u2028", "tab\t\"q\""]},
    "const": {"const": {"fixed": [1, 2, {"deep": "ä"}]}},
    "person": PERSON,
    "optional": closed({"a": text(), "b": integer(0, 9), "c": {"type": "boolean"}}, []),
    "some optional": closed({"id": integer(1, 99), "note": text(), "ok": {"type": "boolean"},
                             "tag": {"enum": ["x", "y"]}}, ["id", "ok"]),
    "Unicode names": closed({"größe": integer(1, 3), "名前": text(5), "a b\"c": {"type": "null"}}),
    "nested": closed({"a": closed({"b": closed({"c": closed({"d": PERSON})})})}),
    "array of integers": array(integer(0, 255), 8),
    "array that is not empty": array(integer(0, 9), 5, 2),
    "array of objects": array(PERSON, 3),
    "array of arrays": array(array(array({"type": "boolean"}, 2), 2), 3),
    "tuple": {"type": "array", "prefixItems": [text(), integer(0, 9), {"type": "boolean"}],
              "items": False, "minItems": 3},
    "types": {"type": ["integer", "boolean", "null"], "minimum": 0, "maximum": 999},
    "any of": {"anyOf": [PERSON, POINT, {"type": "null"}]},
    "any of in an array": array({"anyOf": [integer(0, 9), text(4), POINT]}, 4),
    "one of": {"oneOf": [closed({"kind": {"const": "circle"}, "r": integer(1, 9)}),
                         closed({"kind": {"const": "square"}, "side": integer(1, 9)})]},
    "all of": {"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 40}, {"multipleOf": 3}]},
    "definitions": {"$defs": {"person": PERSON, "pair": array({"$ref": "#/$defs/person"}, 2, 2)},
                    "type": "object", "properties": {"pair": {"$ref": "#/$defs/pair"}},
                    "required": ["pair"], "additionalProperties": False},
    "recursive": {"$defs": {"node": closed({"v": integer(0, 9), "next": {"anyOf": [
        {"type": "null"}, {"type": "null"}, {"$ref": "#/$defs/node"}]}})},
                  "$ref": "#/$defs/node"},
    "dictionary": {"type": "object", "patternProperties": {"^[a-z ]{1,9}$": array(integer(0, 9))},
                   "additionalProperties": False},
    "names of a pattern": {"type": "object", "patternProperties": {"^[a-c]{1,3}$": integer(0, 9)},
                           "additionalProperties": False},
    "date": closed({"day": {"type": "string", "format": "date"},
                    "time": {"type": "string", "format": "time"}}),
    "other formats": closed({"id": {"type": "string", "format": "uuid"},
                             "host": {"type": "string", "format": "ipv4"}}),
    "tool call": closed({"name": {"enum": ["weather", "time"]}, "arguments": closed(
        {"city": text(), "unit": {"enum": ["celsius", "fahrenheit"]}, "days": integer(1, 7)},
        ["city"])}),
    "order": closed({"id": {"type": "string", "pattern": "^o_[0-9a-f]{6}$"}, "paid": {"type": "boolean"},
                     "lines": array(closed({"sku": text(6, minLength=1), "count": integer(1, 99),
                                            "price": {"type": "number", "minimum": 0, "maximum": 999, "multipleOf": 0.25}}),
                                    3, 1)}),
    "many properties": closed({f"field_{i}": [integer(0, 9), {"type": "boolean"}, {"enum": ["a", "b"]}][i % 3]
                               for i in range(30)}, [f"field_{i}" for i in range(0, 30, 2)]),
}
assert len(SCHEMAS) == 40
