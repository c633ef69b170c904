/** What changes a provider's bill, asked for in ways that its table does not spell: other names, other places, two places at once. */
import { describe, expect, test } from "vitest";
import type { UnitPrices } from "../../../src/base/money.ts";
import { chatReport } from "../../../src/wire/chat/read-reply.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import { passageTo } from "../../../src/wire/passages.ts";
import { responsesReport } from "../../../src/wire/responses/read-reply.ts";
import { endpoint, provider } from "../../support/routing/fixtures.ts";

type Name = "chat" | "responses" | "messages";

const PRICES: UnitPrices = {
  version: "v",
  input: 1000,
  output: 1000,
  tiers: {
    priority: { input: 2000, output: 2000 },
    flex: { input: 500, output: 500 },
    fast: { input: 6000, output: 6000 },
    us: { input: 1100, output: 1100 },
  },
  serverTools: { web_search: 10_000_000, code_interpreter: 30_000_000, browser_search: 5_000_000 },
};

function written(name: Name, members: object, options: object = {}, prices: UnitPrices = PRICES) {
  const turns =
    name === "responses"
      ? { input: "x" }
      : { max_tokens: 1, messages: [{ role: "user", content: [{ type: "text", text: "x" }] }] };
  const format = FORMATS[name];
  const to = { ...endpoint("e", { provider: provider("p"), dialects: [name] }), prices };
  const svc = { provider_options: { p: options } };
  const request = format.read(Buffer.from(JSON.stringify({ model: "v/m", ...turns, ...members, svc })));
  const out = passageTo(format, to)?.passage.write(request, to);
  if (out === undefined) throw new Error(`no passage for ${name}`);
  return { ...out, sent: JSON.parse(Buffer.concat(out.parts).toString()) };
}

/** The same of a body in the client's own words. */
function writtenText(name: Name, body: string, prices: UnitPrices) {
  const format = FORMATS[name];
  const to = { ...endpoint("e", { provider: provider("p"), dialects: [name] }), prices };
  const request = format.read(Buffer.from(body));
  const out = passageTo(format, to)?.passage.write(request, to);
  if (out === undefined) throw new Error(`no passage for ${name}`);
  return { ...out, text: Buffer.concat(out.parts).toString() };
}

const PLAIN: UnitPrices = { version: "v", input: 1000, output: 1000 };

/** An object that cannot be made a text. */
const NO_TEXT = { toString: 1, valueOf: 1 };

test.each<[Name, object]>([
  ["chat", { type: "function", function: { name: "f" } }],
  ["responses", { type: "function", name: "f" }],
  ["messages", { name: "f", input_schema: { type: "object" } }],
])(
  "T12: %s: a tool without a price, in a list that the provider does not take, leaves valid JSON",
  (name, own) => {
    const quirks = {
      ...provider("p").quirks,
      bodies: { [name]: { rename: {}, unsupported: ["tools"], omit: [], set: {} } },
    };
    const to = {
      ...endpoint("e", { provider: { ...provider("p"), quirks }, dialects: [name] }),
      prices: PLAIN,
    };
    for (const tools of [
      [{ type: "web_search_20250305", name: "web_search" }, own],
      [own, { type: "new_tool" }],
      [0, own],
    ]) {
      const turns =
        name === "responses" ? { input: "x" } : { max_tokens: 1, messages: [{ role: "user", content: "x" }] };
      const request = FORMATS[name].read(Buffer.from(JSON.stringify({ model: "v/m", tools, ...turns })));
      const out = passageTo(FORMATS[name], to)?.passage.write(request, to);
      expect(JSON.parse(Buffer.concat(out?.parts ?? []).toString())).toEqual({ model: "e", ...turns });
      expect(out?.dropped).toContain("/tools");
    }
  },
);

test.each<[Name, object]>([
  ["chat", { modalities: NO_TEXT }],
  ["chat", { modalities: [NO_TEXT] }],
  ["responses", { include: [NO_TEXT], tools: [{ type: "web_search" }] }],
  [
    "responses",
    {
      tools: [{ type: "mcp", server_label: "a" }],
      tool_choice: { type: "mcp", server_label: NO_TEXT },
    },
  ],
])("S9: an object whose methods are none is no failure: %s, %j", (name, members) => {
  expect(() => written(name, members, {}, PLAIN)).not.toThrow();
});

