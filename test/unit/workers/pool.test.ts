import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, describe, expect, it } from "vitest";
import { LAYOUT, readRecord } from "../../../src/record/columns.ts";
import { decodeRow, encodeRow } from "../../../src/record/row.ts";
import { RowBinaryReader } from "../../../src/record/row-binary.ts";
import { openPool } from "../../../src/workers/pool.ts";
import { distinctRecord, record } from "../../support/analytics/records.ts";

const pool = openPool();
afterAll(() => pool.close());

const joined = (rows: readonly Uint8Array[]) => ({
  bytes: new Uint8Array(Buffer.concat(rows)),
  lengths: Uint32Array.from(rows, (r) => r.length),
});

describe("counting tokens", () => {
  it("is exact for text as people write it, control tokens as text included", async () => {
    const texts = [
      "",
      "hello world",
      "नमस्ते दुनिया, wie geht's? 😀\n\n\tcode();",
      "漢字かな交じり文。".repeat(20),
    ];
    expect(await pool.countTokens(texts, "o200k_base")).toEqual(texts.map((text) => countTokens(text)));
    expect(await pool.countTokens(["<|endoftext|>"], "o200k_base")).toEqual([
      countTokens("<|endoftext|>", { allowedSpecial: new Set(), disallowedSpecial: new Set() }),
    ]);
  });

  it("of an unbroken run is at most a token a slice over", async () => {
    const run = "Donaudampfschifffahrtsgesellschaft".repeat(60);
    const [counted = 0] = await pool.countTokens([run], "o200k_base");
    const exact = countTokens(run);
    expect(counted).toBeGreaterThanOrEqual(exact - 1);
    expect(counted).toBeLessThanOrEqual(exact + Math.ceil(run.length / 256) + 1);
  });

  it("refuses what waits beyond the bound", async () => {
    const small = openPool({ maxWaiting: 2 });
    const results = await Promise.allSettled(
      Array.from({ length: 6 }, () => small.countTokens(["x"], "o200k_base")),
    );
    expect(results.map((r) => r.status)).toContain("rejected");
    expect(results.map((r) => r.status)).toContain("fulfilled");
    await small.close();
  });
});

describe("a row of the outbox", () => {
  const distinct = distinctRecord();

  it("comes back as the record it was, with and without payload", () => {
    expect(decodeRow(encodeRow(distinct))).toEqual(distinct);
    const { request, response, ...without } = distinct;
    expect(decodeRow(encodeRow(without))).toEqual(without);
  });

  it("is finished with its payload redacted, and hands its buffers over", async () => {
    const secret = record({ request: Buffer.from('{"key":"sk-aaaaaaaaaaaaaaaaaaaaaaaa"}') });
    const input = joined([encodeRow(distinct), encodeRow(secret)]);
    const finished = await pool.finish(input);
    expect(input.bytes.length).toBe(0);
    expect(finished).toMatchObject({ payloadsLost: 0, undecodable: [] });
    expect([finished.requests.rows, finished.payloads.rows]).toEqual([2, 2]);
    const text = Buffer.from(finished.payloads.bytes).toString("latin1");
    expect(text).toContain("[REDACTED:api_key]");
    expect(text).not.toContain("sk-aaaa");
  });

  it("is finished with what it tells of its error redacted, also where its payload is not kept", async () => {
    const secret = "sk-aaaaaaaaaaaaaaaaaaaaaaaa";
    const told = { param: `/${secret}`, status: 400, details: { upstream_code: secret } };
    const { request, response, ...refused } = record({
      payloadState: "off",
      redact: { presets: ["api_key"], patterns: [] },
      errorCode: "invalid_value",
      errorMessage: `${secret} is no model`,
      errorDetails: JSON.stringify(told),
    });
    const finished = await pool.finish(joined([encodeRow(refused)]));
    const stored = readRecord(new RowBinaryReader(Buffer.from(finished.requests.bytes), 0), LAYOUT);
    expect(stored.errorMessage).toBe("[REDACTED:api_key] is no model");
    expect(JSON.parse(stored.errorDetails)).toEqual({
      param: "/[REDACTED:api_key]",
      status: 400,
      details: { upstream_code: "[REDACTED:api_key]" },
    });
    const unreadable = { ...refused, redact: { presets: [], patterns: ["("] } };
    const without = await pool.finish(joined([encodeRow(unreadable)]));
    const row = readRecord(new RowBinaryReader(Buffer.from(without.requests.bytes), 0), LAYOUT);
    expect([row.errorCode, row.errorMessage, row.errorDetails]).toEqual(["invalid_value", "", ""]);
  });

  it("that is damaged anywhere never throws (each cut, each flipped byte of the head)", async () => {
    const bytes = encodeRow(distinct);
    const damaged: Uint8Array[] = [];
    for (let cut = 0; cut < bytes.length; cut++) damaged.push(bytes.slice(0, cut));
    for (let at = 0; at < 60; at++) {
      const copy = Uint8Array.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ 0xff;
      damaged.push(copy);
    }
    for (const row of damaged) decodeRow(row);
    const finished = await pool.finish(joined([...damaged, bytes]));
    expect(finished.requests.rows + finished.undecodable.length).toBe(damaged.length + 1);
    expect(finished.undecodable).not.toContain(damaged.length);
  });
});

describe("a payload", () => {
  const payload = Buffer.from('{"key":"sk-aaaaaaaaaaaaaaaaaaaaaaaa"}');

  it("is redacted by its rules", async () => {
    const [redacted] = await pool.redactPayload({ presets: ["api_key"], patterns: [] }, [payload]);
    expect(Buffer.from(redacted ?? []).toString()).toBe('{"key":"[REDACTED:api_key]"}');
    await expect(pool.redactPayload({ presets: ["none such"], patterns: [] }, [payload])).rejects.toThrow();
  });

  it("without rules comes back as it is, without a way to the worker", async () => {
    const [same] = await pool.redactPayload({ presets: [], patterns: [] }, [payload]);
    expect(same).toBe(payload);
  });
});

it("draws a badge that holds its texts as text", async () => {
  const svg = await pool.drawBadge({
    label: '<script>alert("1")</script> & co',
    message: "1.2M",
    color: "blue",
  });
  expect(svg).toMatch(/^<svg .*&lt;script.* &amp; co.*1\.2M/s);
  expect(svg).not.toContain("<script");
});
