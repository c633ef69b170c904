/** Large bodies that wait for the worker thread: their number is bounded by their bytes, and each gives its place back. */
import { afterAll, expect, test } from "vitest";
import { openBodies } from "../src/exchange/bodies.ts";
import { chatFormat } from "../src/wire/chat/format.ts";
import { openPool } from "../src/workers/pool.ts";
import { openThread } from "../src/workers/thread.ts";

const thread = openThread(new URL("../src/wire/thread.ts", import.meta.url));
const pool = openPool();
afterAll(async () => {
  await thread.close();
  await pool.close();
});

const body = (bytes: number, model: unknown = "v/m"): Buffer => {
  const content = "x".repeat(bytes);
  return Buffer.from(JSON.stringify({ model, messages: [{ role: "user", content }] }));
};
const bodies = openBodies(thread, pool, 1_000_000);
const outcome = async (bytes: Buffer): Promise<string> => {
  try {
    return (await bodies.read(chatFormat, bytes)).facts.model;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test("beyond the bound they are refused at once, to be sent again; what is read or refused makes room", async () => {
  const wrong = await outcome(body(400_000, 7));
  expect(wrong).toBe("invalid_value");
  const some = Array.from({ length: 200 }, () => outcome(body(400_000)));
  const small = outcome(body(1000));
  const outcomes = await Promise.all(some);
  expect(outcomes.filter((code) => code === "v/m")).toHaveLength(2);
  expect(outcomes.filter((code) => code === "concurrency")).toHaveLength(198);
  expect(await small).toBe("v/m");
  expect(await outcome(body(400_000))).toBe("v/m");
});

test("one that is larger than the bound is read where it is alone", async () => {
  expect(await outcome(body(2_000_000))).toBe("v/m");
});
