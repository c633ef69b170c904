/** Tools in free form, from every format that has them to every dialect, and their calls back to the client. */
import { describe, expect, test } from "vitest";
import { argumentsOfInput } from "../../../../src/wire/tool-kinds/input.ts";
import type { Json } from "../../../support/wire/fixtures.ts";
import { answered, namesIn, told, upstreamOf } from "../accepts/fixtures.ts";
import { CUSTOM, calling, eventsIn, PATCH, pairs } from "./fixtures.ts";

describe.each(pairs)("a custom tool of a %s client at a %s upstream", (format, dialect) => {
  const way = told(format, CUSTOM[format] as unknown as Json, upstreamOf(dialect));
  const sent = JSON.stringify(way.sent);
  const isNative = dialect === "responses";

  test("is offered, chosen and called as the upstream knows it", () => {
    expect(way.outgoing.dropped).toEqual([]);
    expect(new Set(namesIn(way.sent))).toEqual(new Set(["patch", "run"]));
    expect(sent).toContain(isNative ? '"type":"custom"' : '"required":["input"]');
    expect(sent).toContain("start: /.+/s");
    if (isNative) {
      expect(way.sent.input).toContainEqual({
        type: "custom_tool_call",
        call_id: "c1",
        name: "patch",
        input: PATCH,
      });
      expect(way.sent.input).toContainEqual({
        type: "custom_tool_call_output",
        call_id: "c1",
        output: "done",
      });
      expect(way.sent.tool_choice).toEqual({ type: "custom", name: "patch" });
    } else {
      const args = argumentsOfInput(PATCH);
      expect(sent).toContain(dialect === "chat" ? JSON.stringify(args).slice(1, -1) : args);
    }
  });

  test("its call comes back as the client's own, whole and streamed", () => {
    const answer = calling(dialect, "patch", argumentsOfInput(PATCH));
    const { whole, stream } = answered(way, answer);
    if (format === "chat") {
      const [call] = JSON.parse(whole).choices[0].message.tool_calls;
      expect(call).toEqual({ id: "c2", type: "custom", custom: { name: "patch", input: PATCH } });
      const deltas = eventsIn(stream).flatMap(({ data }) => (data as Json).choices ?? []) as Json[];
      const pieces = deltas.flatMap(
        (choice) => ((choice.delta as Json).tool_calls as Json[] | undefined) ?? [],
      );
      expect(pieces[0]).toMatchObject({ id: "c2", type: "custom", custom: { name: "patch", input: "" } });
      expect(pieces.map(({ custom }) => (custom as Json).input).join("")).toBe(PATCH);
    } else {
      const item = {
        type: "custom_tool_call",
        call_id: "c2",
        name: "patch",
        input: PATCH,
        status: "completed",
      };
      expect(JSON.parse(whole).output).toEqual([expect.objectContaining(item)]);
      const events = eventsIn(stream).map(({ data }) => data as Json);
      const of = (type: string) => events.filter((event) => event.type === type);
      expect(of("response.output_item.added")).toMatchObject([
        { item: { type: "custom_tool_call", input: "" } },
      ]);
      expect(
        of("response.custom_tool_call_input.delta")
          .map(({ delta }) => delta)
          .join(""),
      ).toBe(PATCH);
      expect(of("response.custom_tool_call_input.done")).toMatchObject([{ input: PATCH }]);
      expect(of("response.output_item.done")).toMatchObject([{ item }]);
    }
  });

  test("a function beside it is called as ever", () => {
    const { whole } = answered(way, calling(dialect, "run", '{"a":1}'));
    expect(whole).toContain(String.raw`{\"a\":1}`);
    expect(whole).not.toContain("custom_tool_call");
    expect(whole).not.toContain('"custom":{');
  });
});

describe("an upstream that answers with a custom call", () => {
  const custom = {
    chat: {
      whole: {
        id: "x",
        choices: [
          {
            index: 0,
            message: { tool_calls: [{ id: "c2", type: "custom", custom: { name: "patch", input: PATCH } }] },
            finish_reason: "tool_calls",
          },
        ],
      },
      stream: [
        { index: 0, id: "c2", type: "custom", custom: { name: "patch", input: PATCH.slice(0, 5) } },
        { index: 0, custom: { input: PATCH.slice(5) } },
      ].map((call) => ({ id: "x", choices: [{ index: 0, delta: { tool_calls: [call] } }] })),
      last: { id: "x", choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
    },
    responses: {
      whole: {
        id: "r",
        object: "response",
        status: "completed",
        output: [
          {
            id: "i",
            type: "custom_tool_call",
            call_id: "c2",
            name: "patch",
            input: PATCH,
            status: "completed",
          },
        ],
      },
      stream: [
        {
          type: "response.output_item.added",
          output_index: 0,
          item: { id: "i", type: "custom_tool_call", call_id: "c2", name: "patch", input: "" },
        },
        {
          type: "response.custom_tool_call_input.delta",
          item_id: "i",
          output_index: 0,
          delta: PATCH.slice(0, 5),
        },
        {
          type: "response.custom_tool_call_input.delta",
          item_id: "i",
          output_index: 0,
          delta: PATCH.slice(5),
        },
        { type: "response.custom_tool_call_input.done", item_id: "i", output_index: 0, input: PATCH },
      ],
      last: { type: "response.completed", response: { id: "r", status: "completed", output: [] } },
    },
  } as const;

  test.each([
    ["chat", "responses"],
    ["responses", "chat"],
    ["messages", "chat"],
    ["messages", "responses"],
    ["generate", "chat"],
    ["generate", "responses"],
  ] as const)("a %s client hears it from a %s upstream", (format, dialect) => {
    const isCustom = format === "chat" || format === "responses";
    const plain = {
      messages: [{ role: "user", content: "x" }],
      ...(format === "messages" && { max_tokens: 9 }),
    };
    const way = told(format, (isCustom ? CUSTOM[format] : plain) as unknown as Json, upstreamOf(dialect));
    const { whole, stream: events, last } = custom[dialect];
    const stream = [...events, last].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const back = answered(way, {
      whole: Buffer.from(JSON.stringify(whole)),
      stream: Buffer.from(stream).toString("latin1"),
    });
    // Formats without such tools get an object with the text, as a function that takes it would.
    const input = JSON.stringify(PATCH);
    const said = isCustom ? input : argumentsOfInput(PATCH);
    const inText = (json: string) => (format === "generate" ? JSON.stringify(json) : json);
    expect(back.whole).toContain(inText(said));
    expect(joined(back.stream)).toContain(isCustom ? PATCH : said);
  });
});

/** All texts by which a streamed call grows. */
const joined = (stream: string): string =>
  eventsIn(stream)
    .flatMap(({ data }) => piecesIn(data))
    .join("");

const GROWING = ["partial_json", "delta", "input", "arguments"];

function piecesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(piecesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    typeof member === "string" ? (GROWING.includes(key) ? [member] : []) : piecesIn(member),
  );
}
