/** A call's receipt, a day's reconciliation and a provider's bill, over HTTP and by the commands of a running gateway. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyReceipt } from "../../../src/billing/receipts/verify.ts";
import type { Shell } from "../../../src/host/commands/command.ts";
import { rotateReceiptKey } from "../../../src/host/commands/operate.ts";
import { checkBill, reconcile } from "../../../src/host/commands/reconcile.ts";
import { verifyReceiptFile } from "../../../src/host/commands/verify-receipt.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { recorded, requestIdOf } from "../../support/observations.ts";

let gateway: TestGateway;
let key: string;
beforeAll(async () => {
  gateway = await testGateway({ engine: true });
  key = readFileSync(join(gateway.folder, "data/operator-key"), "utf8").trim();
});
afterAll(() => gateway.stop());

const operate = (method: string, path: string, body?: unknown) =>
  gateway.call(method, `/v1/operator${path}`, { key, body });
const keys = async () => (await gateway.call("GET", "/.well-known/jwks.json", { key: null })).json;

/** Runs a command as somebody at the machine of the gateway does. */
async function typed(run: (shell: Shell) => Promise<number>) {
  let [out, err] = ["", ""];
  const { port } = new URL(gateway.url);
  const env = {
    PORT: port,
    DATA_DIR: join(gateway.folder, "data"),
    CONFIG_DIR: join(gateway.folder, "config"),
  };
  const shell: Shell = {
    env,
    isTerminal: false,
    out: (text) => (out += text),
    err: (text) => (err += text),
  };
  return { code: await run(shell), out, err };
}

describe("a receipt", () => {
  const receiptOf = (id: string, as?: string) =>
    gateway.call("GET", `/v1/generation/${id}/receipt`, as === undefined ? {} : { key: as });

  test("states the ledger's entry of the call, right after it and once it is in the records", async () => {
    const calls = [];
    for (let i = 0; i < 5; i++) calls.push(requestIdOf(await gateway.chat()));
    const id = calls[2] as string;
    const entry = (await gateway.call("GET", "/v1/credits/ledger")).json.data.find(
      (row: { request_id?: string }) => row.request_id === id,
    );
    for (const wait of [async () => {}, () => recorded(gateway)]) {
      await wait();
      const answer = await receiptOf(id);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/jose"]);
      const { receipt } = await verifyReceipt(answer.text, await keys());
      expect(receipt.ledger?.seq).toBe(entry.seq);
      expect(receipt.cost.total_micro_usd).toBe(-(receipt.ledger?.amount_micro_usd ?? 0));
      expect(receipt.cost.lines.reduce((sum, { micro_usd }) => sum + micro_usd, 0)).toBe(
        receipt.cost.total_micro_usd,
      );
      expect(receipt).toMatchObject({ request_id: id, model: "weir/sim-small", charged: true });
    }
  });

  test("of a call by a test key costs nothing; of an unknown call there is none", async () => {
    const id = requestIdOf(await gateway.chat({}, { key: gateway.testKey }));
    const { receipt } = await verifyReceipt((await receiptOf(id)).text, await keys());
    expect([receipt.charged, receipt.cost.total_micro_usd, receipt.ledger]).toEqual([false, 0, undefined]);
    expect((await receiptOf("01JZZZZZZZZZZZZZZZZZZZZZZZ")).status).toBe(404);
    expect((await receiptOf("x")).status).toBe(400);
  });

  test("is checked by the command, also after the key was rotated", async () => {
    const path = join(gateway.folder, "receipt");
    writeFileSync(path, (await receiptOf(requestIdOf(await gateway.chat()))).text);
    const before = await keys();
    // A key that is younger than a minute stays.
    await expect(typed(rotateReceiptKey)).rejects.toThrow("less than a minute ago");
    expect(await keys()).toEqual(before);
    const checked = await typed((shell) => verifyReceiptFile({ operand: path, options: {} }, shell));
    expect([checked.code, checked.err]).toEqual([0, ""]);
    expect(checked.out).toContain("weir/sim-small");
  });

  test("has keys that may be cached", async () => {
    const { headers } = await gateway.call("GET", "/.well-known/jwks.json", { key: null });
    expect(headers.get("cache-control")).toBe("public, max-age=3600");
  });
});

describe("reconciliation", () => {
  test("of a gateway where nothing was paid finds nothing, and keeps its report", async () => {
    const first = await operate("GET", "/reconciliation");
    expect(first.json).toMatchObject({ balanced: true, stored: false, findings: [] });
    expect((await operate("POST", "/reconciliation", { day: first.json.day })).status).toBe(200);
    expect((await operate("GET", "/reconciliation")).json.stored).toBe(true);
    expect((await operate("GET", "/reconciliation?fresh=1")).json.stored).toBe(false);
    const { code, out } = await typed((shell) => reconcile({ operand: undefined, options: {} }, shell));
    expect([code, out.trim()]).toEqual([0, `${first.json.day}: the books match.`]);
  });

  test.each(["2026-02-30", "2999-01-01", "yesterday"])("refuses the day %s", async (day) => {
    expect((await operate("GET", `/reconciliation?day=${day}`)).status).toBe(400);
    expect((await operate("POST", "/reconciliation", { day })).status).toBe(400);
  });
});

describe("a provider's bill", () => {
  test("is compared with the records of the day, and may be larger than other bodies", async () => {
    await gateway.chat();
    await recorded(gateway);
    const { json } = await gateway.call("GET", "/v1/requests?limit=1");
    const { provider, request_id } = json.data[0];
    const { json: detail } = await gateway.call("GET", `/v1/requests/${request_id}`);
    const today = new Date(json.data[0].ts.replace(" ", "T")).toISOString().slice(0, 10);
    const bill = (tokens: number) =>
      `day,model,input_tokens,cost_usd\n${today},${detail.upstream_model},${tokens},0\n${today},ghost-1,5,1.5\n${"\n".repeat(400_000)}`;
    const wrong = (await operate("POST", "/provider-bills", { provider, csv: bill(1) })).json;
    const own = wrong.data.find((row: { model: string }) => row.model === detail.upstream_model);
    expect([own.kind, own.recorded.requests > 0]).toEqual(["drift", true]);
    const right = (
      await operate("POST", "/provider-bills", { provider, csv: bill(own.recorded.input_tokens) })
    ).json;
    expect(right.data.map((row: { model: string; kind: string }) => [row.model, row.kind])).toEqual(
      expect.arrayContaining([
        [detail.upstream_model, "matched"],
        ["ghost-1", "unrecorded"],
      ]),
    );
    const path = join(gateway.folder, "bill.csv");
    writeFileSync(path, bill(own.recorded.input_tokens));
    const options = { provider };
    const { code, out } = await typed((shell) => checkBill({ operand: path, options }, shell));
    expect([code, out]).toEqual([1, expect.stringContaining("ghost-1")]);
  });

  test("with a wrong value is refused by line and column", async () => {
    const csv = "day,model,cost_usd\n2026-11-01,=1+1,1\n";
    const { status, json } = await operate("POST", "/provider-bills", { provider: "sim", csv });
    expect([status, json.error.details]).toEqual([400, { line: 2, column: "model" }]);
  });
});
