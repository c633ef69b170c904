/** What crosses from the thread of large bodies: its number is bounded, because each thing crosses by itself. */
import { expect, test } from "vitest";
import { NO_ORG_KEY } from "../../../src/wire/format.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import { fromThread, writeInThread } from "../../../src/wire/thread.ts";
import { endpoint } from "../../support/routing/fixtures.ts";

const { chat } = FORMATS;

function told(content: readonly object[]) {
  const messages = [{ role: "user", content }];
  const request = chat.read(Buffer.from(JSON.stringify({ model: "v/m", messages })));
  const to = endpoint("e", { dialects: ["messages"] });
  const outgoing = fromThread(
    writeInThread({
      format: "chat",
      dialect: "messages",
      request,
      endpoint: to,
      billed: "platform",
      orgKey: NO_ORG_KEY,
    }),
  );
  return { ...outgoing, body: JSON.parse(Buffer.concat(outgoing.parts).toString()) };
}

test("S9: of what a dialect has no place for, a thousand are named and the others counted", () => {
  const { dropped, droppedMore, body } = told([{ type: "text", text: "Hi" }, ...Array(2500).fill({})]);
  expect(body.messages).toEqual([{ role: "user", content: [{ type: "text", text: "Hi" }] }]);
  expect([dropped.length, dropped[0], droppedMore]).toEqual([1000, "/messages/0/content/1", 1500]);
  expect(told([{ type: "text", text: "Hi" }, {}])).not.toHaveProperty("droppedMore");
});

test("S9: a body of many pieces is sent as one", () => {
  const text = "é".repeat(3000);
  const { parts, body } = told(Array(900).fill({ type: "text", text }));
  expect(parts).toHaveLength(1);
  expect(body.messages[0].content).toHaveLength(900);
  expect(body.messages[0].content[899]).toEqual({ type: "text", text });
  expect(told(Array(9).fill({ type: "text", text })).parts.length).toBeGreaterThan(9);
});
