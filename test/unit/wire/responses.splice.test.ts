/** Responses to an upstream that speaks them too: bytes pass, but for what is ours. */
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import { fail, WeirError } from "../../../src/base/errors.ts";
import { responsesFormat } from "../../../src/wire/responses/format.ts";
import { outputItems } from "../../../src/wire/responses/items.ts";
import { responsesSplice } from "../../../src/wire/responses/splice.ts";
import { ResponsesSpliceStream } from "../../../src/wire/responses/splice-stream.ts";
import { CUT_STEP, rounds } from "../../support/effort.ts";
import { type Json, SVC, usage } from "../../support/wire/fixtures.ts";
import {
  eventsIn,
  finalOf,
  IDENTITY,
  RECORDED,
  recorded,
  requestOf,
  streamed,
  UPSTREAM,
  written,
} from "./responses.fixtures.ts";

const OURS = { id: IDENTITY.id, model: IDENTITY.model };

const sentOf = (body: Json): { text: string; dropped: readonly string[] } => {
  const { parts, dropped } = responsesSplice.write(requestOf(body), UPSTREAM);
  return { text: Buffer.concat(parts).toString(), dropped };
};

describe("requests", () => {
  test("T53: only the model, our extension and our ids are touched", () => {
    const { text, dropped } = sentOf({
      input: [{ role: "user", content: "Größe" }],
      svc: { route: { sort: "price" } },
      previous_response_id: "resp_1",
      unknown: { a: [1.0, 2e3] },
      store: false,
    });
    expect(text).toBe(
      '{"model":"up-1","input":[{"role":"user","content":"Größe"}],"unknown":{"a":[1,2000]},"store":false}',
    );
    expect(dropped).toEqual([]);
  });

  test("T49: reasoning that another maker sealed, or no upstream knows, stays here", () => {
    const own = { type: "reasoning", id: "rs_abc", summary: [], encrypted_content: "gA" };
    const foreign = {
      type: "reasoning",
      summary: [],
      encrypted_content: `weir.anthropic.${"Q".repeat(5000)}`,
    };
    const unsealed = { type: "reasoning", id: `rs_${SVC.request_id}_0`, summary: [] };
    const said = { role: "user", content: '[{"type":"reasoning","encrypted_content":"weir.google.x"}]' };
    for (const [input, kept, at] of [
      [
        [own, foreign, said, unsealed],
        [own, said],
        ["/input/1", "/input/3"],
      ],
      [[foreign, unsealed, own], [own], ["/input/0", "/input/1"]],
      [[foreign], [], ["/input/0"]],
      [[own, said], [own, said], []],
    ] as const) {
      const { text, dropped } = sentOf({ input });
      expect((JSON.parse(text) as Json).input).toEqual(kept);
      expect(dropped).toEqual(at);
    }
  });
});

describe("whole answers", () => {
  test.each(RECORDED)("%s: ours is put in, all else is as it came", (name) => {
    const response = finalOf(recorded(name));
    const answer = responsesSplice.whole(
      Buffer.from(JSON.stringify(response)),
      requestOf({ previous_response_id: "resp_0" }),
      IDENTITY,
    );
    expect(answer.error).toBeUndefined();
    const out = JSON.parse(answer.write(usage(1, 1), SVC).toString()) as Json;
    expect(out).toEqual({ ...response, ...OURS, previous_response_id: "resp_0", svc: SVC });
  });

  test("T2: usage is written where the upstream told none, and counted from the text", () => {
    const { usage: _, ...response } = finalOf(recorded("openai"));
    const answer = responsesSplice.whole(Buffer.from(JSON.stringify(response)), requestOf({}), IDENTITY);
    expect(answer.facts).toMatchObject({ usage: undefined, stopReason: "stop" });
    expect(answer.facts.outputBytes).toBeGreaterThan(30);
    const out = JSON.parse(answer.write(usage(3, 4), SVC).toString()) as Json;
    expect(out.usage).toMatchObject({ input_tokens: 3, output_tokens: 4, total_tokens: 7 });
  });

  test("T14: a failed response is an error, and what is none is refused", () => {
    const whole = (body: string) => responsesSplice.whole(Buffer.from(body), requestOf({}), IDENTITY);
    const failed = whole('{"status":"failed","error":{"code":"server_error","message":"Größe"},"output":[]}');
    expect(failed.error).toEqual({ code: "server_error", type: "", message: "Größe" });
    for (const body of ["", "[]", "{}", '{"output":1}', '{"output":[']) {
      expect(() => whole(body)).toThrow(WeirError);
    }
  });
});

interface Relayed {
  readonly early: string;
  readonly all: string;
  readonly stream: ResponsesSpliceStream;
}

function relay(pieces: readonly string[], others?: Readonly<Record<string, string>>): Relayed {
  const stream = new ResponsesSpliceStream(IDENTITY, others);
  let early = "";
  for (const piece of pieces) early += stream.push(piece);
  early += stream.end();
  return { early, all: early + stream.close(stream.facts.usage ?? usage(1, 1), SVC), stream };
}

