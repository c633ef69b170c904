/** Schemas whose parents were let go take, give and tell the same. */
import { expect, test } from "vitest";
import { z } from "zod";
import { letParentsGo } from "../../../src/base/operation/schema-parents.ts";

const made = () => {
  const named = z.string().min(2).describe("A name.");
  const element = z.object({ id: z.int().min(1).describe("Its number."), name: named.max(9) });
  return z
    .object({
      list: z.array(element).min(1).describe("All."),
      either: z.union([z.string().max(3), z.literal(7).describe("Seven.")]).optional(),
      shared: named,
      late: z.lazy(() => element),
    })
    .meta({ examples: [{ list: [] }] });
};

const parentsIn = (schema: z.ZodType): number => (schema._zod.parent === undefined ? 0 : 1);

test("a parent of which nothing was said is let go, below the schema too", () => {
  const schema = made();
  const { list } = schema.shape;
  const { id } = list.element.shape;
  expect([schema, list, id].map(parentsIn)).toEqual([1, 1, 1]);
  letParentsGo(schema);
  expect([schema, list, id].map(parentsIn)).toEqual([0, 0, 0]);
});

test("what was said of a parent is told of the schema that was made of it", () => {
  const schema = made();
  const { name } = schema.shape.list.element.shape;
  letParentsGo(schema);
  expect(name.description).toBe("A name.");
  expect(name._zod.parent?._zod.parent).toBeUndefined();
});

test("what is documented and what is taken stay the same", () => {
  const [before, after] = [made(), made()];
  letParentsGo(after);
  expect(z.toJSONSchema(after)).toEqual(z.toJSONSchema(before));
  const inputs = [
    { list: [{ id: 1, name: "ab" }], shared: "cd", late: { id: 2, name: "ef" } },
    { list: [], shared: "c", late: { id: 0, name: "far too long" }, either: "long" },
  ];
  for (const input of inputs) expect(after.safeParse(input)).toEqual(before.safeParse(input));
});
