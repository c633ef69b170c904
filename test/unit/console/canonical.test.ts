/** A request in canonical form as turns to read, whatever a client put into it. */
import { describe, expect, test } from "vitest";
import { partsOf, pieces, turnsOf } from "../../../console/text/canonical.ts";

const PIXEL = "iVBORw0KGgo=";

test("a conversation is its turns, with each kind of part", () => {
  const request = {
    model: "weir/sim-small",
    messages: [
      { role: "system", content: "Be short." },
      {
        role: "user",
        content: [
          { type: "text", text: "<b>What</b> is this?" },
          { type: "image", data: PIXEL, media_type: "image/png" },
          { type: "image", url: "https://example.com/cat.png" },
          { type: "document", name: "notes.pdf", data: "AAAA", media_type: "application/pdf" },
        ],
      },
      { role: "assistant", content: [{ type: "tool_call", id: "1", name: "look", arguments: '{"at":1}' }] },
      {
        role: "user",
        content: [
          { type: "tool_result", id: "1", content: [{ type: "text", text: "a cat" }], is_error: true },
        ],
      },
    ],
  };
  expect(turnsOf(request)).toEqual([
    { role: "system", parts: [{ kind: "text", text: "Be short." }] },
    {
      role: "user",
      parts: [
        { kind: "text", text: "<b>What</b> is this?" },
        { kind: "image", text: "", picture: `data:image/png;base64,${PIXEL}` },
        { kind: "image", text: "https://example.com/cat.png" },
        { kind: "document", name: "notes.pdf", text: "application/pdf, 3 bytes" },
      ],
    },
    { role: "assistant", parts: [{ kind: "tool call", name: "look", text: '{\n  "at": 1\n}' }] },
    { role: "user", parts: [{ kind: "tool result", name: "1", text: "a cat", isError: true }] },
  ]);
});

test("an embedding is its inputs, and a ranking its query and documents", () => {
  expect(turnsOf({ input: ["a", "b"] }).map(({ role, parts }) => [role, parts[0]?.text])).toEqual([
    ["input", "a"],
    ["input", "b"],
  ]);
  expect(turnsOf({ query: "q", documents: ["d"] }).map(({ role }) => role)).toEqual(["query", "input"]);
});

describe("what is not known is shown, and draws nothing", () => {
  test.each([
    ["svg, which may hold scripts", { type: "image", data: PIXEL, media_type: "image/svg+xml" }],
    ["a kind with a quote", { type: "image", data: PIXEL, media_type: 'image/png"' }],
    ["data that is no base64", { type: "image", data: '"><script>', media_type: "image/png" }],
  ])("%s", (_, part) => expect(partsOf([part])[0]).not.toHaveProperty("picture"));

  test.each([undefined, null, 7, "text", [], { messages: "none" }, { messages: [null, 3] }])(
    "a request %j",
    (request) => {
      expect(turnsOf(request)).toEqual([]);
    },
  );

  test("a part of another kind is its JSON", () => {
    expect(partsOf([{ type: "hologram", depth: 3 }])).toEqual([
      { kind: "hologram", text: '{\n  "type": "hologram",\n  "depth": 3\n}' },
    ]);
  });
});

test("redactions are told from text that only looks like them", () => {
  expect(pieces("card [REDACTED:card], mail [REDACTED:email] [REDACTED:] [REDACTED")).toEqual([
    { text: "card " },
    { text: "[REDACTED:card]", redacted: "card" },
    { text: ", mail " },
    { text: "[REDACTED:email]", redacted: "email" },
    { text: " [REDACTED:] [REDACTED" },
  ]);
});
