/** Receipts over a real store and ledger: what they say, who else can verify them, and what the keys outlive. */
import { execFileSync } from "node:child_process";
import { createPublicKey, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openVault } from "../../../../src/account/provider-keys/vault.ts";
import type { Caller } from "../../../../src/base/operation/operation.ts";
import { ReceiptKeys, ROTATE_AFTER_MS } from "../../../../src/billing/receipts/keys.ts";
import { receiptOperations } from "../../../../src/billing/receipts/operations.ts";
import { receiptOf, signReceipt } from "../../../../src/billing/receipts/receipt.ts";
import { NotVerified, verifyReceipt } from "../../../../src/billing/receipts/verify.ts";
import { verifyReceiptFile } from "../../../../src/host/commands/verify-receipt.ts";
import { openInstallation } from "../../../../src/store/installation/installation.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";
import { NO_HEAD } from "../../../support/http-head.fixtures.ts";
import { aRecord } from "./fixtures.ts";

let temp: ReturnType<typeof tempStore>;
let folder: string;
let clock: ManualClock;
beforeEach(() => {
  temp = tempStore();
  folder = mkdtempSync(join(tmpdir(), "weir-receipts-"));
  clock = new ManualClock("2026-11-23T10:00:00Z");
});
afterEach(async () => {
  await temp.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const notices: string[] = [];
const openKeys = (dataDir = folder) =>
  new ReceiptKeys({
    store: temp.store,
    clock,
    vault: openVault(openInstallation({ dataDir, masterKey: undefined })),
    onNotice: (line) => notices.push(line),
  });

async function signed(keys: ReceiptKeys): Promise<string> {
  const entry = { seq: 7, kind: "settle", amountMicroUsd: -1234, createdAtMs: clock.now() };
  const receipt = receiptOf(aRecord(), entry, { iss: "https://weir.example", nowMs: clock.now() });
  return await signReceipt(receipt, await keys.signer());
}

describe("a receipt", () => {
  test("says what was used, what it cost, and where that is in the ledger", async () => {
    const keys = openKeys();
    const { receipt, kid } = await verifyReceipt(await signed(keys), { keys: keys.published() });
    expect(kid).toBe((await keys.signer()).kid);
    expect(receipt).toMatchObject({
      iss: "https://weir.example",
      iat: Date.parse("2026-11-23T10:00:00Z") / 1000,
      usage: { input_tokens: 100, output_tokens: 20, cache_read_tokens: 40 },
      cost: { total_micro_usd: 1234, lines: [{ kind: "input", units: 60 }, { kind: "output" }] },
      ledger: { seq: 7, amount_micro_usd: -1234 },
      policy: { name: "batch", version: 3 },
    });
  });

  test("of a call that was not charged costs nothing and names no entry", () => {
    const free = receiptOf(aRecord({ charged: false }), undefined, { iss: "x", nowMs: 0 });
    expect(free).toMatchObject({ charged: false, cost: { total_micro_usd: 0, lines: [] } });
    expect(free.ledger).toBeUndefined();
  });

  test("is verified by OpenSSL as well", async () => {
    const keys = openKeys();
    const [header, payload, signature = ""] = (await signed(keys)).split(".");
    const [jwk] = keys.published();
    const file = (name: string, bytes: string | Buffer) => {
      writeFileSync(join(folder, name), bytes);
      return join(folder, name);
    };
    const pem = createPublicKey({ key: { ...jwk }, format: "jwk" }).export({ type: "spki", format: "pem" });
    const args = [
      "pkeyutl",
      "-verify",
      "-rawin",
      "-pubin",
      "-inkey",
      file("key.pem", pem as string),
      "-sigfile",
      file("sig", Buffer.from(signature, "base64url")),
    ];
    const check = (text: string) =>
      execFileSync("openssl", [...args, "-in", file("signed", text)], { stdio: "pipe" }).toString();
    expect(check(`${header}.${payload}`)).toContain("Verified Successfully");
    expect(() => check(`${header}.${payload}A`)).toThrow();
  });

  test("with one byte changed anywhere does not verify", async () => {
    const keys = openKeys();
    const [text, set] = [await signed(keys), { keys: keys.published() }];
    const change = fc.tuple(fc.nat({ max: text.length - 1 }), fc.integer({ min: 0x21, max: 0x7e }));
    // The last character of each part has bits that no byte has: each of its changes is tried.
    const ends = [text.indexOf(".") - 1, text.lastIndexOf(".") - 1, text.length - 1];
    const atEnds = ends.flatMap((at) =>
      Array.from({ length: 94 }, (_, i) => [at, 0x21 + i] as [number, number]),
    );
    const refused = async ([at, code]: [number, number]) => {
      const changed = text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1);
      if (changed !== text) await expect(verifyReceipt(changed, set)).rejects.toThrow(NotVerified);
    };
    for (const one of atEnds) await refused(one);
    await fc.assert(fc.asyncProperty(change, refused), { numRuns: 1000, seed: 10 });
  });

  test.each([
    ["what is signed by nobody", (text: string) => `${text.split(".").slice(0, 2).join(".")}.`],
    ["another algorithm", (text: string) => `eyJhbGciOiJub25lIn0.${text.split(".")[1]}.`],
    ["a text", () => "no receipt"],
    ["a long text", () => "a".repeat(100_000)],
  ])("does not verify: %s", async (_, change) => {
    const keys = openKeys();
    const changed = change(await signed(keys));
    await expect(verifyReceipt(changed, { keys: keys.published() })).rejects.toThrow(NotVerified);
  });
});

describe("keys of receipts", () => {
  test("are the same after a restart, and hold no private half in the clear", async () => {
    const before = (await openKeys().signer()).kid;
    await temp.reopen();
    expect((await openKeys().signer()).kid).toBe(before);
    for (const key of openKeys().published()) expect(Object.keys(key)).not.toContain("d");
  });

  test("are replaced after a year, and the old ones still verify", async () => {
    const keys = openKeys();
    const old = await signed(keys);
    clock.advance(ROTATE_AFTER_MS);
    const now = await Promise.all([signed(keys), signed(keys), signed(keys)]);
    expect(keys.published()).toHaveLength(2);
    const set = { keys: keys.published() };
    const kids = await Promise.all([old, ...now].map(async (text) => (await verifyReceipt(text, set)).kid));
    expect(new Set(kids)).toEqual(new Set(set.keys.map(({ kid }) => kid)));
    expect(kids[0]).not.toBe(kids[1]);
  });

  test("are made anew where the master key is lost, and the public ones stay", async () => {
    const old = await signed(openKeys());
    const other = mkdtempSync(join(tmpdir(), "weir-receipts-"));
    const keys = openKeys(other);
    await keys.signer();
    expect(notices.at(-1)).toContain("cannot be decrypted");
    expect(keys.published()).toHaveLength(2);
    await verifyReceipt(old, { keys: keys.published() });
    rmSync(other, { recursive: true });
  });

  test("of another gateway verify nothing", async () => {
    const text = await signed(openKeys());
    const x = randomBytes(32).toString("base64url");
    const [key] = openKeys().published();
    for (const keys of [[], [{ ...key, kid: "other" }], [{ ...key, x }]])
      await expect(verifyReceipt(text, { keys: keys as never })).rejects.toThrow(NotVerified);
  });
});

describe("C2: a receipt of a call whose ledger entry is not found", () => {
  const ask = (missingSinceMs: number | undefined) => {
    const { getReceipt } = receiptOperations({
      keys: openKeys(),
      clock,
      issuer: () => "https://weir.example",
      recordOf: async () => aRecord(),
      ledger: { list: () => ({ entries: [], missingSinceMs }) },
    });
    const input = { params: { id: aRecord().requestId }, query: undefined, body: undefined };
    return getReceipt.run(input, {} as Caller, NO_HEAD);
  };

  test("may be had later where entries are missing near its end, and never says that the call was free", async () => {
    await expect(ask(0)).rejects.toMatchObject({ kind: "analytics_unavailable", retryAfterMs: 1000 });
    await expect(ask(undefined)).rejects.toMatchObject({ kind: "state" });
  });
});

describe("weir verify-receipt", () => {
  const run = async (text: string, keys: object) => {
    writeFileSync(join(folder, "receipt"), text);
    writeFileSync(join(folder, "jwks.json"), JSON.stringify(keys));
    let [out, err] = ["", ""];
    const shell = {
      env: {},
      isTerminal: false,
      out: (line: string) => (out += line),
      err: (line: string) => (err += line),
    };
    const given = { operand: join(folder, "receipt"), options: { jwks: join(folder, "jwks.json") } };
    return { code: await verifyReceiptFile(given, shell), out, err };
  };

  test("says what a good receipt states, and exits with 0", async () => {
    const keys = openKeys();
    const { code, out } = await run(`${await signed(keys)}\n`, { keys: keys.published() });
    expect(code).toBe(0);
    expect(out).toContain("The receipt verifies");
    expect(out).toContain("entry 7 of 2026-11-23T10:00:00.000Z: -1234 micro-USD");
  });

  test("exits with 1 for one that was changed", async () => {
    const keys = openKeys();
    const text = await signed(keys);
    const { code, out, err } = await run(text.replace(/.$/, text.endsWith("A") ? "w" : "A"), {
      keys: keys.published(),
    });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("does not verify");
  });
});
