/** T49: thinking of another maker's model is taken out of a conversation that is spliced to Anthropic's dialect. */
import { describe, expect, test } from "vitest";
import { memberOf, skim } from "../../../src/wire/json/json.ts";
import { withoutForeign } from "../../../src/wire/messages/foreign.ts";
import { readMessagesRequest } from "../../../src/wire/messages/request.ts";
import { spliceMessagesRequest } from "../../../src/wire/messages/splice.ts";
import { endpoint } from "../../support/routing/fixtures.ts";

const own = { type: "thinking", thinking: "é", signature: "++//A=" };
const google = { type: "thinking", thinking: "", signature: "weir.google.R==" };
const openai = { type: "redacted_thinking", data: `weir.openai.${"g".repeat(5000)}` };
const unsigned = { type: "thinking", thinking: "Hm", signature: "weir.none." };
const text = { type: "text", text: 'They write {"signature":"weir.google.R=="} there.' };

const bodyOf = (...contents: unknown[]) => ({
  model: "m",
  max_tokens: 9,
  messages: contents.map((content, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content })),
});

/** The body as the upstream gets it; its model is "up". */
function sent(body: object): string {
  const bytes = Buffer.from(JSON.stringify(body));
  return Buffer.concat(spliceMessagesRequest(readMessagesRequest(bytes), endpoint("up")).parts).toString();
}

describe("T49: foreign thinking", () => {
  test.each([
    ["first", [google, text, own], [text, own]],
    ["in the middle", [own, openai, unsigned, text], [own, text]],
    ["last", [own, text, unsigned], [own, text]],
    ["everywhere between", [google, own, openai, text, unsigned], [own, text]],
    ["none", [own, text], [own, text]],
  ])("%s: all else stays, byte for byte", (_, content, left) => {
    const body = bodyOf("Hi", content, [text]);
    expect(sent(body)).toBe(JSON.stringify({ ...bodyOf("Hi", left, [text]), model: "up" }));
  });

  test("a message of nothing else goes as a whole", () => {
    const { messages } = JSON.parse(sent(bodyOf("Hi", [google, unsigned], "Go on")));
    expect(messages).toEqual([
      { role: "user", content: "Hi" },
      { role: "user", content: "Go on" },
    ]);
  });

  test("only thinking is meant: the same words elsewhere stay", () => {
    const tool = { type: "tool_use", id: "t", name: "n", input: { signature: "weir.google.R==" } };
    const body = bodyOf("weir.google.", [own, tool], [text]);
    expect(sent(body)).toBe(JSON.stringify({ ...body, model: "up" }));
  });

  test("a conversation without any is not taken apart", () => {
    const bytes = Buffer.from(JSON.stringify(bodyOf("Hi", [own, text])));
    const messages = memberOf(skim(bytes.toString("latin1")).members, "messages");
    expect(messages && withoutForeign(bytes, messages)).toEqual([]);
  });
});
