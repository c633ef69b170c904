/**
 * The gateway's client against undici, which it has replaced: both get the same answers, sound and broken, over real sockets.
 * They must make the same of them, but for what `differences.ts` names.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { amount } from "../../../../support/effort.ts";
import { answers } from "./answers.ts";
import { DIFFERENCES, differenceOf } from "./differences.ts";
import { startTwoClients, type TwoClients } from "./two-clients.ts";

let clients: TwoClients;
beforeAll(async () => {
  clients = await startTwoClients();
});
afterAll(() => clients.close());

/** What a following request hears, whatever came before. */
const SECOND = { status: 200, headers: { "content-type": "second" }, body: "second", end: "ended" };

describe("an answer is read as undici reads it", () => {
  test("whatever arrives, in whatever pieces, and no byte of it is in the next answer", async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        const { ours, theirs } = await clients.compare(answer);
        expect(ours.second).toEqual(SECOND);
        // Shows both in full.
        if (differenceOf(answer, ours, theirs) === undefined) expect(ours).toEqual(theirs);
      }),
      { numRuns: amount(20_000, 300), seed: 1 },
    );
  });

  test.each(DIFFERENCES)("but: $name", async ({ example, applies, allows }) => {
    const { ours, theirs } = await clients.compare(example);
    expect(ours.second).toEqual(SECOND);
    expect(ours).not.toEqual(theirs);
    expect([applies(example), allows(ours, theirs)]).toEqual([true, true]);
  });
});
