/** Items that a request names, of conversations whose ids are not unique: servers behind an upstream may repeat them. */
import { expect, test } from "vitest";
import type { Call } from "../../../../src/inference/exchange/call.ts";
import { type ContinueDeps, continued } from "../../../../src/inference/exchange/continue.ts";
import { FORMATS } from "../../../../src/wire/formats.ts";

const { responses: format } = FORMATS;

/** Stored responses with an item each, by id of the response; and which response each item was stored with last. */
const STORED: Readonly<Record<string, readonly object[]>> = {
  resp_a: [message("msg_1", "OLD".repeat(200)), message("msg_a", "first")],
  resp_b: [message("msg_1", "NEW")],
};
const INDEX = new Map([
  ["msg_a", "resp_a"],
  ["msg_1", "resp_b"],
]);

function message(id: string, text: string): object {
  return { id, type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}

async function bodyOf(ids: readonly string[], maxBodyBytes = 10_000): Promise<string> {
  const deps = {
    bodies: { read: (_: unknown, body: Buffer) => format.read(body) },
    responses: {
      responsesWith: async (_: unknown, items: readonly string[]) =>
        new Map(items.flatMap((item) => (INDEX.has(item) ? [[item, INDEX.get(item)]] : []))),
      get: (_: unknown, id: string) => ({ response: JSON.stringify({ output: STORED[id] }) }),
    },
    maxBodyBytes,
  } as unknown as ContinueDeps;
  const input = ids.map((id) => ({ type: "item_reference", id }));
  const request = format.read(Buffer.from(JSON.stringify({ model: "v/m", input })));
  const whole = await continued(deps, { incoming: { format } } as unknown as Call, request);
  return whole.bytes.toString();
}

test.each([
  ["msg_1", "msg_a"],
  ["msg_a", "msg_1"],
])("an item is that of the response which has it last: %s, %s", async (...ids) => {
  const body = await bodyOf(ids, 600);
  expect(body).toContain("NEW");
  expect(body).toContain("first");
  expect(body).not.toContain("OLD");
});

test("an item that is nowhere is told before the others are too large", async () => {
  const refused = { kind: "not_found", param: "/input/1" };
  await expect(bodyOf(["msg_1", "nowhere"], 150)).rejects.toMatchObject(refused);
});

test("items that make the body too large are refused", async () => {
  await expect(bodyOf(["msg_a", "msg_1"], 120)).rejects.toMatchObject({ kind: "payload_too_large" });
});
