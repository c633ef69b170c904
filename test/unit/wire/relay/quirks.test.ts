/** Bodies fitted to one provider, translated and spliced: the two ways must come to the same. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BodyQuirks, Provider } from "../../../../src/base/endpoint.ts";
import type { Written } from "../../../../src/wire/format.ts";
import { FORMATS } from "../../../../src/wire/formats.ts";
import { editedParts } from "../../../../src/wire/json/edited-bytes.ts";
import { removeMembers, skim } from "../../../../src/wire/json/json.ts";
import { jsonTextOf } from "../../../../src/wire/json/json-text.ts";
import { NO_OPTIONS, type SvcOptions } from "../../../../src/wire/neutral/contract.ts";
import { optionsFor } from "../../../../src/wire/relay/provider-options.ts";
import { applyQuirks, fitted, quirkEdits } from "../../../../src/wire/relay/quirks.ts";
import { provider as anyProvider, endpoint } from "../../../support/routing/fixtures.ts";

const providerWith = (quirks: Partial<BodyQuirks> = {}): Provider => {
  const own = anyProvider("acme");
  const chat: BodyQuirks = { rename: {}, unsupported: [], omit: [], set: {}, ...quirks };
  return { ...own, quirks: { ...own.quirks, bodies: { chat } } };
};

const options = (acme: unknown): SvcOptions => ({
  ...NO_OPTIONS,
  providerOptions: { acme: JSON.stringify(acme), other: '{"x":1}' },
});

/** As a body for the platform's credential has them. */
const optionsAt = (provider: Provider, svc: SvcOptions) =>
  optionsFor(svc, endpoint("e", { provider }), "chat", "platform");

const translated = (body: object, provider: Provider, svc = NO_OPTIONS) =>
  asWritten(fitted({ body, dropped: ["/before"] }, optionsAt(provider, svc), provider, "chat"));

const asWritten = ({ body, dropped }: Written) => ({
  body: JSON.parse(jsonTextOf(body)) as unknown,
  dropped,
});

function spliced(body: object, provider: Provider, svc = NO_OPTIONS) {
  const bytes = Buffer.from(JSON.stringify(body));
  const { members } = skim(bytes.toString("latin1"));
  const { edits, remove, dropped } = quirkEdits(members, optionsAt(provider, svc), provider, "chat");
  const parts = editedParts(bytes, [...edits, ...removeMembers(members, remove)]);
  return { body: JSON.parse(Buffer.concat(parts).toString()) as unknown, dropped };
}

describe("quirks", () => {
  test("members are renamed, left out with and without a word, and added", () => {
    const provider = providerWith({
      rename: { seed: "random_seed" },
      unsupported: ["logprobs"],
      omit: ["model"],
      set: { version: "v1" },
    });
    const body = { model: "m", seed: 7, logprobs: true, messages: [] };
    const fit = { random_seed: 7, messages: [], version: "v1" };
    expect(translated(body, provider)).toEqual({ body: fit, dropped: ["/before", "/logprobs"] });
    expect(spliced(body, provider)).toEqual({ body: fit, dropped: ["/logprobs"] });
  });

  test("where both names stand, the provider's own counts and the other is told", () => {
    const provider = providerWith({ rename: { seed: "random_seed" } });
    const body = { seed: 7, random_seed: 8 };
    expect(translated(body, provider)).toEqual({ body: { random_seed: 8 }, dropped: ["/before", "/seed"] });
    expect(spliced(body, provider)).toEqual({ body: { random_seed: 8 }, dropped: ["/seed"] });
  });

  test("they are those of one dialect, and a body that departs in nothing stays itself", () => {
    const provider = providerWith({ unsupported: ["logprobs"] });
    const body = { logprobs: true };
    expect(applyQuirks(body, "responses", provider.quirks).body).toBe(body);
    const other = { messages: [] };
    expect(applyQuirks(other, "chat", provider.quirks).body).toBe(other);
    const written = { body: other, dropped: [] };
    expect(fitted(written, optionsAt(provider, NO_OPTIONS), provider, "chat")).toBe(written);
  });
});