describe("a body", () => {
  test.each<[Name, object, string]>([
    // Some providers read names of members without case or separators.
    ["chat", { Service_Tier: "priority" }, "/Service_Tier"],
    ["chat", { serviceTier: "priority" }, "/serviceTier"],
    ["chat", { "\u017fervice_tier": "priority" }, "/\u017fervice_tier"],
    ["messages", { InferenceGeo: "us" }, "/InferenceGeo"],
    // Members of other dialects: providers that speak several read them in all.
    ["responses", { speed: "fast" }, "/speed"],
    ["responses", { web_search_options: {} }, "/web_search_options"],
    ["messages", { web_search_options: {} }, "/web_search_options"],
    ["chat", { anthropic_beta: ["context-1m-2025-08-07"] }, "/anthropic_beta/0"],
    ["chat", { fallbacks: [{ model: "dearer" }] }, "/fallbacks"],
    ["chat", { cachedContent: "cachedContents/1" }, "/cachedContent"],
    // Another model has another price.
    ["chat", { Models: ["dearer"] }, "/Models"],
    ["responses", { Models: ["dearer"] }, "/Models"],
    ["messages", { Models: ["dearer"] }, "/Models"],
    // The answer would come later, to the platform's account alone: it could not be charged.
    ["chat", { deferred: true }, "/deferred"],
    ["responses", { Background: true }, "/Background"],
    // Bodies within bodies.
    ["chat", { extra_body: { background: true } }, "/extra_body/background"],
    ["chat", { extra_body: { model: "dearer" } }, "/extra_body/model"],
    ["chat", { extra_body: { service_tier: "priority", seed: 1 } }, "/extra_body/service_tier"],
    [
      "chat",
      { extra_body: { google: { cached_content: "cachedContents/1" } } },
      "/extra_body/google/cached_content",
    ],
  ])("S3: %s: %j is left out without a price", (name, members, pointer) => {
    expect(written(name, members, {}, PLAIN).dropped).toEqual([pointer]);
  });

  test.each<[string, string, string]>([
    ["escaped", String.raw`"\u017fervice_tier":"priority"`, "/\u017fervice_tier"],
    ["escaped in part", String.raw`"\u017fervice\u005ftier":"priority"`, "/\u017fervice_tier"],
    [
      "escaped within",
      String.raw`"extra_body":{"seed":1,"\u017fervice_tier":"priority"}`,
      "/extra_body/\u017fervice_tier",
    ],
    // As text of one byte a character, the second name looks like the first one.
    [
      "beside a name that looks like it",
      String.raw`"\u017fervice_tier":"priority","\u00c5\u00bfervice_tier":null`,
      "/\u017fervice_tier",
    ],
    [
      "behind a name that looks like it",
      `"\u017fervice_tier":"priority",${String.raw`"\u00c5\u00bfervice_tier":null`}`,
      "/\u017fervice_tier",
    ],
  ])("S3: a name beyond ASCII is left out however it is written: %s", (_, members, pointer) => {
    const body = `{"model":"v/m","messages":[{"role":"user","content":"x"}],${members}}`;
    const out = writtenText("chat", body, PLAIN);
    expect(out.dropped).toEqual([pointer]);
    expect(out.extras?.unpriced).toEqual([expect.stringContaining("ervice_tier=priority")]);
    expect(out.text).not.toContain("priority");
    expect(() => JSON.parse(out.text)).not.toThrow();
  });

  test("S3: a member beyond ASCII has a long text, which is no JSON", () => {
    const body = `{"model":"v/m","messages":[{"role":"user","content":"x"}],"\u00e9":"${"\\n".repeat(5000)}"}`;
    const refused = () => writtenText("chat", body.replaceAll("\\n", "\n"), PLAIN);
    expect(refused).toThrow(expect.objectContaining({ kind: "invalid_json" }));
    expect(writtenText("chat", body, PLAIN).dropped).toEqual([]);
    const tier = body.replace("\u00e9", "\u017fervice_tier");
    expect(writtenText("chat", tier, PLAIN).dropped).toEqual(["/\u017fervice_tier"]);
  });

  test.each<[Name, object]>([
    ["chat", { plugins: [{ id: "file-parser", pdf: { engine: "mistral-ocr" } }] }],
    ["chat", { plugins: [{ id: "web" }, { id: "file-parser" }] }],
    [
      "responses",
      { tools: [{ type: "code_interpreter", container: { type: "auto", memory_limit: "64g" } }] },
    ],
  ])("S3: %s: what is dearer than the tool's price is left out: %j", (name, members) => {
    expect(written(name, members).dropped).not.toEqual([]);
    expect(written(name, members).sent).not.toHaveProperty(Object.keys(members)[0] as string);
  });

  test("S3: the usual forms of these are sent at the tool's price", () => {
    const code = { tools: [{ type: "code_interpreter", container: { type: "auto", memory_limit: "1g" } }] };
    expect(written("responses", code).dropped).toEqual([]);
    expect(written("chat", { plugins: [{ id: "web" }] }).dropped).toEqual([]);
  });
});

