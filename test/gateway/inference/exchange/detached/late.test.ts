/** A detached call whose end could not be committed in time: its readers are told what its client was, also once the disk is back. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { DetachedReply } from "../../../../../src/inference/exchange/detached/detached-reply.ts";
import { Journal } from "../../../../../src/store/journal/journal.ts";
import { begin, resumed } from "../../../../support/detached/fixtures.ts";
import { type TestGateway, testGateway } from "../../../../support/gateway.ts";
import { atRest } from "../../../../support/observations.ts";
import { until } from "../../../../support/wait.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: [{ provider: "brief", instruction: { tokens: 20, gap_ms: 20 } }],
    settings: { timeouts: { commit_ms: 500 } },
  });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await gateway?.stop();
});

const idOf = (response: Response): string => response.headers.get("x-svc-request-id") ?? "";

test("its stream and its whole answer stay the errors that were told", async () => {
  const calls = [begin(gateway, "chat"), begin(gateway, "chat", { body: { stream: false } })] as const;
  await until("both run", () => gateway.simulator.totalCalls === calls.length);
  const append = vi.spyOn(Journal.prototype, "append").mockImplementation(() => {
    throw new Error("ENOSPC: no space left on device, write");
  });
  const [stream, whole] = await Promise.all(calls);
  const told = await stream.text();
  expect(told).toContain("storage_unavailable");
  expect([whole.status, await whole.text()]).toEqual([503, expect.stringContaining("storage_unavailable")]);
  const read = async () => ({
    stream: (await resumed(gateway, idOf(stream))).text,
    whole: JSON.parse((await resumed(gateway, idOf(whole))).text).error.details,
  });
  const errors = {
    stream: told,
    whole: { status: 503, answer: expect.stringContaining("storage_unavailable") },
  };
  expect(await read()).toEqual(errors);
  append.mockRestore();
  await atRest(gateway);
  // Calls leave memory in the order in which they ended.
  const leaves = vi.spyOn(DetachedReply.prototype, "leaveMemory");
  await (await begin(gateway, "chat")).text();
  await until("a later call has left memory", () => leaves.mock.calls.length > 0);
  expect(await read()).toEqual(errors);
});
