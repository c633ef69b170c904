/** JSON that is carried as its text: written where a value goes, and its members set without changing the rest. */
import { describe, expect, test } from "vitest";
import {
  JsonText,
  jsonPieces,
  jsonTextOf,
  placing,
  withMember,
  withNewMember,
} from "../../../../src/wire/json/json-text.ts";

const ODD = '{"2":1.0, "1":9007199254740993,"a":1,"a":[-0]}';

/** The text in the middle of a body, as a request has it. */
function within(json: string): JsonText {
  const bytes = Buffer.from(`{"größe":${json}}`);
  const start = Buffer.byteLength('{"größe":');
  return new JsonText({ bytes, start, end: bytes.length - 1 });
}

const FORMS = [
  ["its own", (json: string) => new JsonText(json)],
  ["of a body", within],
] as const;

describe.each(FORMS)("a text, %s", (_, textOf) => {
  test("is written as it is, wherever it stands in a value", () => {
    const text = textOf(ODD);
    expect(jsonTextOf(text)).toBe(ODD);
    expect(jsonTextOf({ a: text, b: [text, { text }], c: "é" })).toBe(
      `{"a":${ODD},"b":[${ODD},{"text":${ODD}}],"c":"é"}`,
    );
    expect(jsonPieces({ a: text, b: text })).toEqual(['{"a":', text, ',"b":', text, "}"]);
  });

  test("is written in the place that its mark has, beside texts that write themselves", () => {
    const [first, second] = [textOf(ODD), textOf('{"b":1E2}')];
    const { value, texts } = placing(() => {
      const marks = { late: second.placed, early: first.placed };
      return {
        ...marks,
        del: "\x7fweir-json:\x7f",
        self: first,
        early: [marks.early, marks.early],
        late: marks.late,
      };
    });
    expect(texts).toEqual([second, first]);
    expect(
      jsonPieces(value, texts)
        .map((piece) => (typeof piece === "string" ? piece : piece.text))
        .join(""),
    ).toBe(`{"late":{"b":1E2},"early":[${ODD},${ODD}],"del":"\x7fweir-json:\x7f","self":${ODD}}`);
  });

  test("is placed as itself where no marks are made, also behind a failure", () => {
    const text = textOf(ODD);
    expect(text.placed).toBe(text);
    const failing = () => {
      throw new RangeError("no");
    };
    expect(() => placing(failing)).toThrow(RangeError);
    expect(text.placed).toBe(text);
  });

  test("tells its beginning and its value", () => {
    const text = textOf('{"ä":"ö"}');
    expect([text.isObject, text.head(2), text.text, text.value]).toEqual([
      true,
      '{"',
      '{"ä":"ö"}',
      { ä: "ö" },
    ]);
    expect([textOf("[]").isObject, textOf("[]").head(9)]).toEqual([false, "[]"]);
  });

  test("cannot be written by anything else: a mark would be left", () => {
    expect(() => JSON.stringify({ a: textOf("{}") })).toThrow(TypeError);
    const failing = {
      toJSON() {
        throw new RangeError("no");
      },
    };
    expect(() => jsonTextOf([textOf("{}"), failing])).toThrow(RangeError);
    expect(() => JSON.stringify(textOf("{}"))).toThrow(TypeError);
  });

  test.each([
    ["{}", '{"type":"object"}'],
    ['{ "a": 1.0 }', '{ "a": 1.0,"type":"object" }'],
    ['{"type":"object","a":1.0}', '{"type":"object","a":1.0}'],
    ['{ "type" : "object" , "a":1}', '{ "type" : "object" , "a":1}'],
    ['{"a":1.0,"type":["object","null"],"b":2E1}', '{"a":1.0,"type":"object","b":2E1}'],
    ['{"t\\u0079pe":"x","a":1}', '{"t\\u0079pe":"object","a":1}'],
    ['{"größe":{"type":"x"}}', '{"größe":{"type":"x"},"type":"object"}'],
    // Readers disagree on which of equal names counts.
    ['{"a":1,"a":2}', '{"a":1,"a":2}'],
  ])("a member of %s is set, and all else stays", (json, expected) => {
    expect(withMember(textOf(json), "type", '"object"').text).toBe(expected);
  });

  test.each([
    ["{}", '{"description":"d"}'],
    ['{"type":"object"}', '{"type":"object","description":"d"}'],
    ['{"description":null}', '{"description":null}'],
    ['{"a":1,"a":2}', '{"a":1,"a":2}'],
    ["[1]", "[1]"],
  ])("a member of %s is added where it has none", (json, expected) => {
    expect(withNewMember(textOf(json), "description", '"d"').text).toBe(expected);
  });
});

test("a value within the writing of another is written by itself", () => {
  const inner = new JsonText('{"a":1.0}');
  const text = jsonTextOf({ toJSON: () => ({ string: jsonTextOf([inner]), inner }) });
  expect(text).toBe('{"string":"[{\\"a\\":1.0}]","inner":{"a":1.0}}');
});

test("text of a value is made once", () => {
  const text = JsonText.of({ a: [1] });
  expect([text.text, JsonText.of(text)]).toEqual(['{"a":[1]}', text]);
  expect(JsonText.of({ a: new JsonText("1.0") }).text).toBe('{"a":1.0}');
});
