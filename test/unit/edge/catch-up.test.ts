/** Who sends a request, where this process may not know it yet. */
import { expect, test } from "vitest";
import { fail } from "../../../src/base/errors.ts";
import { type CatchUp, whoCalls, whoReads } from "../../../src/edge/catch-up.ts";

const unknown = () => fail("invalid_key", "There is no such API key.", { isUnknown: true });

/** A process that has caught up, unless told; it counts what it is asked. */
function processOf(more: Partial<CatchUp> = {}) {
  const asked = { looks: 0 };
  const catchUp: CatchUp = {
    isBehind: () => false,
    soon: async () => true,
    current: () => undefined,
    look: async () => ++asked.looks > 0,
    ...more,
  };
  return { asked, catchUp };
}

/** Throws the first times, then finds. */
const finds = (...errors: Error[]) => {
  return () => {
    const error = errors.shift();
    if (error !== undefined) throw error;
    return "found";
  };
};

test.each([whoCalls, whoReads])(
  "a gateway alone, and a process that knows the credential, answer at once",
  (who) => {
    expect(who(undefined, finds())).toBe("found");
    expect(() => who(undefined, finds(unknown()))).toThrow("no such API key");
    const { catchUp, asked } = processOf();
    expect(who(catchUp, finds())).toBe("found");
    const revoked = fail("revoked_key", "The API key has been revoked.");
    expect(() => who(catchUp, finds(revoked))).toThrow("revoked");
    expect(asked.looks).toBe(0);
  },
);

test.each([whoCalls, whoReads])(
  "an unknown credential is looked up once more, after one look",
  async (who) => {
    const { catchUp, asked } = processOf();
    expect(await who(catchUp, finds(unknown()))).toBe("found");
    await expect(who(catchUp, finds(unknown(), unknown()))).rejects.toMatchObject({ kind: "invalid_key" });
    expect(asked.looks).toBe(2);
    const cutOff = processOf({ look: async () => false });
    await expect(who(cutOff.catchUp, finds(unknown()))).rejects.toMatchObject({
      kind: "storage_unavailable",
      retryAfterMs: 1000,
    });
  },
);

test("who reads is looked up once rows are current, and an unknown one once more", async () => {
  const { catchUp, asked } = processOf({ current: async () => true });
  expect(await whoReads(catchUp, finds(unknown()))).toBe("found");
  expect(asked.looks).toBe(1);
  const old = processOf({ current: async () => false });
  await expect(whoReads(old.catchUp, finds())).rejects.toMatchObject({ kind: "storage_unavailable" });
});
