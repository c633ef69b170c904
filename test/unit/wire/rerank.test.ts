/** Rankings at both ends: what clients send and get, what each upstream is sent and answers. */
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import type { Dialect } from "../../../src/base/endpoint.ts";
import { WeirError } from "../../../src/base/errors.ts";
import type { Passage } from "../../../src/wire/format.ts";
import { rerankFormat } from "../../../src/wire/rerank/format.ts";
import { rerankPassage } from "../../../src/wire/rerank/passages.ts";
import { rerankReplySchema } from "../../../src/wire/rerank/schema.ts";
import { searchUnitBound } from "../../../src/wire/rerank/units.ts";
import { rounds } from "../../support/effort.ts";
import { bytesOf, IDENTITY, refusal, UPSTREAM } from "../../support/wire/embeddings.fixtures.ts";
import { type Json, SVC, usage } from "../../support/wire/fixtures.ts";

const ASKED: Json = { model: "vendor/m", query: "Wo?", documents: ["dort", "hier ü", "da"] };
const read = (body: Json = {}) => rerankFormat.read(bytesOf({ ...ASKED, ...body }));

function passageTo(dialect: Dialect): Passage {
  const passage = rerankPassage(dialect);
  if (passage === undefined) throw new Error(`no way to ${dialect}`);
  return passage;
}

function sent(body: Json, dialect: Dialect): { body: Json; dropped: readonly string[] } {
  const { parts, dropped } = passageTo(dialect).write(read(body), UPSTREAM);
  return { body: JSON.parse(Buffer.concat(parts).toString()) as Json, dropped };
}

function answered(body: Json, reply: unknown, dialect: Dialect) {
  const whole = passageTo(dialect).whole(bytesOf(reply), read(body), IDENTITY);
  const json = JSON.parse(whole.write(whole.facts.usage ?? usage(13, 0), SVC).toString()) as Json;
  return { json, facts: whole.facts, error: whole.error };
}

const RESULTS = [
  { index: 1, relevance_score: 0.98 },
  { index: 0, relevance_score: 0.25 },
];

/** Answers as the providers' references show them. */
const REPLIES: Readonly<Partial<Record<Dialect, Json>>> = {
  cohere: {
    id: "07734bd2-2473-4f07-94e1-0d9f0e6843cf",
    results: RESULTS,
    meta: { api_version: { version: "2", is_experimental: false }, billed_units: { search_units: 1 } },
  },
  jina: {
    model: "up",
    object: "list",
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 815 },
    results: RESULTS,
  },
  voyage: { object: "list", data: RESULTS, model: "up", usage: { total_tokens: 26 } },
};
const DIALECTS = Object.keys(REPLIES) as Dialect[];
const USAGE: Readonly<Partial<Record<Dialect, ReturnType<typeof usage>>>> = {
  cohere: usage(0, 0, { searchUnits: 1 }),
  jina: usage(815, 0),
  voyage: usage(26, 0),
};
const replyOf = (dialect: Dialect): Json => REPLIES[dialect] as Json;

describe("a request is read", () => {
  test("nothing is generated, and no tokenizer need count: the query is read once a document", () => {
    const { facts, documents, hasOpaque } = read({ query: "q".repeat(400) });
    expect(facts).toMatchObject({ choices: 1, maxTokens: 0, stream: false, searchUnits: 1 });
    expect([documents, hasOpaque]).toEqual([3, true]);
    expect(facts.promptTokens).toBeGreaterThanOrEqual(300);
  });

  test("long documents count, though they are not built", () => {
    const { facts, elided } = read({ documents: ["x".repeat(8000), "", "y".repeat(6000)] });
    expect(elided).toHaveLength(2);
    expect(facts.promptTokens).toBeGreaterThan(3500);
    expect(facts.longestTokens).toBe(2001);
  });

  test.each([
    [{ query: undefined }, "invalid_value", "/query"],
    [{ documents: [] }, "invalid_value", "/documents"],
    [{ documents: ["a", { text: "b" }] }, "invalid_value", "/documents/1"],
    [{ top_n: 0 }, "invalid_value", "/top_n"],
    [{ return_documents: 1 }, "invalid_value", "/return_documents"],
    [{ max_chunks: 1 }, "invalid_value", "/max_chunks"],
    [{ stream: true }, "unsupported_option", "/stream"],
    [{ route: { providers: { only: [""] } } }, "invalid_value", "/route/providers/only/0"],
  ])("refuses %j", (body, kind, param) => {
    expect(refusal(() => read(body))).toEqual({ kind, param });
  });

  test("our options stand at its top", () => {
    expect(read({ route: { sort: "price" }, stream: false, top_n: null }).svc.route).toEqual({
      sort: "price",
    });
  });

  test("is plain data, so that it can cross to another thread", () => {
    const { bytes: _, ...request } = read({ top_n: 2 });
    expect(structuredClone(request)).toEqual(request);
  });

  test("what a tokenizer would read has the query once a document", () => {
    expect(rerankFormat.promptTexts(read())).toEqual(['"Wo?"', '["dort","hier ü","da"]', '"Wo?"', '"Wo?"']);
  });
});

