/** Items of a conversation: as they were sent, with ids beside them. */
import { describe, expect, test } from "vitest";
import {
  joinedItems,
  type KeptItems,
  keptItems,
  listedItems,
  NO_ITEMS,
  placesOf,
  withoutItem,
} from "../../../src/wire/responses/given-items.ts";
import { drained } from "../../support/turns.ts";

let made = 0;
const kept = (text: string, has: readonly string[] = []): KeptItems =>
  drained(
    keptItems(
      text,
      (id) => has.includes(id),
      (prefix) => `${prefix}_new${made++}`,
    ),
  );
const listed = (items: KeptItems): unknown[] =>
  drained(listedItems(items.items, placesOf(items), [...items.ids.keys()], true)).map((text) =>
    JSON.parse(text),
  );

const A = '{"role":"user","content":"Größe, \\"[,]\\" 🎉"}';
const B = '{"id":"msg_b","type":"message","role":"assistant","content":[]}';
const C = '{"type":"function_call","id":"fc_c","call_id":"c","name":"f","arguments":"{}"}';

describe("items", () => {
  test("are kept as they were sent, but for the space between them", () => {
    const items = kept(` ${A} ,\n${B},${C} `);
    expect(items).toEqual({
      items: `${A},${B},${C}`,
      ids: [expect.stringMatching(/^msg_new/), "msg_b", "fc_c"],
      lengths: [A.length, B.length, C.length],
    });
    expect(JSON.parse(`[${items.items}]`)).toHaveLength(3);
  });

  test.each(["", " ", "\n"])("%j: none", (text) => expect(kept(text)).toEqual(NO_ITEMS));

  test("an id that the conversation has, that stood before, or that is none, is not taken", () => {
    const odd = [
      `{"id":"${"x".repeat(300)}","role":"user"}`,
      '{"id":1,"role":"user"}',
      '{"id":"a b","role":"user"}',
    ];
    const { ids } = kept([B, B, C, ...odd].join(","), ["fc_c"]);
    expect(ids[0]).toBe("msg_b");
    expect(ids.slice(1).map((id) => id.replace(/\d+$/, ""))).toEqual([
      "msg_new",
      "fc_new",
      "msg_new",
      "msg_new",
      "msg_new",
    ]);
    expect(new Set(ids).size).toBe(6);
  });

  test("are listed with id, type, status and parts", () => {
    const items = kept(`${A},${B},${C},{"type":"reasoning","summary":[]},{}`);
    expect(listed(items)).toEqual([
      {
        id: items.ids[0],
        type: "message",
        status: "completed",
        role: "user",
        content: [{ type: "input_text", text: 'Größe, "[,]" 🎉' }],
      },
      { id: "msg_b", type: "message", status: "completed", role: "assistant", content: [] },
      { id: "fc_c", type: "function_call", status: "completed", call_id: "c", name: "f", arguments: "{}" },
      { id: items.ids[3], type: "reasoning", summary: [] },
      { id: items.ids[4] },
    ]);
  });

  test("a status that an item has stays", () => {
    expect(listed(kept('{"role":"assistant","content":"","status":"incomplete"}'))).toMatchObject([
      { status: "incomplete" },
    ]);
  });

  test.each([0, 1, 2])("without item %i", (index) => {
    const rest = [A, B, C].toSpliced(index, 1);
    const { items, lengths, ids } = withoutItem(kept([A, B, C].join(",")), index);
    expect([items, lengths, ids.length]).toEqual([rest.join(","), rest.map(({ length }) => length), 2]);
  });

  test("joined, and taken out again", () => {
    const [first, then] = [kept(A), kept(`${B},${C}`)];
    const both = joinedItems(first, then);
    expect(both).toEqual({
      items: `${A},${B},${C}`,
      ids: [...first.ids, ...then.ids],
      lengths: [A, B, C].map((text) => text.length),
    });
    expect(joinedItems(NO_ITEMS, first)).toEqual(first);
    expect(joinedItems(first, NO_ITEMS)).toEqual(first);
    expect([0, 0, 0].reduce(withoutItem, both)).toEqual(NO_ITEMS);
  });
});
