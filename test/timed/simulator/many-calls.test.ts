/** The embedded simulator is asked very often, and never the same: memory stays as it was after some calls. Here because it measures the heap. */
import { expect, test } from "vitest";
import { Provider } from "../../../simulator/provider.ts";
import { HeadParser } from "../../../simulator/request.ts";
import { MAX_SCRIPTS, MAX_SCRIPTS_BYTES } from "../../../simulator/script-cache.ts";
import { amount } from "../../support/effort.ts";
import { heapBytes } from "../../support/heap.ts";

const CALLS = amount(100_000, 10_000);

const memory = (): number => heapBytes() + process.memoryUsage().arrayBuffers;

test(`C7: ${CALLS} different calls take no more memory than the first ones`, () => {
  const provider = new Provider();
  const heads = new HeadParser();
  const ask = (n: number) => {
    const body = { model: "sim", stream: true, messages: [{ role: "user", content: `Call ${n}.` }] };
    const bytes = Buffer.from(JSON.stringify(body));
    const head = heads.parse(
      `POST /v1/chat/completions HTTP/1.1\r\ncontent-length: ${bytes.length}\r\nx-number: ${n % 2000}`,
    );
    expect(provider.scriptFor({ head, body: bytes }).steps.length).toBeGreaterThan(0);
  };
  for (let n = 0; n < MAX_SCRIPTS; n++) ask(n);
  const before = memory();
  for (let n = MAX_SCRIPTS; n < CALLS; n++) ask(n);
  // What is kept of these is as large as what was kept before them; collected or not, it is no more than the bound twice.
  expect(memory() - before).toBeLessThan(MAX_SCRIPTS_BYTES);
});
