/** Secrets: shape, checksum, hash, hint. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { hashSecret, inspectSecret, newSecret, secretHint } from "../../../src/account/secret.ts";
import { seededRandom } from "../../../src/base/clock.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secrets = fc
  .tuple(fc.constantFrom("live" as const, "test" as const), fc.integer())
  .map(([environment, seed]) => newSecret(environment, seededRandom(seed)));

test("a secret is its prefix and 43 base-62 characters, and inspects as well-formed", () => {
  fc.assert(
    fc.property(secrets, (secret) => {
      expect(secret).toMatch(/^svc-(live|test)-[0-9A-Za-z]{43}$/);
      expect(inspectSecret(secret)).toBe("well_formed");
    }),
  );
});

test("every single mistyped character is detected", () => {
  fc.assert(
    fc.property(secrets, fc.integer({ min: 9, max: 51 }), fc.nat(61), (secret, at, letter) => {
      const typo = secret.slice(0, at) + BASE62.charAt(letter) + secret.slice(at + 1);
      fc.pre(typo !== secret);
      expect(inspectSecret(typo)).toBe("mistyped");
    }),
    { numRuns: 2000 },
  );
});

test("every swap of two neighbours is detected", () => {
  fc.assert(
    fc.property(secrets, fc.integer({ min: 9, max: 50 }), (secret, at) => {
      const swapped = secret.slice(0, at) + secret.charAt(at + 1) + secret.charAt(at) + secret.slice(at + 2);
      fc.pre(swapped !== secret);
      expect(inspectSecret(swapped)).toBe("mistyped");
    }),
    { numRuns: 2000 },
  );
});

test("a secret with the other environment's prefix is mistyped, any other text is foreign", () => {
  expect(inspectSecret(newSecret("live").replace("live", "test"))).toBe("mistyped");
  const secret = newSecret("live");
  for (const other of [
    "",
    "sk-proj-abc",
    secret.slice(1),
    `${secret}x`,
    `${secret}\n`,
    secret.replace("svc", "SVC"),
  ]) {
    expect(inspectSecret(other)).toBe("foreign");
  }
});

test("characters are drawn evenly", () => {
  const random = seededRandom(7);
  const counts = new Map<string, number>();
  for (let i = 0; i < 3000; i++) {
    for (const c of newSecret("live", random).slice(9, 46)) counts.set(c, (counts.get(c) ?? 0) + 1);
  }
  const expected = (3000 * 37) / 62;
  let chiSquare = 0;
  for (const c of BASE62) chiSquare += ((counts.get(c) ?? 0) - expected) ** 2 / expected;
  // 61 degrees of freedom: 110 is beyond the 99.99th percentile; drawing bytes modulo 62 gives about 3,000.
  expect(chiSquare).toBeLessThan(110);
});

test("secrets of the system's generator do not repeat", () => {
  expect(new Set(Array.from({ length: 2000 }, () => newSecret("test"))).size).toBe(2000);
});

test("T64: the hash is of fixed length whatever is hashed, and a hint shows four characters", () => {
  const secret = newSecret("live");
  for (const text of [secret, "", "x".repeat(5000), "'; DROP TABLE keys; --", "\u{1f511}"]) {
    expect(hashSecret(text)).toMatch(/^[A-Za-z0-9_-]{43}$/);
  }
  expect(secretHint(secret)).toBe(`svc-live-…${secret.slice(-4)}`);
});
