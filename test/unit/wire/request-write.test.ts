/** T53: an upstream gets the client's bytes; only what the gateway must change differs. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Endpoint, ProviderQuirks } from "../../../src/base/endpoint.ts";
import { readChatRequest } from "../../../src/wire/chat/request.ts";
import { spliceChatRequest } from "../../../src/wire/chat/splice.ts";
import { anyCharacter } from "../../support/characters.ts";
import { endpoint, provider } from "../../support/routing/fixtures.ts";

const QUIRKS: ProviderQuirks = { streamUsage: true, maxTokensField: "either", billsAfterDisconnect: false };

const upstream = (quirks: Partial<ProviderQuirks> = {}): Endpoint =>
  endpoint("e", { upstreamModel: "up-1", provider: { ...provider("p"), quirks: { ...QUIRKS, ...quirks } } });

const write = (body: string, quirks: Partial<ProviderQuirks> = {}): string =>
  Buffer.concat(spliceChatRequest(readChatRequest(Buffer.from(body)), upstream(quirks)).parts).toString();

const M = '"messages":[{"role":"user","content":"x"}]';

test("T53: all but the model's name is byte-identical, whatever it is", () => {
  const rest =
    '\n "messages" : [ {"content":"Gr\\u00f6\\u00dfe 世 \\ud83c\\udf89\\/","role":"user","x":{"a":1,"a":2}} ],' +
    ' "seed":12345678901234567890, "temperature":1.0, "top_p":1e-1,"logit_bias":{"50256":-100,"50256":-99},' +
    '"__proto__":{"x":1},"constructor":[], "x_unknown":{"svc":1,"model":"m","stream_options":null}, "n":1 ,"user":"é\u007f" }\n';
  expect(write(`{"model":"v/m",${rest}`)).toBe(`{"model":"up-1",${rest}`);
});

test("T53: for any unknown members, in any order, the body differs in nothing but the model", () => {
  const extra = fc.dictionary(
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 8 }).map((k) => `x_${k}`),
    fc.jsonValue(),
    { maxKeys: 5 },
  );
  fc.assert(
    fc.property(extra, fc.nat(6), fc.constantFrom("", " ", "\n\t"), (members, at, space) => {
      const parts = Object.entries(members).map(
        ([k, v]) => `${JSON.stringify(k)}${space}:${space}${JSON.stringify(v)}`,
      );
      const body = (model: string) => {
        const all = [...parts];
        all.splice(at % (all.length + 1), 0, `"model"${space}:${space}"${model}"`, M);
        return `{${space}${all.join(`${space},${space}`)}${space}}`;
      };
      expect(write(body("v/m"))).toBe(body("up-1"));
    }),
    { seed: 41, numRuns: 150 },
  );
});

describe("svc", () => {
  test.each([
    [`{"svc":{"compat":{}},"model":"m",${M}}`, `{"model":"up-1",${M}}`],
    [`{"model":"m","svc":{"compat":{}},${M}}`, `{"model":"up-1",${M}}`],
    [`{"model":"m",${M} , "svc" : {} }`, `{"model":"up-1",${M} }`],
    [`{"model":"m",${M},"svc":{"provider_options":{"a":"}],{\\""}}}`, `{"model":"up-1",${M}}`],
    [`{"model":"m",${M},"\\u0073vc":{}}`, `{"model":"up-1",${M}}`],
  ])("%s never reaches a provider", (body, expected) => {
    expect(write(body)).toBe(expected);
  });
});

describe("the usage switch", () => {
  const stream = (options: string) => `{"model":"m",${M},"stream":true${options}}`;

  test.each([
    ["is added where the client says nothing", "", ""],
    ["is added to the client's options", ',"stream_options":{}', ',"stream_options":{"include_usage":true}'],
    ["replaces null", ',"stream_options":null', ',"stream_options":{"include_usage":true}'],
    ["is turned on", ',"stream_options":{"include_usage":false}', ',"stream_options":{"include_usage":true}'],
    [
      "is turned on from null",
      ',"stream_options":{"include_usage": null }',
      ',"stream_options":{"include_usage": true }',
    ],
    [
      "leaves the other options as they came (T53)",
      ',"stream_options":{ "include_obfuscation":false,"big":12345678901234567890, "f":1.0,"t":"世" }',
      ',"stream_options":{ "include_obfuscation":false,"big":12345678901234567890, "f":1.0,"t":"世","include_usage":true }',
    ],
  ])("%s", (_, given, sent) => {
    const out = write(stream(given));
    const added = '"stream_options":{"include_usage":true},';
    expect(out).toBe(
      sent === ""
        ? `{${added}"model":"up-1",${M},"stream":true}`
        : `{"model":"up-1",${M},"stream":true${sent}}`,
    );
  });

  test("is left alone where it is on, and where nothing is streamed", () => {
    for (const body of [
      stream(',"stream_options":{"include_usage" : true}'),
      `{"model":"m",${M},"stream":false}`,
      `{"model":"m",${M},"stream_options":{"x":1}}`,
    ]) {
      expect(write(body)).toBe(body.replace('"m"', '"up-1"'));
    }
  });

  test("T2: an upstream that rejects the options never sees them", () => {
    const plain = `{"model":"up-1",${M},"stream":true}`;
    expect(write(stream(""), { streamUsage: false })).toBe(plain);
    expect(write(stream(',"stream_options":{"include_usage":true}'), { streamUsage: false })).toBe(plain);
    const all = `{"svc":{},"stream_options":{},"model":"m",${M},"stream":true}`;
    expect(write(all, { streamUsage: false })).toBe(plain);
  });
});

describe("the output bound", () => {
  test.each<[string, ProviderQuirks["maxTokensField"], string, string]>([
    ["keeps its name where either is taken", "either", '"max_tokens":5', '"max_tokens":5'],
    ["keeps the name that is wanted", "max_tokens", '"max_tokens":5', '"max_tokens":5'],
    ["takes the newer name", "max_completion_tokens", '"max_tokens": 5', '"max_completion_tokens": 5'],
    ["takes the older name", "max_tokens", '"max_completion_tokens":5', '"max_tokens":5'],
    ["does not stand twice", "max_tokens", '"max_tokens":5,"max_completion_tokens":9', '"max_tokens":9'],
    [
      "does not stand twice, the other way round",
      "max_tokens",
      '"max_completion_tokens":9,"max_tokens":5',
      '"max_tokens":9',
    ],
    [
      "does not stand twice beside null",
      "max_completion_tokens",
      '"max_tokens":5,"max_completion_tokens":null',
      '"max_completion_tokens":5',
    ],
    [
      "may be written with escapes",
      "max_completion_tokens",
      '"max\\u005ftokens":5',
      '"max_completion_tokens":5',
    ],
    ["is not invented", "max_tokens", '"temperature":0', '"temperature":0'],
  ])("%s", (_, maxTokensField, given, sent) => {
    expect(write(`{${given},"model":"m",${M}}`, { maxTokensField })).toBe(`{${sent},"model":"up-1",${M}}`);
    expect(write(`{"model":"m",${M},${given}}`, { maxTokensField })).toBe(`{"model":"up-1",${M},${sent}}`);
  });
});

test("all changes together, in any order of members, give one valid body", () => {
  const members = [
    '"model":"v/m"',
    M,
    '"stream":true',
    '"stream_options":{"x":"é"}',
    '"svc":{"metadata":{"app":"a"}}',
    '"max_tokens":4',
    '"max_completion_tokens":null',
    '"seed":1.0',
  ];
  fc.assert(
    fc.property(fc.shuffledSubarray(members, { minLength: members.length }), (order) => {
      const out = write(`{${order.join(",")}}`, { maxTokensField: "max_completion_tokens" });
      expect(JSON.parse(out)).toEqual({
        model: "up-1",
        messages: [{ role: "user", content: "x" }],
        stream: true,
        stream_options: { x: "é", include_usage: true },
        max_completion_tokens: 4,
        seed: 1,
      });
      expect(out).toContain('"seed":1.0');
      expect(out.match(/max_completion_tokens/g)).toHaveLength(1);
    }),
    { seed: 42, numRuns: 200 },
  );
});

test("a request may be written for several endpoints, and is not changed by it", () => {
  const body = Buffer.from(`{"model":"m",${M},"stream":true,"max_tokens":3}`);
  const before = Buffer.from(body);
  const request = readChatRequest(body);
  const first = spliceChatRequest(request, upstream({ maxTokensField: "max_completion_tokens" }));
  spliceChatRequest(request, upstream({ streamUsage: false }));
  expect(spliceChatRequest(request, upstream({ maxTokensField: "max_completion_tokens" }))).toEqual(first);
  expect(body).toEqual(before);
});
