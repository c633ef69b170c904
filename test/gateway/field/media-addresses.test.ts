/** Addresses that the provider reads itself are carried, as the part that they show. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerOf } from "../../support/field/answers.ts";
import { type Field, startField, TARGETS } from "../../support/field/field.ts";
import type { Client, Target } from "./media.fixtures.ts";

const IMAGE_URL = "https://example.com/a.png";

let field: Field;

beforeAll(async () => {
  field = await startField({
    model: { modalities: { in: ["text", "image", "audio", "video"], out: ["text"] } },
  });
});
afterAll(() => field.stop());

async function send(client: Client, to: Target, body: object) {
  field.up.script(answerOf(TARGETS[to].dialect, { text: "ok" }, false));
  return field.send(client, to, client === "messages" ? { max_tokens: 100, ...body } : body);
}

const user = (...content: object[]) => ({ messages: [{ role: "user", content }] });

describe("what the provider reads itself is carried", () => {
  it.each([
    ["chat", "responses", user({ type: "image_url", image_url: { url: IMAGE_URL } })],
    ["chat", "messages", user({ type: "image_url", image_url: { url: IMAGE_URL } })],
    ["chat", "gemini", user({ type: "image_url", image_url: { url: IMAGE_URL } })],
    ["messages", "chat", user({ type: "image", source: { type: "url", url: IMAGE_URL } })],
  ] as const)("an address, by %s to %s", async (client, to, body) => {
    const got = await send(client, to, body);
    expect(got.status, got.text).toBe(200);
    expect(field.up.last.raw).toContain(IMAGE_URL);
  });

  it.each(["https://e.com/a.mp4", "https://www.youtube.com/watch?v=1"])(
    "a video as an image: %s",
    async (url) => {
      const body = user({ type: "image_url", image_url: { url } });
      expect((await send("chat", "gemini", body)).status).toBe(200);
      expect(field.up.last.json.contents[0].parts[0].fileData.fileUri).toBe(url);
      const refused = await send("chat", "messages", body);
      expect([refused.status, refused.json.error.code]).toEqual([400, "capability_not_supported"]);
    },
  );

  it("a PDF by its address as an image is a document", async () => {
    const url = "https://e.com/a.PDF#page=2";
    await send("chat", "messages", user({ type: "image_url", image_url: { url } }));
    expect(field.up.last.json.messages[0].content).toEqual([
      { type: "document", source: { type: "url", url } },
    ]);
    await send("chat", "responses", user({ type: "image_url", image_url: { url } }));
    expect(field.up.last.json.input[0].content).toEqual([{ type: "input_file", file_url: url }]);
  });
});