const many = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`service${"_".repeat(i % 90)}${"-".repeat(i / 90)}tier`, "x"]),
  );

test("S3: a body asks for so much and no more: each is sought and taken out one by one", () => {
  expect(() => written("chat", { extra_body: many(2000) })).toThrow("more than 1000 tiers");
  expect(written("chat", { extra_body: many(500) }, {}, PLAIN).dropped).toHaveLength(500);
});

describe("options for a provider beside a body", () => {
  test("S3: two tiers without a price together are not both sent, one in each", () => {
    const out = written("messages", { speed: "fast" }, { inference_geo: "us" });
    expect(out.sent).not.toHaveProperty("inference_geo");
    expect(out.extras).toMatchObject({ tiers: { speed: "fast" }, unpriced: ["inference_geo=us"] });
  });

  test("S3: a tier that an option takes back is not charged, be it cheaper or dearer", () => {
    const out = written("chat", { service_tier: "flex" }, { service_tier: "auto" });
    expect(out.sent.service_tier).toBe("auto");
    expect(out.extras?.tiers).toEqual({});
  });

  test("S3: a tier in another spelling does not hide the body's own", () => {
    const out = written("chat", { service_tier: "priority" }, { serviceTier: "flex" });
    expect(out.extras?.tiers).toEqual({ tier: "priority" });
    expect(out.sent).not.toHaveProperty("serviceTier");
  });

  test.each<[Name, object]>([
    ["responses", { background: true }],
    ["responses", { Background: true }],
    ["chat", { deferred: true }],
    ["chat", { extra_body: { model: "dearer" } }],
  ])(
    "S3: %s: an answer that would come later, or of another model, cannot be asked for: %j",
    (name, options) => {
      const [member] = Object.keys(options);
      const out = written(name, {}, options);
      expect(out.sent).not.toHaveProperty(member as string);
      expect(out.dropped).toEqual([`/svc/provider_options/p/${member}`]);
    },
  );

  test("S3: a member that says no is sent as it is", () => {
    const off = { background: false };
    expect(written("responses", off, {}, PLAIN)).toMatchObject({ dropped: [], sent: off });
    expect(written("chat", { deferred: false }, {}, PLAIN).dropped).toEqual([]);
  });
});

describe("an answer", () => {
  test("S3: a count that cannot be true is none", () => {
    const report = (count: number) =>
      chatReport({ usage: { server_tool_use: { web_search_requests: count } } });
    for (const count of [Number.MAX_SAFE_INTEGER, 1e9, -3, 2.5]) expect(report(count)).toBeUndefined();
    expect(report(12)?.uses).toEqual({ web_search: 12 });
  });

  test("S3: a shell that the provider runs shows in what it put out", () => {
    const output = [{ type: "shell_call" }, { type: "shell_call_output" }];
    expect(responsesReport({ output })?.uses).toEqual({ shell: 1 });
    expect(responsesReport({ output: [{ type: "shell_call" }] })).toBeUndefined();
  });

  test("S3: a chat tool of which the dialect reports no uses counts as one", () => {
    for (const type of ["browser_search", "web_search", "code_interpreter"])
      expect(written("chat", { tools: [{ type }] }).extras?.assumed).toEqual({ [type]: 1 });
  });
});
