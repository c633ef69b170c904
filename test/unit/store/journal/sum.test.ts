/** The sum of a frame is what its description says, and a frame that is damaged has another. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { sumOf } from "../../../../src/store/journal/sum.ts";

const [P1, P2, P3, P4] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d, 0x27d4_eb2f];
const turned = (value: number, bits: number) => (value << bits) | (value >>> (32 - bits));

/** XXH32 with sixteen accumulators, a step at a time. */
function described(bytes: Uint8Array, seed: number): number {
  const starts = [seed + P1 + P2, seed + P2, seed, seed - P1];
  const all = Array.from({ length: 16 }, (_, i) => (starts[i % 4] as number) + (i >> 2) * P4);
  const filled = Buffer.concat([bytes, Buffer.alloc((64 - (bytes.length % 64)) % 64)]);
  for (let at = 0; at < filled.length; at += 4) {
    const i = (at % 64) / 4;
    const mixed = (all[i] as number) + Math.imul(filled.readInt32LE(at), P2);
    all[i] = Math.imul(turned(mixed | 0, 13), P1);
  }
  const bits = [1, 7, 12, 18] as const;
  const lanes = bits.map((_, lane) =>
    bits.reduce((sum, by, row) => sum + turned((all[row * 4 + lane] as number) | 0, by), 0),
  );
  let sum =
    bits.reduce((before, by, lane) => before + turned((lanes[lane] as number) | 0, by), bytes.length) | 0;
  sum = Math.imul(sum ^ (sum >>> 15), P2);
  sum = Math.imul(sum ^ (sum >>> 13), P3);
  return (sum ^ (sum >>> 16)) >>> 0;
}

const seed = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const bytesOf = fc.uint8Array({ maxLength: 300 });

test("it is as described, whatever was summed up before", () => {
  fc.assert(
    fc.property(bytesOf, seed, (bytes, of) => {
      expect(sumOf(bytes, of)).toBe(described(bytes, of));
    }),
  );
  for (const length of [0, 1, 63, 64, 65_535, 65_536, 65_537, 131_072, 200_000]) {
    const bytes = Uint8Array.from({ length }, (_, i) => i * 7);
    expect(sumOf(bytes, length)).toBe(described(bytes, length));
  }
});

test("it is another where a bit, a length or a seed is another", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), seed, fc.nat(), (bytes, of, bit) => {
      const sum = sumOf(bytes, of);
      const flipped = Uint8Array.from(bytes);
      const at = (bit >>> 3) % bytes.length;
      flipped[at] = (flipped[at] as number) ^ (1 << (bit & 7));
      expect(sumOf(flipped, of)).not.toBe(sum);
      expect(sumOf(Buffer.concat([bytes, Buffer.alloc(1)]), of)).not.toBe(sum);
      expect(sumOf(bytes, of ^ 1)).not.toBe(sum);
    }),
  );
});

test("parts that have changed places, and pages that are zeros, make another", () => {
  const bytes = Buffer.from(Uint8Array.from({ length: 16_384 }, (_, i) => (i * i) >> 3));
  const sum = sumOf(bytes, 5);
  for (let at = 0; at + 128 <= bytes.length; at += 64) {
    const swapped = Buffer.concat([
      bytes.subarray(0, at),
      bytes.subarray(at + 64, at + 128),
      bytes.subarray(at, at + 64),
      bytes.subarray(at + 128),
    ]);
    if (!swapped.equals(bytes)) expect(sumOf(swapped, 5)).not.toBe(sum);
  }
  for (let page = 0; page < 4; page++)
    expect(sumOf(Buffer.from(bytes).fill(0, page * 4096, page * 4096 + 4096), 5)).not.toBe(sum);
});
