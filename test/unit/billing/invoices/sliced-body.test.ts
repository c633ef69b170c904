/** Long texts made over many turns of the event loop. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonParts, slicedBody } from "../../../../src/billing/invoices/sliced-body.ts";
import { turnsDuring } from "../../../support/turns.ts";

test("the parts of a value are its JSON together, however deep it is taken apart", () => {
  fc.assert(
    fc.property(fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue())), (value) => {
      for (const levels of [1, 2, 4])
        expect([...jsonParts(value, levels)].join("")).toBe(JSON.stringify(value));
    }),
  );
});

test("a field without a value is left out", () => {
  expect([...jsonParts({ a: undefined, b: { c: undefined } }, 2)].join("")).toBe('{"b":{}}');
});

test("a long list is many short parts", () => {
  const parts = [...jsonParts({ of: [{ inv: Array.from({ length: 1000 }, (_, n) => ({ n })) }] }, 4)];
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(20);
});

test("others have their turns while a long text is made", async () => {
  const text = "₹".repeat(1000);
  const parts = Array.from({ length: 20_000 }, () => text);
  const { turns, value: body } = await turnsDuring(() => slicedBody(parts));
  expect(body.length).toBe(20_000 * 3000);
  expect(body.subarray(-3).toString()).toBe("₹");
  expect(turns).toBeGreaterThan(20);
});
