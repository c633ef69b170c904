/** What is typed in the playground as a request, what is wrong with it, and the way back from a recorded request. */
import { expect, test } from "vitest";
import { adviceFor } from "../../../console/pages/playground/advice.ts";
import { openCalls, proseOf, resultsMessage, withProse } from "../../../console/pages/playground/message.ts";
import { MOST_BYTES, MOST_PICTURES, taken } from "../../../console/pages/playground/picture.ts";
import { bodyOf, loadedFrom, withoutPictures } from "../../../console/pages/playground/request.ts";
import { NO_SETTINGS, readSettings, typedSettings } from "../../../console/pages/playground/settings.ts";
import { generateRequestSchema } from "../../../src/wire/generate/schema.ts";

const said = (text: string) => ({ role: "user" as const, content: [{ type: "text", text }] });

test("settings become members of the body, as the API takes them", () => {
  const settings = {
    system: "Be short.",
    maxTokens: " 20 ",
    temperature: "0.5",
    effort: "low",
    tools: JSON.stringify([{ type: "function", function: { name: "now", parameters: { type: "object" } } }]),
    more: '{"generation": {"top_p": 0.9}, "hold": "fit"}',
  };
  const body = bodyOf("weir/sim-small", settings, [said("Hi")]);
  expect(body).toEqual({
    model: "weir/sim-small",
    messages: [{ role: "system", content: [{ type: "text", text: "Be short." }] }, said("Hi")],
    generation: { top_p: 0.9, max_tokens: 20, temperature: 0.5, reasoning: { show: true, effort: "low" } },
    tools: [{ name: "now", parameters: { type: "object" } }],
    hold: "fit",
  });
  expect(generateRequestSchema.safeParse(body).success).toBe(true);
  expect(bodyOf("m", NO_SETTINGS, [said("Hi")])).toEqual({ model: "m", messages: [said("Hi")] });
});

test.each([
  ["maxTokens", "0", /whole number/],
  ["maxTokens", "1.5", /whole number/],
  ["temperature", "3", /0 to 2/],
  ["temperature", "warm", /0 to 2/],
  ["tools", "[{", /no JSON/],
  ["tools", "{}", /list is wanted/],
  ["tools", "[1]", /Tool 1 is no object/],
  ["tools", '[{"name": ""}]', /Tool 1 has no "name"/],
  ["tools", '[{"name": "a"}, {"name": "a"}]', /another tool "a"/],
  ["tools", '[{"name": "a", "parameters": "x"}]', /"parameters" is no/],
  ["tools", '[{"name": "a", "run": 1}]', /"run" is no member/],
  ["more", "[]", /object is wanted/],
  ["more", '{"messages": []}', /"messages" has a field/],
  ["more", '{"generation": {"candidates": 3}}', /one answer/],
] as const)("%s as %s is told of at its field", (field, text, fault) => {
  const read = readSettings({ ...NO_SETTINGS, [field]: text });
  expect(read.faults).toEqual({ [field]: expect.stringMatching(fault) });
  expect(read.members).toEqual({});
});

test("a recorded request comes back as it was", () => {
  const request = {
    model: "weir/sim-small",
    messages: [
      { role: "system", content: "Be short." },
      { role: "user", content: [{ type: "text", text: "<b>Hi</b>" }] },
      { role: "assistant", content: [{ type: "tool_call", id: "1", name: "now", arguments: "{}" }] },
      { role: "user", content: [{ type: "tool_result", id: "1", content: "12:00" }] },
    ],
    stream: true,
    generation: { max_tokens: 5, temperature: 0, top_p: 0.5, reasoning: { effort: "high", show: true } },
    tools: [{ name: "now" }],
    tool_choice: "auto",
  };
  const loaded = loadedFrom(request);
  expect(loaded?.settings).toMatchObject({
    system: "Be short.",
    maxTokens: "5",
    temperature: "0",
    effort: "high",
  });
  const again = bodyOf(loaded?.model ?? "", loaded?.settings ?? NO_SETTINGS, loaded?.messages ?? []);
  const { stream: _, ...wanted } = request;
  const [system, ...messages] = wanted.messages;
  expect(again).toEqual({
    ...wanted,
    messages: [{ ...system, content: [{ type: "text", text: "Be short." }] }, ...messages],
  });
  expect(loadedFrom({ model: "m", input: ["a"] })).toBeUndefined();
  expect(loadedFrom(undefined)).toBeUndefined();
});

