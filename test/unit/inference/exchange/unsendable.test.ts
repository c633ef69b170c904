/** An answer that cannot even be refused: nothing of it may take the process down, or stay taken. */
import { afterEach, expect, test, vi } from "vitest";
import type { Incoming } from "../../../../src/inference/exchange/call.ts";
import {
  type Exchange,
  type ExchangeDeps,
  openExchange,
} from "../../../../src/inference/exchange/exchange.ts";
import { chatFormat } from "../../../../src/wire/chat/format.ts";

let exchange: Exchange | undefined;
afterEach(async () => {
  await exchange?.drain(0);
});

test("the connection ends, the operator is told, and the gateway goes on", async () => {
  const faults: unknown[] = [];
  const abort = vi.fn();
  const broken = new TypeError("a fault of ours");
  exchange = openExchange({
    clock: { now: () => 1, monotonic: () => 1 },
    store: { healthy: () => false },
    settle: {
      clock: { now: () => 1, monotonic: () => 1 },
      limits: {
        state() {
          throw broken;
        },
      },
      onFault: (error: unknown) => faults.push(error),
    },
    attempt: {},
    fetch: {},
    commitMs: 1000,
    hasRoomFor: () => true,
    onFault: (error: unknown) => faults.push(error),
  } as unknown as ExchangeDeps);
  const reply = { gone: false, send: vi.fn(), abort };
  const key = { limits: {}, dataPolicy: { zdr: true } };
  const release = vi.fn();
  const body = Buffer.alloc(0);
  const incoming = { requestId: "r", body, format: chatFormat, key, idempotencyKey: "", reply, release };
  exchange.run(incoming as unknown as Incoming);
  // What is rejected and not caught fails the run of the tests.
  await new Promise((resolve) => setImmediate(resolve));
  expect(new Set(faults)).toEqual(new Set([broken]));
  expect(abort).toHaveBeenCalledOnce();
  expect(release).toHaveBeenCalled();
  expect(exchange.counts().live).toBe(0);
});
