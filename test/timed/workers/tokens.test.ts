/**
 * A count of a million tokens happens beside the event loop, and an unbroken run, where an encoder's time grows with the square of its
 * length, does not keep the worker either.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPool } from "../../../src/workers/pool.ts";
import { longestTurnMs, spent } from "../../support/processor-time.fixtures.ts";

const TURN_MS = 50;
const WORKER_MS = 1000;

const pool = openPool();
beforeAll(() => pool.countTokens(["warm"], "o200k_base"));
afterAll(() => pool.close());

/** Counts one text: its tokens, the longest turn of the event loop, and what this process took with its worker. */
async function counted(text: string) {
  const found = { tokens: 0, turnMs: Infinity };
  const count = async () => {
    const [tokens = 0] = await pool.countTokens([text], "o200k_base");
    found.tokens = tokens;
  };
  const { ownMs } = await spent(async () => {
    found.turnMs = await longestTurnMs(count);
  });
  return { ...found, ownMs };
}

test("T54: a million tokens do not hold up the event loop", async () => {
  const { tokens, turnMs } = await counted("the quick brown fox jumps over it all ".repeat(125_000));
  console.log(`a million tokens: a turn of ${turnMs.toFixed(1)} ms`);
  expect(tokens).toBeGreaterThan(990_000);
  expect(turnMs).toBeLessThan(TURN_MS);
});

test.each(["a", " ", "!", "\n", "漢", "😀"])(
  "T54: nor does an unbroken run of %j, which the worker has soon",
  async (letter) => {
    const { tokens, turnMs, ownMs } = await counted(letter.repeat(100_000));
    console.log(
      `${JSON.stringify(letter)}: a turn of ${turnMs.toFixed(1)} ms, ${ownMs.toFixed(0)} ms in all`,
    );
    expect(tokens).toBeGreaterThan(100);
    expect(turnMs).toBeLessThan(TURN_MS);
    expect(ownMs).toBeLessThan(WORKER_MS);
  },
);
