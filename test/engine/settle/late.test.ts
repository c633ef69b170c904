/** The store cannot commit for longer than an answer waits: the client is told, in the format of its call, and charged once. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Journal } from "../../../src/store/journal/journal.ts";
import { sseData, type TestGateway, testGateway } from "../../support/gateway.ts";
import { allRecords, auditedLedger, chargesOf, idle } from "../../support/money/fixtures.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-settle-"));
const full = (): never => {
  throw new Error("ENOSPC: no space left on device, write");
};

let gateway: TestGateway;
beforeAll(async () => {
  await (await testGateway({ folder })).stop();
  gateway = await testGateway({
    engine: true,
    folder,
    settings: { timeouts: { commit_ms: 500 } },
  });
  vi.spyOn(Journal.prototype, "append").mockImplementation(full);
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("O31: an answer whose charge is not committed in time ends with an error, and is charged once the disk is back", async () => {
  // Begun together: once the first of them cannot be committed, new ones are refused.
  const messages = [{ role: "user", content: "[[sim tokens=5 gap_ms=20]]" }];
  const [whole, atOnce, stream, message] = await Promise.all([
    gateway.chat(),
    gateway.chat({ stream: true, messages: [{ role: "user", content: "[[sim tokens=5 one_write]]" }] }),
    gateway.chat({ stream: true, messages }),
    gateway.call("POST", "/v1/messages", {
      body: { model: "weir/sim-small", max_tokens: 20, stream: true, messages },
    }),
  ]);
  const error = { type: "unavailable", code: "storage_unavailable" };
  // All of the second one came in one read: nothing of it was sent before the charge.
  for (const { status, json, headers } of [whole, atOnce]) {
    expect([status, json.error]).toMatchObject([503, error]);
    // It may be charged: a client that repeats it by itself would pay twice.
    expect(headers.get("x-should-retry")).toBe("false");
  }
  const events = sseData(stream.text);
  expect([stream.status, events.at(-1)]).toMatchObject([200, { error }]);
  expect(stream.text).not.toContain('"usage":{');
  expect(message.text).toMatch(/event: error\n.*storage_unavailable.*\n\n$/);
  expect(message.text).not.toContain("message_stop");

  vi.restoreAllMocks();
  await idle(gateway);
  const charges = chargesOf(await auditedLedger(gateway));
  const ids = [whole, atOnce, stream, message].map(({ headers }) => headers.get("x-svc-request-id"));
  expect([...charges.keys()].sort()).toEqual([...ids].sort());
  expect([...(await allRecords(gateway)).keys()].sort()).toEqual([...ids].sort());
  expect((await gateway.chat()).status).toBe(200);
});
