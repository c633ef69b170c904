/** Large bodies without copies: memory that threads share, digests and token counts of what stands in it. */
import { createHash } from "node:crypto";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { sha256 } from "../../../src/base/digest.ts";
import { counted, grownMemory, sharedConcat, sharedMemory } from "../../../src/base/shared-memory.ts";
import { openPool } from "../../../src/workers/pool.ts";
import { turnsDuring } from "../../support/turns.ts";

describe("shared memory", () => {
  test("grows in place and keeps what stands in it", () => {
    const memory = sharedMemory(1000, 5000);
    memory.fill("a");
    const grown = grownMemory(memory, 5000);
    expect(grown.buffer).toBe(memory.buffer);
    expect(grown.toString()).toBe("a".repeat(1000) + "\0".repeat(4000));
    expect(() => grownMemory(grown, 5001)).toThrow(RangeError);
  });

  test("is shared, and other memory is left alone", () => {
    expect(sharedConcat([Buffer.from("ab"), Buffer.from("c")]).toString()).toBe("abc");
    expect(sharedConcat([]).buffer).toBeInstanceOf(SharedArrayBuffer);
    const own = Buffer.from("abc");
    expect(counted(own)).toBe(own);
  });
});

test("T54: a digest is the same in slices as in one go, and the event loop turns meanwhile", async () => {
  const sizes = fc.array(fc.constantFrom(0, 1, 524_287, 524_288, 524_289, 1_100_000), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(sizes, async (lengths) => {
      const parts = lengths.map((length, i) => Buffer.alloc(length, i + 1));
      const whole = createHash("sha256").update(Buffer.concat(parts)).digest("hex");
      expect(await sha256(parts)).toBe(whole);
    }),
    { numRuns: 30, seed: 7 },
  );
  const { turns } = await turnsDuring(() => sha256([Buffer.alloc(30_000_000)]));
  expect(turns).toBeGreaterThan(2);
});

describe("token counts of bytes", () => {
  const pool = openPool();
  afterAll(() => pool.close());

  test("are those of the texts, of a run of them their sum", async () => {
    const texts = ["Which river runs through Köln? 🌊", "", "The Rhine.", "<|endoftext|>"];
    const counts = await pool.countTokens(texts, "o200k_base");
    const end = Buffer.of(0xff);
    const run = Buffer.concat(texts.flatMap((text) => [Buffer.from(text), end]));
    const [alone, together] = await pool.countTokens([Buffer.from(texts[0] as string), run], "o200k_base");
    expect(alone).toBe(counts[0]);
    expect(together).toBe(counts.reduce((sum, n) => sum + n, 0));
  });
});
