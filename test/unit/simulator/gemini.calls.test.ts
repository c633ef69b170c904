/**
 * The simulated Gemini's function calls and thought signatures: how they are made, and how it wants them back.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { GeminiClient, GOOGLE, type Part, partsOf, tools, user, VERTEX } from "./gemini.fixtures.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const google = new GeminiClient(() => simulator.url);

describe("function calls", () => {
  const ask = user("[[sim tool_calls=2 tokens=2]]", { tools });

  /** The conversation with the calls answered, their parts as `change` leaves them. */
  async function answered(change: (parts: Part[]) => Part[], more: object[] = []) {
    const parts = partsOf(await google.whole(ask));
    const responses = parts.flatMap(({ functionCall }) =>
      functionCall === undefined
        ? []
        : [{ functionResponse: { id: functionCall.id, name: functionCall.name, response: { ok: true } } }],
    );
    return {
      tools,
      contents: [
        ...ask.contents,
        { role: "model", parts: change(structuredClone(parts)) },
        { role: "user", parts: responses },
        ...more,
      ],
    };
  }

  test("are whole in an event each, the first of them signed", async () => {
    const parts = partsOf(await google.whole(ask));
    const calls = parts.filter((part) => part.functionCall !== undefined);
    expect(calls.map((part) => part.functionCall?.name)).toEqual(["open_gate", "read_level"]);
    expect(calls[0]?.functionCall?.args).toEqual({ gate: 7, why: expect.stringMatching(/^.{6}/) });
    expect(calls.map((part) => part.thoughtSignature !== undefined)).toEqual([true, false]);
    const events = await google.streamed(ask);
    expect(events.flatMap(partsOf).filter((part) => part.functionCall !== undefined)).toEqual(calls);
    expect(events.at(-1)?.candidates?.[0]?.finishReason).toBe("STOP");
  });

  test("have ids at Google, and none at Vertex", async () => {
    const idsOf = async (model: string) =>
      partsOf(await google.whole(ask, model)).flatMap(({ functionCall }) =>
        functionCall ? [functionCall.id] : [],
      );
    expect(new Set(await idsOf(GOOGLE)).size).toBe(2);
    expect(await idsOf(VERTEX)).toEqual([undefined, undefined]);
  });

  test.each([
    [{ mode: "ANY" }, ["open_gate"]],
    [{ mode: "ANY", allowedFunctionNames: ["read_level"] }, ["read_level"]],
    [{ mode: "NONE" }, []],
    [{ mode: "AUTO" }, []],
  ])("follow %j", async (functionCallingConfig, names) => {
    const reply = await google.whole(user("Hi", { tools, toolConfig: { functionCallingConfig } }));
    const calls = partsOf(reply).flatMap(({ functionCall }) => (functionCall ? [functionCall.name] : []));
    expect(calls).toEqual(names);
  });

  test("that come back as they were made are taken, their arguments in any order", async () => {
    expect((await google.post(await answered((parts) => parts))).status).toBe(200);
    const reordered = await answered((parts) =>
      parts.map((part) => {
        if (part.functionCall === undefined) return part;
        const args = Object.fromEntries(Object.entries(part.functionCall.args).reverse());
        return { ...part, functionCall: { ...part.functionCall, args } };
      }),
    );
    expect((await google.post(reordered)).status).toBe(200);
  });

  const unsigned = (parts: Part[]) => parts.map(({ thoughtSignature: _, ...part }) => part);
  const signedWith = (to: (signature: string) => string) => (parts: Part[]) =>
    parts.map((part) =>
      part.thoughtSignature === undefined ? part : { ...part, thoughtSignature: to(part.thoughtSignature) },
    );

  test("of the current turn must bring their signature back", async () => {
    const message = await google.refused(await answered(unsigned));
    expect(message).toContain("Function call is missing a thought_signature in functionCall parts.");
    expect(message).toContain("`default_api:open_gate` , position 2");
    const later = [
      { role: "model", parts: [{ text: "Done." }] },
      { role: "user", parts: [{ text: "And now?" }] },
    ];
    expect((await google.post(await answered(unsigned, later))).status).toBe(200);
  });

  test.each([
    ["in base64url", (text: string) => text.replaceAll("+", "-").replaceAll("/", "_")],
    ["without its padding", (text: string) => text.replace(/=+$/, "")],
    ["with a letter changed", (text: string) => text.replace(/.(?==)/, (last) => (last === "A" ? "E" : "A"))],
  ])("with a signature %s are refused", async (_, change) => {
    expect(await google.refused(await answered(signedWith(change)))).toBe("Corrupted thought signature.");
  });

  test("with a signature that belongs to other arguments are refused", async () => {
    const forged = await answered((parts) =>
      parts.map((part) =>
        part.functionCall === undefined
          ? part
          : { ...part, functionCall: { ...part.functionCall, args: { gate: 8 } } },
      ),
    );
    expect(await google.refused(forged)).toBe("Corrupted thought signature.");
  });

  test("that another model made may say so in place of a signature", async () => {
    const foreign = signedWith(() => "skip_thought_signature_validator");
    expect((await google.post(await answered(foreign))).status).toBe(200);
  });

  test("are answered one by one, by name and id, at once", async () => {
    const whole = await answered((parts) => parts);
    const [ask, calls, responses] = whole.contents;
    const changed = (change: (part: { functionResponse: object }) => object) => ({
      ...whole,
      contents: [ask, calls, { role: "user", parts: (responses as { parts: never[] }).parts.map(change) }],
    });
    const other = changed((part) => ({ functionResponse: { ...part.functionResponse, name: "close_gate" } }));
    expect(await google.refused(other)).toContain("does not match any function call");
    const stray = changed((part) => ({ functionResponse: { ...part.functionResponse, id: "call_x" } }));
    expect(await google.refused(stray)).toContain("does not match any function call");
    const one = { ...whole, contents: [ask, calls, { role: "user", parts: [{ text: "Well?" }] }] };
    expect(await google.refused(one)).toContain("number of function response parts is equal");
    const late = { ...whole, contents: [ask, responses] };
    expect(await google.refused(late)).toContain("comes immediately after a function call turn");
  });

  test("cut by the bound on tokens are not made", async () => {
    const cut = { ...ask, generationConfig: { maxOutputTokens: 4 } };
    const [candidate] = (await google.whole(cut)).candidates ?? [];
    expect(candidate?.finishReason).toBe("MAX_TOKENS");
    expect(candidate?.content?.parts.some((part) => part.functionCall)).toBe(false);
    expect((await google.streamed(cut)).flatMap(partsOf).some((part) => part.functionCall)).toBe(false);
  });
});

test("the text of a thinking turn comes back with its signature, in one part or several", async () => {
  const body = user("Hi [[sim tokens=3]]", { generationConfig: { thinkingConfig: { thinkingBudget: 100 } } });
  const events = await google.streamed(body);
  const next = (parts: Part[]) => ({
    contents: [...body.contents, { role: "model", parts }, { role: "user", parts: [{ text: "Go on" }] }],
  });
  expect((await google.post(next(events.flatMap(partsOf)))).status).toBe(200);
  const [joined] = partsOf(await google.whole(body));
  expect((await google.post(next([joined as Part]))).status).toBe(200);
  expect(await google.refused(next([{ ...joined, text: "Something else" }]))).toBe(
    "Corrupted thought signature.",
  );
});