describe("options for one provider", () => {
  test("reach it, before or instead of the body's; no other provider's do", () => {
    const svc = options({ safe_prompt: true, temperature: 0.1 });
    const body = { temperature: 1, messages: [] };
    const fit = { temperature: 0.1, messages: [], safe_prompt: true };
    expect(translated(body, anyProvider("acme"), svc)).toEqual({ body: fit, dropped: ["/before"] });
    expect(spliced(body, anyProvider("acme"), svc)).toEqual({ body: fit, dropped: [] });
    const elsewhere = anyProvider("elsewhere");
    const other = fitted({ body, dropped: [] }, optionsAt(elsewhere, svc), elsewhere, "chat");
    expect(other.body).toBe(body);
  });

  test("T29: none changes what was planned, counted and paid for", () => {
    const asked = { model: "dear", n: 9, max_tokens: 1e6, messages: [{}], stream: true, tools: [{}], ok: 1 };
    const body = { model: "m", max_tokens: 5, messages: [] };
    const refused = ["model", "n", "max_tokens", "messages", "stream", "tools"];
    const dropped = refused.map((name) => `/svc/provider_options/acme/${name}`);
    const fit = { ...body, ok: 1 };
    expect(spliced(body, anyProvider("acme"), options(asked))).toEqual({ body: fit, dropped });
    expect(translated(body, anyProvider("acme"), options(asked))).toEqual({
      body: fit,
      dropped: ["/before", ...dropped],
    });
  });

  test("of an object that holds bounds beside other things, the other things are joined", () => {
    const svc = options({ generationConfig: { maxOutputTokens: 9999, topK: 3 }, inferenceConfig: 7 });
    const body = { generationConfig: { maxOutputTokens: 5, temperature: 1 } };
    expect(translated(body, anyProvider("acme"), svc)).toEqual({
      body: { generationConfig: { maxOutputTokens: 5, temperature: 1, topK: 3 } },
      dropped: [
        "/before",
        "/svc/provider_options/acme/generationConfig/maxOutputTokens",
        "/svc/provider_options/acme/inferenceConfig",
      ],
    });
  });

  test("a member of any name is carried as one", () => {
    const svc = options(JSON.parse('{"__proto__":{"a":1},"é":2}'));
    const text = '{"é":2,"messages":[],"__proto__":{"a":1}}';
    const body = { é: 1, messages: [] };
    expect(translated(body, anyProvider("acme"), svc).body).toEqual(JSON.parse(text));
    expect(spliced(body, anyProvider("acme"), svc).body).toEqual(JSON.parse(text));
  });

  test("what is no object is told", () => {
    expect(spliced({ a: 1 }, anyProvider("acme"), options("x"))).toEqual({
      body: { a: 1 },
      dropped: ["/svc/provider_options/acme"],
    });
  });
});

test("spliced and translated come to the same, whatever the members and the quirks", () => {
  const names = ["a", "b", "c", "d", "é", "__proto__", "constructor", "hasOwnProperty"];
  const name = fc.constantFrom(...names);
  const json = fc.jsonValue({ maxDepth: 1 });
  const quirks = fc.record({
    rename: fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom("x", "y", "d")).filter(distinct),
    unsupported: fc.uniqueArray(fc.constantFrom("c", "constructor")),
    omit: fc.uniqueArray(fc.constantFrom("d", "hasOwnProperty")),
    set: fc.dictionary(fc.constantFrom("z", "c", "é"), json),
  });
  fc.assert(
    fc.property(fc.uniqueArray(name), fc.array(json, { minLength: 8 }), quirks, (keys, values, given) => {
      // `messages` is in every body.
      const text = `{${[...keys.map((k, i) => `${JSON.stringify(k)}:${JSON.stringify(values[i])}`), '"messages":[]'].join()}}`;
      const body = JSON.parse(text) as Record<string, unknown>;
      const provider = providerWith(given);
      const one = applyQuirks(body, "chat", provider.quirks);
      const other = spliced(body, provider);
      expect(other.body).toEqual(JSON.parse(JSON.stringify(one.body)));
      expect([...other.dropped].sort()).toEqual([...one.dropped].sort());
    }),
    { numRuns: 500 },
  );
});

const distinct = (rename: Record<string, string>) =>
  new Set(Object.values(rename)).size === Object.keys(rename).length;

test.each(["chat", "responses", "messages", "embeddings"] as const)(
  "%s: a model that has another place is left out, wherever it stands and whatever goes with it",
  (name) => {
    const format = FORMATS[name];
    const { splice } = format;
    if (splice === undefined) throw new Error("no splice");
    const body: BodyQuirks = { rename: {}, unsupported: ["seed"], omit: ["model"], set: { version: "v1" } };
    const own = anyProvider("acme");
    const given = { ...own, quirks: { ...own.quirks, bodies: { [splice.dialect]: body } } };
    const to = endpoint("e", { provider: given, dialects: [splice.dialect] });
    const rest = ['"messages":[{"role":"user","content":"x"}]', '"input":"x"', '"max_tokens":9'];
    const stream = name === "embeddings" ? [] : ['"stream":true'];
    const ours = ['"model":"v/m"', '"seed":1', '"svc":{"metadata":{"app":"a"}}'];
    for (const members of [
      [...ours, ...rest],
      [...rest, ...ours],
      ['"seed":1', ...rest, ...ours.toSpliced(1, 1)],
    ]) {
      const request = format.read(Buffer.from(`{${[...members, ...stream].join()}}`));
      const sent = JSON.parse(Buffer.concat(splice.passage.write(request, to).parts).toString()) as object;
      expect(sent).toMatchObject({ input: "x", max_tokens: 9, version: "v1" });
      expect("model" in sent || "seed" in sent || "svc" in sent).toBe(false);
      expect("stream_options" in sent).toBe(name === "chat");
    }
  },
);