describe("streams", () => {
  test.each(RECORDED)("%s: events pass as they came, with ours where they hold the response", (name) => {
    const { early, all, stream } = relay([recorded(name)], { previous_response_id: '"resp_0"' });
    const ours = { ...OURS, previous_response_id: "resp_0" };
    const expected = eventsIn(recorded(name)).map((event) =>
      event.response === undefined ? event : { ...event, response: { ...(event.response as Json), ...ours } },
    );
    const last = expected.pop() as Json;
    expect(eventsIn(early)).toEqual(expected);
    const final: Json = { ...(last.response as Json), svc: SVC };
    expect(eventsIn(all).at(-1)).toEqual({ ...last, response: final });
    expect(stream).toMatchObject({ done: true, complete: true, malformed: 0, error: undefined });
    expect(JSON.parse(stream.responseJson() ?? "")).toEqual(final);
    expect(JSON.parse(`[${outputItems(stream.responseJson() ?? "")}]`)).toEqual(final.output);
    expect(all).toMatch(/^(event: [\w.]+\ndata: [^\n]+\n\n)+$/);
  });

  test.each(RECORDED)("%s: T4, T5: no cut changes a byte", (name) => {
    const text = recorded(name);
    const { all, stream } = relay([text]);
    const kept = stream.kept()?.toString();
    expect(relay([...text]).all).toBe(all);
    for (let at = 0; at <= text.length; at += CUT_STEP) {
      const cut = relay([text.slice(0, at), text.slice(at)]);
      if (cut.all !== all || cut.stream.kept()?.toString() !== kept) expect.fail(`cut at ${at}`);
    }
    expect(Buffer.from(all, "latin1").toString()).not.toContain("\ufffd");
  });

  test("deltas pass to the byte", () => {
    const lines = (text: string) => text.split("\n").filter((line) => line.includes('.delta"'));
    expect(lines(relay([recorded("openai")]).all)).toEqual(lines(recorded("openai")));
  });

  test("facts and the answer for the record", () => {
    const { stream } = relay([recorded("openai-tools")]);
    expect(stream.facts).toMatchObject({
      usage: usage(80, 33),
      stopReason: "tool_calls",
      toolCalls: 2,
      unreportedBytes: 0,
    });
    expect(JSON.parse(stream.kept()?.toString() ?? "")).toMatchObject({
      candidates: [
        { content: [{}, { text: "Let me look." }, { name: "get_weather" }, { name: "get_time" }] },
      ],
    });
  });

  test("O28: the number of the next event is known behind any event and at every cut", () => {
    for (const name of RECORDED) {
      const text = recorded(name);
      for (let cut = 0; cut <= text.length; cut += 61) {
        const stream = new ResponsesSpliceStream(IDENTITY, undefined);
        const left = eventsIn(stream.push(text.slice(0, cut)));
        const expected = left.length === 0 ? 0 : (left.at(-1)?.sequence_number as number) + 1;
        if (stream.nextSequence !== expected) expect.fail(`${name} at ${cut}: ${stream.nextSequence}`);
      }
    }
  });

  test("T14: nothing leaves before an error that comes first", () => {
    const stream = new ResponsesSpliceStream(IDENTITY, undefined);
    expect(stream.push(recorded("openai-failed"))).toBe("");
    expect(stream.error).toMatchObject({ code: "server_error" });
    expect([stream.done, stream.complete]).toEqual([false, false]);
  });

  test("T12: what is no JSON is left out and counted; usage is added where none came", () => {
    const text = recorded("openai")
      .replace(
        "event: response.output_text.delta",
        'event: x\ndata: {"a\n\nevent: response.output_text.delta',
      )
      .replace(/"usage":\{"input.*?"total_tokens":\d+\}/, '"usage":null');
    const { all, stream } = relay([text]);
    expect(stream.malformed).toBe(1);
    const final = finalOf(all);
    expect(final.usage).toMatchObject({ total_tokens: 2 });
  });

  test("a translated answer's stream passes a second gateway", () => {
    const parts = [{ type: "text", text: "Größe 🎉" }] as const;
    const first = written(streamed({ choices: [{ parts, stop: { reason: "stop" } }], usage: undefined }));
    const second = relay([first.text]);
    expect(finalOf(second.all).output).toEqual(first.response.output);
  });

  test("T12: damaged streams: every event that leaves is JSON, in events", () => {
    const random = seededRandom(5);
    const pieces = [
      '"',
      "{",
      "}",
      "\\",
      "\n",
      "\n\n",
      "data: ",
      '"response":{}',
      '"type":"a\\nb"',
      "\u00ff",
      "null",
    ];
    for (let round = 0; round < rounds(1500); round++) {
      let text = recorded(RECORDED[round % RECORDED.length] as string);
      for (let i = 1 + Math.floor(random() * 4); i > 0; i--) {
        const at = Math.floor(random() * text.length);
        const piece = pieces[Math.floor(random() * pieces.length)] as string;
        text = text.slice(0, at) + piece + text.slice(at + Math.floor(random() ** 3 * 60));
      }
      const { all } = relay([text]);
      if (!/^((event: [\w.]+\n)?data: [^\n]+\n\n)*$/.test(all)) expect.fail(`no events: ${all}`);
      for (const event of eventsIn(all)) {
        if (event.response !== undefined && typeof event.response === "object" && event.response !== null)
          expect(event.response).toMatchObject(OURS);
      }
    }
  });
});

test("T13: an error inside a stream is what the SDK throws, with our code", async () => {
  const error = fail("insufficient_credits", "Größe: no credits.", { param: "/x" });
  const text =
    written([]).text.split("\n\n").slice(0, 2).join("\n\n") +
    `\n\n${responsesFormat.errorEvent(error, SVC.request_id)}`;
  const client = new OpenAI({
    apiKey: "k",
    baseURL: "http://127.0.0.1:9",
    fetch: async () => new Response(text, { headers: { "content-type": "text/event-stream" } }),
  });
  const seen: string[] = [];
  const read = async () => {
    const stream = await client.responses.create({ model: "m", input: "x", stream: true });
    for await (const event of stream) seen.push(event.type);
  };
  await expect(read()).rejects.toMatchObject({ code: "insufficient_credits", param: "/x" });
  expect(seen).toEqual(["response.created", "response.in_progress"]);
});
