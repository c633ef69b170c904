/** Before each file of tests: a test that leaves a range of the store open fails, with the stack of who began it. */
import { afterAll, afterEach } from "vitest";
import { takeLeftReads, watchReads } from "./support/store/left-reads.ts";

async function expectNoneLeft() {
  const [first, ...others] = await takeLeftReads();
  if (first === undefined) return;
  if (others.length > 0) first.message += `, and ${others.length} more`;
  throw first;
}

await watchReads();
afterEach(expectNoneLeft);
afterAll(expectNoneLeft);
