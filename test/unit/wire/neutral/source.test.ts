/** A request's body as a value with marks: long strings and carried JSON beside and within each other, in every order. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { skim } from "../../../../src/wire/json/json.ts";
import { JsonText } from "../../../../src/wire/json/json-text.ts";
import { carriedSpans, opaquePaths } from "../../../../src/wire/json/opaque.ts";
import { bytesOf, Source } from "../../../../src/wire/neutral/source.ts";
import { rounds } from "../../../support/effort.ts";
import { labelled } from "../json/documents.ts";

const PATHS = opaquePaths([["items", "*", "carried"]]);
const LONG = "x".repeat(5000);

type Item = Readonly<Record<string, unknown>>;

interface Read {
  readonly bytes: Buffer;
  readonly source: Source;
  readonly items: readonly (Item | null)[];
}

function read(items: readonly string[]): Read {
  const bytes = Buffer.from(`{"items":[${items.join(",")}]}`);
  const { members, elided } = skim(bytes.toString("latin1"));
  const source = new Source(bytes, elided, carriedSpans(bytes, members, PATHS));
  return { bytes, source, items: (source.value as { items: Item[] }).items };
}

/** Each item as a dialect would write it. */
const told = ({ source, items }: Read) =>
  items.map((item) => (item?.carried === undefined ? item : { carried: source.json(item.carried) }));

const written = (read: Read, value: unknown): string =>
  Buffer.concat(bytesOf(read.bytes, read.source.piecesOf(value))).toString();

const character = fc.constantFrom("x", "é", "🎉", '\\"', "\\\\", "\\u0041", "\\n", "!", ">");
const long = fc
  .tuple(
    fc.constantFrom("", "data:image/png;base64,", "<weir:0:0>", "é"),
    fc.array(character, { minLength: 1 }),
  )
  .map(([head, characters]) => `"${head}${characters.join("").repeat(Math.ceil(4200 / characters.length))}"`);
const item = fc.oneof(
  labelled("a").map((json) => `{"carried":${json}}`),
  fc.array(labelled("b"), { maxLength: 2 }).map((some) => `{"carried":[${some.join(" , ")}]}`),
  // Long strings within what is carried, and as a name there.
  long.map((text) => `{"carried":{"s":${text},${text}:[${text}]}}`),
  long.map((text) => `{"s":${text}}`),
  // Names are built, so that only those are the same that need no escapes.
  fc.constantFrom(`{"${"é".repeat(5000)}":1}`, `{"${LONG}":{"${LONG}":"${LONG}"}}`),
  fc.constantFrom('{"s":"short"}', "[]", "null", '{"carry":{"a":[1]}}'),
);

test("a body written from what was read is that body, byte by byte", () => {
  fc.assert(
    fc.property(fc.array(item, { maxLength: 6 }), (items) => {
      const body = read(items);
      expect(written(body, { items: told(body) })).toBe(body.bytes.toString());
    }),
    { numRuns: rounds(1500) },
  );
});

test("the same in another order, and more than once", () => {
  fc.assert(
    fc.property(fc.array(item, { minLength: 1, maxLength: 4 }), fc.array(fc.nat(3)), (items, order) => {
      const body = read(items);
      const chosen = order.map((index) => index % items.length);
      const all = told(body);
      const text = written(
        body,
        chosen.map((index) => all[index]),
      );
      expect(text).toBe(`[${chosen.map((index) => items[index]).join(",")}]`);
    }),
    { numRuns: rounds(500) },
  );
});

describe("what is carried", () => {
  test("is not copied where it is large: the body's own bytes are sent", () => {
    const list = `[${"1.0,".repeat(2000)}1E2]`;
    const body = read([`{"carried":${list}}`, '{"carried":{"a":1.0}}']);
    expect(body.source.piecesOf(told(body))).toMatchObject([
      '[{"carried":',
      { start: 21, end: 21 + list.length },
      '},{"carried":{"a":1.0}}]',
    ]);
  });

  test("is the same as a value that was not found by its place, but for what a value loses", () => {
    const { source } = read([`{"s":"${LONG}"}`]);
    const { items } = source.value as { items: Item[] };
    expect(source.json(items[0])?.text).toBe(JSON.stringify({ s: LONG }));
    expect(source.json([1, { a: null }])?.text).toBe('[1,{"a":null}]');
    for (const value of [null, undefined, 1, true, "", "{}", items[0]?.s]) {
      expect(source.json(value)).toBeUndefined();
    }
  });

  test("is told in values as text: strings beside it are whole", () => {
    const { source } = read([`{"s":"${LONG}"}`, '{"carried":{"a":1.0}}']);
    expect(source.wholeValue(source.value)).toEqual({
      items: [{ s: LONG }, { carried: expect.any(JsonText) }],
    });
    expect(source.json(source.value)?.text).toBe(`{"items":[{"s":"${LONG}"},{"carried":{"a":1.0}}]}`);
  });
});

test("no source reads the marks of another, nor a client's string that looks like one", () => {
  const one = read(['{"carried":{"secret":1}}', `{"s":"${LONG}"}`]);
  const [carried, elided] = [one.items[0]?.carried as string, one.items[1]?.s as string];
  const other = read([
    JSON.stringify({ s: carried }),
    JSON.stringify({ s: elided }),
    '{"carried":{}}',
    `{"s":"${LONG}"}`,
  ]);
  for (const [index, mark] of [carried, elided].entries()) {
    const text = other.items[index]?.s;
    expect(text).toBe(mark);
    expect(other.source.json(text)).toBeUndefined();
    expect(other.source.whole(mark)).toBe(mark);
    expect(written(other, [text])).toBe(JSON.stringify([mark]));
  }
  const plain = read(['{"s":"<weir:!0>"}']);
  expect(plain.source.json(plain.items[0]?.s)).toBeUndefined();
  for (const text of [
    carried.slice(0, -1),
    `${carried.slice(0, -2)}zz>`,
    carried.slice(0, carried.indexOf("!") + 1),
  ]) {
    expect(one.source.json(text)).toBeUndefined();
  }
});
