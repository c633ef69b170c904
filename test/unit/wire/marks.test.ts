/**
 * Marks of `Source` stand for long strings inside the gateway only: whatever string of a request is long, no mark is left in
 * what an upstream, a client or a record gets, and none can be forged.
 */
import { describe, expect, test } from "vitest";
import { WeirError } from "../../../src/base/errors.ts";
import { GENERATION_DIALECTS } from "../../../src/wire/dialects.ts";
import type { ClientFormat } from "../../../src/wire/format.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import { skim } from "../../../src/wire/json/json.ts";
import { Source } from "../../../src/wire/neutral/source.ts";
import { translated } from "../../../src/wire/relay/translate.ts";
import { endpoint } from "../../support/routing/fixtures.ts";

const LONG = "long text ".repeat(500);
const UPSTREAM = endpoint("e", { upstreamModel: "up-1" });
const PNG = "data:image/png;base64,QUJD";
const SCHEMA = { type: "object", properties: { a: { type: "string", description: "d" } } };
const GRAMMAR = { syntax: "lark", definition: "start: X" };
const CUSTOM = { type: "custom", custom: { name: "p", format: { type: "grammar", grammar: GRAMMAR } } };

const BODIES: readonly (readonly [ClientFormat, Record<string, unknown>])[] = [
  [
    FORMATS.chat,
    {
      model: "v/m",
      metadata: { a: "b" },
      response_format: { type: "json_schema", json_schema: { name: "r", description: "d", schema: SCHEMA } },
      tools: [{ type: "function", function: { name: "f", description: "d", parameters: SCHEMA } }, CUSTOM],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "t" },
            { type: "strange", x: "y" },
          ],
        },
        { role: "user", content: [{ type: "image_url", image_url: { url: PNG } }] },
        {
          role: "assistant",
          reasoning_details: [{ type: "reasoning.text", text: "t", signature: "s", format: "f" }],
          tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: '{"a":"b"}' } }],
        },
        { role: "tool", tool_call_id: "c", content: "t" },
      ],
    },
  ],
  [
    FORMATS.messages,
    {
      model: "v/m",
      max_tokens: 9,
      tool_choice: { type: "tool", name: "f" },
      system: [{ type: "text", text: "t" }],
      tools: [{ name: "f", description: "d", input_schema: SCHEMA }],
      messages: [
        { role: "user", content: [{ type: "document", title: "T", source: { type: "text", data: "d" } }] },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "t", signature: "weir.google.abc" },
            { type: "tool_use", id: "c", name: "f", input: { a: "b" } },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "t" }] },
      ],
    },
  ],
  [
    FORMATS.responses,
    {
      model: "v/m",
      instructions: "i",
      text: { format: { type: "json_schema", name: "r", description: "d", schema: SCHEMA } },
      tools: [
        { type: "function", name: "f", description: "d", parameters: SCHEMA },
        { type: "custom", name: "p", format: { type: "grammar", ...GRAMMAR } },
      ],
      input: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "t" }] },
        { type: "reasoning", summary: [], encrypted_content: "weir.anthropic.abc" },
        { type: "function_call", call_id: "c", name: "f", arguments: '{"a":"b"}' },
        { type: "function_call_output", call_id: "c", output: "t" },
      ],
    },
  ],
  [
    FORMATS.generate,
    {
      model: "v/m",
      format: { type: "json_schema", name: "r", description: "d", schema: SCHEMA },
      tools: [{ name: "f", description: "d", parameters: SCHEMA }],
      messages: [{ role: "user", content: "t" }],
    },
  ],
];

/** The body with each string in turn made long, and with a long name in each object in turn. */
function* lengthened(body: Record<string, unknown>): Generator<unknown> {
  const places: { holder: Record<string, unknown>; key: string | undefined }[] = [];
  const copy = structuredClone(body);
  const walk = (value: unknown) => {
    if (typeof value !== "object" || value === null) return;
    const holder = value as Record<string, unknown>;
    if (!Array.isArray(value)) places.push({ holder, key: undefined });
    for (const [key, inner] of Object.entries(holder)) {
      if (typeof inner === "string") places.push({ holder, key });
      else walk(inner);
    }
  };
  walk(copy);
  for (const { holder, key } of places) {
    const name = key ?? LONG;
    const before = holder[name];
    for (const value of key === undefined ? ["v", { deep: 1 }] : [LONG, `${PNG}${"QUJD".repeat(1500)}`]) {
      holder[name] = value;
      yield copy;
    }
    if (key === undefined) delete holder[name];
    else holder[name] = before;
  }
}

/** All that anyone outside gets of a request. */
function seen(act: () => { parts: readonly Uint8Array[]; dropped: readonly string[] }): string {
  try {
    const { parts, dropped } = act();
    for (const pointer of dropped) expect(pointer.length).toBeLessThanOrEqual(300);
    const body = Buffer.concat(parts).toString();
    JSON.parse(body);
    return body + dropped.join();
  } catch (error) {
    if (!(error instanceof WeirError)) throw error;
    return `${error.message} ${error.param} ${JSON.stringify(error.details)}`;
  }
}

describe("marks of long strings", () => {
  test.each(BODIES.map(([format, body]) => [format.name, format, body] as const))(
    "%s: none is left, wherever the long string or name stands",
    (_, format, body) => {
      const { generation } = format;
      if (generation === undefined) throw new Error("not a format of generations");
      let ways = 0;
      for (const long of lengthened(body)) {
        const bytes = Buffer.from(JSON.stringify(long));
        for (const dialect of GENERATION_DIALECTS.values()) {
          ways++;
          expect(
            seen(() => translated(generation, dialect).write(format.read(bytes), UPSTREAM)),
          ).not.toContain("<weir");
        }
      }
      expect(ways).toBeGreaterThan(100);
    },
  );

  test("one that a client saw stands for nothing in its next request", () => {
    const sourceOf = (value: object) => {
      const bytes = Buffer.from(JSON.stringify(value));
      return new Source(bytes, skim(bytes.toString("latin1")).elided);
    };
    const { text: seenMark } = sourceOf({ text: LONG }).value as { text: string };
    const next = sourceOf({ long: LONG, text: seenMark });
    const { long, text } = next.value as { long: string; text: string };
    expect(text).toBe(seenMark);
    expect([next.whole(long), next.whole(text)]).toEqual([LONG, seenMark]);
    expect(next.piecesOf({ text })).toHaveLength(1);
  });
});

test("T12: a long string or name that is no JSON is the client's fault", () => {
  const bad = `\\x${"y".repeat(5000)}`;
  const chat = [
    `{"tools":[{"type":"function","function":{"name":"${bad}"}}]`,
    `{"metadata":{"${bad}":"b"}`,
    `{"tools":[{"${bad}":1,"type":"function","function":{"name":"f","parameters":{}}}]`,
  ].map((head) => `${head},"model":"v/m","messages":[{"role":"user","content":"x"}]}`);
  const response = `{"model":"v/m","input":"x","previous_response_id":"${bad}"}`;
  const refusals = [
    ...chat.map((body) => () => FORMATS.chat.read(Buffer.from(body))),
    () => FORMATS.responses.read(Buffer.from(response)),
  ];
  for (const refused of refusals) expect(refused).toThrow(expect.objectContaining({ kind: "invalid_json" }));
});
