/** Damaged requests of the responses format, on both ways to an upstream. */
import { expect, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import { WeirError } from "../../../src/base/errors.ts";
import { Source } from "../../../src/wire/neutral/source.ts";
import { responsesDialect } from "../../../src/wire/responses/dialect.ts";
import { responsesFormat } from "../../../src/wire/responses/format.ts";
import { readResponsesRequest } from "../../../src/wire/responses/request.ts";
import { rounds } from "../../support/effort.ts";
import type { Json } from "../../support/wire/fixtures.ts";
import { sent, UPSTREAM } from "./responses.fixtures.ts";

test("T12: damaged requests are refused with a WeirError, or told to an upstream", () => {
  const random = seededRandom(3);
  const whole = JSON.stringify({
    model: "v/m",
    instructions: "Sei nett. 世",
    input: [
      {
        role: "user",
        content: [
          { type: "input_text", text: 'a"b' },
          { type: "input_image", image_url: "data:image/png;base64,QUJD" },
        ],
      },
      {
        type: "reasoning",
        summary: [{ type: "summary_text", text: "s" }],
        encrypted_content: "weir.google.x",
      },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "1" }] },
    ],
    tools: [{ type: "function", name: "f", parameters: {}, strict: true }],
    tool_choice: "auto",
    text: { format: { type: "json_object" }, verbosity: "low" },
    reasoning: { effort: "low" },
    include: ["message.output_text.logprobs"],
    metadata: { a: "b" },
    svc: { route: { sort: "price" } },
  });
  const pieces = ["null", "1", '""', "{}", "[]", '"type":', '"content":', ",", '"', "true", '{"type":"x"}'];
  const all = rounds(4000);
  let accepted = 0;
  for (let round = 0; round < all; round++) {
    let text = whole;
    for (let i = 1 + Math.floor(random() * 2); i > 0; i--) {
      const at = Math.floor(random() * text.length);
      const piece = pieces[Math.floor(random() * pieces.length)] as string;
      text = text.slice(0, at) + piece + text.slice(at + Math.floor(random() ** 3 * 30));
    }
    try {
      const request = readResponsesRequest(Buffer.from(text));
      const source = new Source(request.bytes, request.elided);
      const neutral = responsesFormat.generation?.neutral(request, source);
      if (neutral === undefined) throw new Error("no generation");
      const { body } = responsesDialect.writeRequest(neutral, UPSTREAM);
      expect(sent(request, body)).toMatchObject({ model: "up-1", store: false });
      const passed = responsesFormat.splice?.passage.write(request, UPSTREAM);
      const spliced = JSON.parse(Buffer.concat(passed?.parts ?? []).toString()) as Json;
      expect([spliced.model, "svc" in spliced]).toEqual(["up-1", false]);
      accepted++;
    } catch (error) {
      if (!(error instanceof WeirError)) throw error;
      expect(error.kind).not.toBe("internal");
    }
  }
  expect(accepted).toBeGreaterThan(all / 40);
});