test("settings of hostile shapes are none", () => {
  const typed = typedSettings({ generation: "x", tools: "y", model: 1 }, "");
  expect(typed).toEqual(NO_SETTINGS);
});

test("a turn's text is edited, and its other parts stay", () => {
  const picture = { type: "image", media_type: "image/png", data: "AA" };
  const turn = {
    role: "user" as const,
    content: [picture, { type: "text", text: "a" }, { type: "text", text: "b" }],
  };
  expect(proseOf(turn)).toBe("a\n\nb");
  expect(withProse(turn, "c").content).toEqual([picture, { type: "text", text: "c" }]);
  expect(withProse(turn, "").content).toEqual([picture]);
  expect(withProse({ ...turn, content: [picture] }, "d").content).toEqual([
    picture,
    { type: "text", text: "d" },
  ]);
});

test("calls of tools wait for their results, in their order", () => {
  const call = (id: string) => ({ type: "tool_call", id, name: "now", arguments: "{}" });
  const messages = [said("Hi"), { role: "assistant" as const, content: [call("1"), call("2")] }];
  const calls = openCalls(messages);
  expect(calls.map(({ id }) => id)).toEqual(["1", "2"]);
  const answered = resultsMessage(calls, [
    { text: "a", isError: false },
    { text: "b", isError: true },
  ]);
  expect(answered.content).toEqual([
    { type: "tool_result", id: "1", name: "now", content: "a" },
    { type: "tool_result", id: "2", name: "now", content: "b", is_error: true },
  ]);
  expect(openCalls([...messages, answered])).toEqual([]);
  expect(generateRequestSchema.safeParse(bodyOf("m", NO_SETTINGS, [...messages, answered])).success).toBe(
    true,
  );
});

test("pictures are bounded in kind, size and number", () => {
  const file = (name: string, type = "image/png", size = 1) => ({ name, type, size });
  const some = taken(
    [file("a.svg", "image/svg+xml"), file("b.png"), file("c.png", "image/png", MOST_BYTES + 1)],
    0,
  );
  expect(some.files).toEqual([file("b.png")]);
  expect(some.faults).toEqual([expect.stringContaining("a.svg"), expect.stringContaining("c.png")]);
  const many = taken([file("1.gif", "image/gif"), file("2.gif", "image/gif")], MOST_PICTURES - 1);
  expect(many.files).toHaveLength(1);
  expect(many.faults).toEqual([expect.stringContaining("2.gif")]);
});

test("a dry run sends no pictures", () => {
  const body = bodyOf("m", NO_SETTINGS, [
    { role: "user", content: [{ type: "image", media_type: "image/webp", data: "A".repeat(10_000) }] },
  ]);
  expect(JSON.stringify(withoutPictures(body)).length).toBeLessThan(500);
  expect(JSON.stringify(body).length).toBeGreaterThan(10_000);
});

test("a budget that is used up says until when, and what else pays", () => {
  const error = (code: string, details: unknown) => ({ code, details });
  const key = adviceFor(
    error("budget_exceeded", { budget: "key_daily", resets_at: "2026-12-01T00:00:00.000Z" }),
  );
  expect(key?.text).toContain("2026-12-01 00:00:00 UTC");
  expect(key?.page?.[0]).toBe("setup");
  expect(adviceFor(error("budget_exceeded", { budget: "org_monthly" }))?.text).toContain("admin");
  expect(adviceFor(error("insufficient_credits", undefined))?.page?.[0]).toBe("credits");
  expect(adviceFor(error("anything", null))).toBeUndefined();
});
