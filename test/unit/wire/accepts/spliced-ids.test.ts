/** Ids of calls in bodies that pass as bytes: what another model gave is told as the upstream takes it, and no other byte changes. */
import { describe, expect, test } from "vitest";
import { FORMATS } from "../../../../src/wire/formats.ts";
import { passageTo } from "../../../../src/wire/passages.ts";
import { bodyOf, idsIn, ORG_KEY, told, upstreamOf } from "./fixtures.ts";

/** A body as the upstream gets it. */
function passed(format: "chat" | "messages", body: string, to = upstreamOf(format)): string {
  const request = FORMATS[format].read(Buffer.from(body));
  const passage = passageTo(FORMATS[format], to)?.passage;
  return Buffer.concat(passage?.write(request, to, "platform", ORG_KEY).parts ?? []).toString();
}

const spaced = (messages: string): string =>
  `{"model":"m", "max_tokens":9,\n "messages":${messages}, "metadata" : {"n":1.0}}`;

describe("messages", () => {
  const turns = (id: string) =>
    spaced(
      `[ {"role":"user","content":"a \\"tool_use\\" x"},{"content":[ {"type":"text","text":"ü 🎉"} , {"input":{"id":"functions.f:0"},"id":${id},"name":"f","type":"tool_use"}],"role":"assistant"},` +
        `{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"r"}],"tool_use_id" : ${id} } ]}]`,
    );

  test("ids that Anthropic refuses are replaced, call and result alike, and nothing else", () => {
    const body = turns('"functions.f:0"');
    const sent = passed("messages", body);
    const [call = "", result] = idsIn({ messages: JSON.parse(sent).messages }).filter(
      (id) => id !== "functions.f:0",
    );
    expect(call).toMatch(/^functions_f_0_[a-zA-Z0-9]{12}$/);
    expect(result).toBe(call);
    expect(sent).toBe(turns(JSON.stringify(call)));
  });

  test.each(['"toolu_01ABC"', '"a-b_c"'])("ids that it takes stay: %s", (id) => {
    expect(passed("messages", turns(id))).toBe(turns(id));
  });

  test.each(['"ü\\u0041"', '""', `"${"x".repeat(65)}"`, `"${"x".repeat(5000)}"`])("others do not", (id) => {
    const ids = idsIn({ messages: JSON.parse(passed("messages", turns(id))).messages });
    const [call, result] = ids.filter((told) => told !== "functions.f:0");
    expect(call).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(result).toBe(call);
  });

  test("what a client of another format is told is what this one is told", () => {
    const ids = ["functions.f:0", "functions.f:0"];
    const body = JSON.stringify({ model: "m", ...bodyOf("messages", { name: "f", ids }) });
    const { sent } = told("chat", bodyOf("chat", { name: "f", ids }), upstreamOf("messages"));
    const spliced = idsIn(JSON.parse(passed("messages", body)));
    expect(new Set(spliced).size).toBe(2);
    expect(spliced).toEqual(idsIn(sent));
  });

  test("ids that it takes are told apart where two calls share one", () => {
    const ids = ["toolu_1", "toolu_1"];
    const body = JSON.stringify({ model: "m", ...bodyOf("messages", { name: "f", ids }) });
    const [call, result, second, ofSecond] = idsIn(JSON.parse(passed("messages", body)));
    expect([call, result]).toEqual(["toolu_1", "toolu_1"]);
    expect(second).not.toBe("toolu_1");
    expect(second).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(ofSecond).toBe(second);
    const kimi = upstreamOf("messages", "p", "kimi-k2");
    expect(idsIn(JSON.parse(passed("messages", body, kimi)))).toEqual([...ids, ...ids]);
  });

  test("Kimi behind Anthropic's format gets its own ids back", () => {
    const kimi = upstreamOf("messages", "p", "kimi-k2");
    expect(JSON.parse(passed("messages", turns('"functions.f:0"'), kimi)).messages).toEqual(
      JSON.parse(turns('"functions.f:0"')).messages,
    );
  });

  test.each([
    '[{"role":"assistant","content":[{"type":"tool_use","id":7,"name":"f"},{"type":"tool_result"}]}]',
    '[{"role":"user","content":{"type":"tool_use","id":"a b"}}]',
    '[{"role":"assistant","content":[{"type":"tool_use","id":"a b","id":"a c"}]}]',
  ])("a shape that is none is left to the upstream: %s", (messages) => {
    expect(passed("messages", spaced(messages))).toBe(spaced(messages));
  });
});

describe("chat", () => {
  const turns = (id: string) =>
    spaced(
      `[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":${id},"type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":${id},"content":"r"}]`,
    ).replace('"max_tokens":9', '"tools":[{"type":"function","function":{"name":"f"}}]');

  test("Mistral gets ids of nine signs from a client that went on from another model", () => {
    const sent = passed("chat", turns('"call_abc"'), upstreamOf("chat", "mistral"));
    const [call = "", result] = idsIn(JSON.parse(sent));
    expect(call).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(result).toBe(call);
    expect(sent).toBe(turns(JSON.stringify(call)));
    expect(passed("chat", turns('"abcdefghi"'), upstreamOf("chat", "mistral"))).toBe(turns('"abcdefghi"'));
  });

  test("so does Mistral in a conversation of calls that goes on without tools", () => {
    const bare = (id: string) =>
      turns(id).replace('"tools":[{"type":"function","function":{"name":"f"}}]', '"n":1');
    const sent = passed("chat", bare('"call_abc"'), upstreamOf("chat", "mistral"));
    const [call = "", result] = idsIn(JSON.parse(sent));
    expect(call).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(result).toBe(call);
    expect(sent).toBe(bare(JSON.stringify(call)));
  });

  test("any other upstream gets ids as the client says them, up to the length that it takes", () => {
    const body = turns(`"${"x".repeat(40)}"`);
    expect(passed("chat", body)).toBe(body);
    const [call = "", result] = idsIn(JSON.parse(passed("chat", turns(`"${"x".repeat(41)}"`))));
    expect(call).toHaveLength(40);
    expect(result).toBe(call);
  });
});