describe("search units", () => {
  const documents = (count: number, bytes: number): number[] => Array<number>(count).fill(bytes);

  test.each([
    [1, 10, 1],
    [100, 100, 1],
    [101, 100, 2],
    [1000, 100, 10],
  ])("%i documents of %i bytes are at most %i", (count, bytes, units) => {
    expect(searchUnitBound(40, documents(count, bytes))).toBe(units);
  });

  test("a document beyond 500 tokens with its query is billed as several", () => {
    expect(searchUnitBound(40, documents(100, 960))).toBe(1);
    expect(searchUnitBound(40, documents(100, 970))).toBe(2);
    // A query of any length leaves half of that to the document.
    expect(searchUnitBound(1e6, documents(100, 500))).toBe(1);
    expect(searchUnitBound(1e6, documents(100, 510))).toBe(2);
  });
});

describe("an upstream is sent", () => {
  const said = { top_n: 2, return_documents: true };
  const { query, documents } = ASKED;

  test.each<[Dialect, Json]>([
    ["cohere", { model: "up", query, documents, top_n: 2 }],
    ["jina", { model: "up", query, documents, top_n: 2, return_documents: false }],
    ["voyage", { model: "up", query, documents, top_k: 2, truncation: false }],
  ])("%s: all of it in its words; the documents need not come back", (dialect, body) => {
    expect(sent(said, dialect)).toEqual({ body, dropped: [] });
  });

  test("options for the provider, and what is settled is named", () => {
    const provider_options = { "p-e": { max_tokens_per_doc: 100, query: "other" } };
    const { body, dropped } = sent({ provider_options }, "cohere");
    expect(body).toMatchObject({ max_tokens_per_doc: 100, query });
    expect(dropped).toHaveLength(1);
  });

  test("T57: a long document goes over as the bytes that it came in", () => {
    const long = `é"\\${"x".repeat(9000)}😀`;
    const request = read({ documents: ["a", long] });
    for (const dialect of DIALECTS) {
      const { parts } = passageTo(dialect).write(request, UPSTREAM);
      expect((JSON.parse(Buffer.concat(parts).toString()) as Json).documents).toEqual(["a", long]);
      expect(parts.some((part) => part.buffer === request.bytes.buffer && part.length > 9000)).toBe(true);
    }
  });

  test("no way where there is none, no stream anywhere", () => {
    expect(rerankPassage("openai_embeddings")).toBeUndefined();
    for (const dialect of DIALECTS) {
      const stream = () => passageTo(dialect).stream(read(), IDENTITY);
      expect(refusal(stream)).toEqual({ kind: "unsupported_option", param: "/stream" });
    }
  });
});

