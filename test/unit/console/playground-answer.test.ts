/** A native stream as an answer that grows: each kind of event, several at once, and more than a page can hold. */
import { expect, test } from "vitest";
import type { ReadEvent } from "../../../console/api/event-reader.ts";
import { GrowingAnswer, MOST_CHARACTERS, sendable } from "../../../console/pages/playground/answer.ts";

const event = (name: string, data: object): ReadEvent => ({ name, data: { type: name, ...data } });
const delta = (name: string, part: number, more: object, index = 0) => event(name, { index, part, ...more });

test("texts, reasoning and calls of tools grow, each in its part", () => {
  const growing = new GrowingAnswer();
  expect(growing.take([event("generation.started", { id: "1", model: "m" })])).toBe(false);
  expect(growing.take([delta("reasoning.delta", 0, { text: "Hm" })])).toBe(true);
  growing.take([
    delta("reasoning.delta", 0, { text: "m" }),
    delta("reasoning.delta", 0, { seal: { by: "anthropic", data: "x" } }),
    delta("content.delta", 1, { text: "It " }),
    delta("content.delta", 1, { text: "rains" }),
    delta("content.delta", 1, { citation: { type: "url", url: "https://a.test" } }),
    delta("tool_call.delta", 2, { id: "c1", name: "weather" }),
    delta("tool_call.delta", 2, { arguments: '{"place":' }),
    delta("tool_call.delta", 2, { arguments: '"Lisbon"}' }),
    event("candidate.stopped", { index: 0, stop: { reason: "tool_call" } }),
  ]);
  expect(growing.answer).toEqual({
    parts: [
      { type: "reasoning", text: "Hmm", seal: { by: "anthropic", data: "x" } },
      { type: "text", text: "It rains", citations: [{ type: "url", url: "https://a.test" }] },
      { type: "tool_call", id: "c1", name: "weather", arguments: '{"place":"Lisbon"}' },
    ],
    stop: "tool_call",
    completed: undefined,
    cut: 0,
  });
});

test("the end has usage and cost, and a snapshot stays as it was", () => {
  const growing = new GrowingAnswer();
  growing.take([delta("content.delta", 0, { text: "a" })]);
  const before = growing.answer;
  const completed = { usage: { output_tokens: 2 }, cost: { total_micro_usd: 5, lines: [] } };
  growing.take([delta("content.delta", 0, { text: "b" }), event("generation.completed", completed)]);
  expect(before.parts).toEqual([{ type: "text", text: "a" }]);
  expect(growing.answer.parts).toEqual([{ type: "text", text: "ab" }]);
  expect(growing.answer.completed).toMatchObject(completed);
});

test("a refusal is one, a picture is one, and other answers are left out", () => {
  const growing = new GrowingAnswer();
  const picture = { type: "image", media_type: "image/png", data: "AAAA" };
  growing.take([
    delta("content.delta", 0, { refusal: true, text: "No" }),
    event("content.media", { index: 0, part: 1, media: picture }),
    delta("content.delta", 0, { text: "other" }, 1),
    event("of.a.later.release", { index: 0, part: 9 }),
  ]);
  expect(growing.answer.parts).toEqual([{ type: "refusal", text: "No" }, picture]);
});

test("an endless answer is cut, and says by how much", () => {
  const growing = new GrowingAnswer();
  growing.take([delta("content.delta", 0, { text: "a".repeat(MOST_CHARACTERS - 1) })]);
  growing.take([delta("content.delta", 0, { text: "bcd" }), delta("content.delta", 1, { text: "e" })]);
  const { parts, cut } = growing.answer;
  expect(String(parts[0]?.text).length).toBe(MOST_CHARACTERS);
  expect(cut).toBe(3);
});

test("what is sent back has no empty text, and arguments that are JSON", () => {
  const call = { type: "tool_call", id: "1", name: "now", arguments: "" };
  expect(sendable([{ type: "text", text: "" }, call])).toEqual([{ ...call, arguments: "{}" }]);
});
