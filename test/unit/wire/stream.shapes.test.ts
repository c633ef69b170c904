/** Streams as real providers send them, cut at every byte: what the client gets, what is captured, what is metered. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CUT_STEP } from "../../support/effort.ts";
import {
  answerOf,
  bytesOf,
  ID,
  type Json,
  latin1Of,
  MODEL,
  plainChunks,
  plainEvents,
  RECORDED,
  relay,
  SVC,
} from "../../support/wire/fixtures.ts";

/** What the client should get for the upstream's events, said without any of the code under test. */
function expectedChunks(name: string): Json[] {
  let calls = 0;
  return plainChunks(latin1Of(name))
    .filter((chunk) => (chunk.choices as unknown[]).length > 0 || chunk.usage == null)
    .map((chunk) => {
      const sent = { ...chunk, id: ID, model: MODEL, usage: null };
      if (name !== "gemini-tools") return sent;
      // Its calls have no index, and clients join pieces by it.
      const [choice] = chunk.choices as { delta: { tool_calls?: Json[] } }[];
      const listed = choice?.delta.tool_calls?.map((call) => ({ ...call, index: calls++ }));
      const delta = { ...choice?.delta, ...(listed && { tool_calls: listed }) };
      return { ...sent, choices: [{ ...choice, delta }] };
    });
}

describe.each(RECORDED)("$name", ({ name, choices, usage, answer }) => {
  const text = latin1Of(name);
  const whole = relay([text], { choices });

  test("every event keeps all but its id, model and usage; the answer is put together", () => {
    const chunks = plainChunks(whole.all);
    expect(chunks.slice(0, -1)).toEqual(expectedChunks(name));
    expect(answerOf(whole)).toEqual(answer);
    expect(whole.stream.complete).toBe(true);
    expect(whole.stream.malformed).toBe(0);
    expect(whole.stream.facts.stopReason).toBe(answer[0]?.stop.reason);
  });

  test("T2, T3: usage is found where this provider reports it", () => {
    expect(whole.stream.facts.usage).toEqual(usage);
  });

  test("T1: exactly one chunk has no choices and usage, directly before [DONE]; all others say usage: null", () => {
    const events = plainEvents(whole.all);
    expect(events.at(-1)).toBe("[DONE]");
    expect(events.filter((event) => event === "[DONE]")).toHaveLength(1);
    const chunks = plainChunks(whole.all);
    const last = chunks.at(-1) as Json;
    expect(last).toMatchObject({
      id: ID,
      model: MODEL,
      object: "chat.completion.chunk",
      choices: [],
      svc: SVC,
    });
    expect(last.usage).toMatchObject({ prompt_tokens: usage.inputTokens });
    for (const chunk of chunks.slice(0, -1)) expect(chunk.usage).toBeNull();
  });

  test("T1: with include_usage false no chunk has usage, and none is made for it", () => {
    const chunks = plainChunks(relay([text], { choices, includeUsage: false }).all);
    const expected = expectedChunks(name).map(({ usage: _, ...rest }) => rest);
    expect(chunks).toEqual(expected);
  });

  test("T4, T5, T6: wherever it is cut, the output is the same to the byte and holds no U+FFFD", () => {
    for (let cut = 0; cut <= text.length; cut += CUT_STEP) {
      const split = relay([text.slice(0, cut), text.slice(cut)], { choices });
      if (split.all !== whole.all) expect.fail(`cut at byte ${cut}: ${split.all}`);
      if (split.stream.textBytes !== whole.stream.textBytes) expect.fail(`bytes, cut at ${cut}`);
    }
    expect(Buffer.from(whole.all, "latin1").toString()).not.toContain("\uFFFD");
    expect(whole.all).toMatch(/^(data: [^\n]+\n\n)+$/);
  });

  test("T4, T5: cut into many pieces, down to single bytes, nothing changes", () => {
    expect(relay([...text], { choices }).all).toBe(whole.all);
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), text.length];
        const split = relay(
          at.slice(1).map((end, i) => text.slice(at[i], end)),
          { choices },
        );
        expect(split.all).toBe(whole.all);
        expect(answerOf(split)).toEqual(answer);
        expect(split.stream.facts).toEqual(whole.stream.facts);
      }),
      { numRuns: 40, seed: 1 },
    );
  });

  test("T5: other line ends say the same", () => {
    const lf = bytesOf(name).toString("latin1").replaceAll("\r\n", "\n");
    for (const lineEnd of ["\r\n", "\r"]) {
      expect(relay([lf.replaceAll("\n", lineEnd)], { choices }).all).toBe(whole.all);
    }
  });

  test("what came unparsed through a learned frame is what parsing gives", () => {
    // A comment before every event: no event stands where a frame is looked for.
    const slow = text.replaceAll(/^data:/gm, ": slow\ndata:");
    const parsed = relay([slow], { choices });
    expect(parsed.all).toBe(whole.all);
    expect(parsed.stream.kept()).toEqual(whole.stream.kept());
    expect(parsed.stream.facts).toEqual(whole.stream.facts);
    expect(parsed.stream.events).toBe(whole.stream.events);
  });
});