describe.each(DIALECTS)("an answer of %s", (dialect) => {
  test("becomes ours, with what was billed", () => {
    const { json, facts } = answered({}, replyOf(dialect), dialect);
    const used = USAGE[dialect];
    expect(facts.usage).toEqual(used);
    expect(json).toEqual({
      object: "rerank",
      id: IDENTITY.id,
      model: IDENTITY.model,
      results: RESULTS,
      usage: { input_tokens: used?.inputTokens, search_units: used?.searchUnits ?? 0, source: "provider" },
      resolved: { provider: SVC.provider, endpoint_id: SVC.endpoint_id },
      cost: SVC.cost,
      warnings: [],
    });
    expect(rerankReplySchema.safeParse(json).error).toBeUndefined();
  });

  test("has the documents where the client asked for them, long ones too", () => {
    const long = `é"\\${"x".repeat(9000)}😀`;
    const body = { documents: [long, "hier ü", "da"], return_documents: true };
    const { json } = answered(body, replyOf(dialect), dialect);
    expect(json.results).toEqual([
      { ...RESULTS[0], document: { text: "hier ü" } },
      { ...RESULTS[1], document: { text: long } },
    ]);
  });

  test("has no more than was asked for", () => {
    expect(answered({ top_n: 1 }, replyOf(dialect), dialect).json.results).toEqual([RESULTS[0]]);
  });

  test("without a report is estimated, not free", () => {
    const { usage: _, meta: __, ...silent } = replyOf(dialect);
    const { json, facts } = answered({}, silent, dialect);
    expect(facts).toMatchObject({ usage: undefined, unreportedBytes: 0 });
    expect(facts.outputBytes).toBeGreaterThan(0);
    expect(json.usage).toEqual({ input_tokens: 13, search_units: 0, source: "estimated" });
  });

  test("is refused where a place is none of the documents', or said twice", () => {
    const key = dialect === "voyage" ? "data" : "results";
    for (const index of [3, -1, 0.5, "1", 0, null]) {
      const results = [
        { index: 0, relevance_score: 1 },
        { index, relevance_score: 0 },
      ];
      const act = () => answered({}, { ...replyOf(dialect), [key]: results }, dialect);
      expect(refusal(act).kind).toBe("upstream_invalid_response");
    }
    for (const results of [undefined, {}, [null], [{ index: 0 }], [{ index: 0, relevance_score: "1" }]]) {
      const act = () => answered({}, { ...replyOf(dialect), [key]: results }, dialect);
      expect(refusal(act).kind).toBe("upstream_invalid_response");
    }
  });

  test("with an error and status 200 is an error", () => {
    const { error, facts } = answered({}, { error: { message: "no" } }, dialect);
    expect(error?.message).toBe("no");
    expect(facts.outputBytes).toBe(0);
  });

  test("T12: damaged requests and answers are refused as they should be, or give JSON", () => {
    const random = seededRandom(DIALECTS.indexOf(dialect) + 11);
    const pieces = ['"', "\\", "{", "}", "[", "]", ",", ":", "null", "-1", "1e999", '"index":', '"results":'];
    const damaged = (bytes: Buffer): Buffer => {
      const at = Math.floor(random() * bytes.length);
      const to = random() < 0.5 ? at : Math.min(bytes.length, at + Math.floor(random() * 30));
      const piece = random() < 0.7 ? (pieces[Math.floor(random() * pieces.length)] ?? "") : "";
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(piece), bytes.subarray(to)]);
    };
    const typed = <T>(act: () => T): T | undefined => {
      try {
        return act();
      } catch (error) {
        if (!(error instanceof WeirError) || error.kind === "internal") throw error;
        return undefined;
      }
    };
    const body = bytesOf({ ...ASKED, top_n: 2, return_documents: true, metadata: { app: "é" } });
    const reply = bytesOf(replyOf(dialect));
    const asked = rerankFormat.read(body);
    const all = rounds(1500);
    let good = 0;
    for (let i = 0; i < all; i++) {
      const request = typed(() => rerankFormat.read(damaged(body)));
      const out = request && typed(() => passageTo(dialect).write(request, UPSTREAM));
      if (out !== undefined) JSON.parse(Buffer.concat(out.parts).toString());
      const whole = typed(() => passageTo(dialect).whole(damaged(reply), asked, IDENTITY));
      if (whole === undefined || whole.error !== undefined) continue;
      const json: unknown = JSON.parse(whole.write(usage(1, 0), SVC).toString());
      expect(rerankReplySchema.safeParse(json).error).toBeUndefined();
      if (out !== undefined) good++;
    }
    expect(good).toBeGreaterThan(all / 150);
  });
});
