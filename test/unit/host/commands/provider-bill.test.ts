/** What `weir provider-bill` prints of a comparison. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkBill } from "../../../../src/host/commands/reconcile.ts";

const COMPARED = {
  counts: { matched: 1, drift: 0, unbilled: 0, unrecorded: 0 },
  unpriced_requests: 0,
  data: [],
};
const SINCE = "2026-11-30T23:00:00.000Z";

const folder = mkdtempSync(join(tmpdir(), "weir-bill-"));
let gateway: Server;
let answer: object;
beforeAll(async () => {
  gateway = createServer((request, response) => {
    request.resume().on("end", () => response.end(JSON.stringify(answer)));
  });
  await new Promise<void>((listening) => gateway.listen(0, "127.0.0.1", listening));
  writeFileSync(join(folder, "operator-key"), "secret", { mode: 0o600 });
  writeFileSync(join(folder, "bill.csv"), "day,model\n");
});
afterAll(async () => {
  await new Promise((closed) => gateway.close(closed));
  rmSync(folder, { recursive: true });
});

async function printed(bill: object): Promise<string> {
  answer = bill;
  let out = "";
  const env = { PORT: `${(gateway.address() as AddressInfo).port}`, DATA_DIR: folder, CONFIG_DIR: folder };
  const given = { operand: join(folder, "bill.csv"), options: { provider: "sim" } };
  const code = await checkBill(given, { env, isTerminal: false, out: (text) => (out += text), err() {} });
  expect(code).toBe(0);
  return out;
}

test("from when on calls of ours may be missing, where some may be", async () => {
  expect(await printed({ ...COMPARED, incomplete_since: SINCE })).toContain(SINCE);
  expect(await printed(COMPARED)).not.toContain("missing");
});
