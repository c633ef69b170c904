/** Lists of keys under their cursors, and the plan's number of keys under simultaneous callers. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { firstStart } from "../src/account/first-start.ts";
import { Keyring } from "../src/account/keyring.ts";
import { LastUsed } from "../src/account/last-used.ts";
import { accountOperations } from "../src/account/operations.ts";
import { hashSecret } from "../src/account/secret.ts";
import { AccountTables } from "../src/account/tables.ts";
import { cursors } from "../src/cursor.ts";
import { WeirError } from "../src/errors.ts";
import type { AnyOperation, Caller } from "../src/operation.ts";
import { openStore, type Store } from "../src/store/store.ts";

type Wire = Record<string, unknown> & { id: string; secret: string; status: string };
interface Page {
  data: Wire[];
  next_cursor: string;
}

const START = Date.UTC(2026, 8, 9);
let plan = { rpm: 60, tpm: 10_000, concurrency: 5, keys: 500, projects: 5 };
let dataDir: string;
let store: Store;
let accounts: AccountTables;
let keyring: Keyring;
let ops: ReturnType<typeof accountOperations>;
let nowMs: number;
let owner: Caller;
let liveSecret: string;

beforeEach(async () => {
  nowMs = START;
  plan = { rpm: 60, tpm: 10_000, concurrency: 5, keys: 500, projects: 5 };
  const clock = { now: () => nowMs, monotonic: () => nowMs };
  dataDir = mkdtempSync(join(tmpdir(), "weir-key-lists-"));
  store = openStore(dataDir);
  accounts = new AccountTables(store);
  const lastUsed = new LastUsed(accounts);
  keyring = new Keyring({ accounts, clock, plan: () => plan, lastUsed });
  ops = accountOperations({
    accounts,
    clock,
    keyring,
    lastUsed,
    cursors: cursors(Buffer.alloc(32, 1)),
    plan: () => plan,
    spend: () => ({ todayMicroUsd: 0, monthMicroUsd: 0 }),
  });
  const made = await firstStart({ accounts, clock, dataDir, planId: "free" });
  liveSecret = made?.liveSecret ?? "";
  owner = caller(liveSecret);
});
afterEach(async () => {
  await store.close();
  rmSync(dataDir, { recursive: true });
});

/** Who signs a request with this secret. */
const caller = (secret: string): Caller => ({
  requestId: "01J00000000000000000000000",
  ...keyring.resolve(secret),
});

interface Input {
  id?: string;
  query?: object;
  body?: unknown;
}
/** Runs an operation as the edge does: inputs through its schemas, and its answer too. */
async function call<T = Wire>(op: AnyOperation, by: Caller, input: Input = {}): Promise<T> {
  const answer = await op.run(
    {
      path: op.path?.parse({ id: input.id }),
      query: op.query?.parse(input.query ?? {}),
      body: op.body?.parse(input.body),
    },
    by,
  );
  expect(op.output.parse(answer)).toEqual(answer);
  return answer as T;
}
const create = (body: object = {}, by = owner) =>
  call(ops.createKey as AnyOperation, by, { body: { name: "k", ...body } });
const get = (id: string, by = owner) => call(ops.getKey as AnyOperation, by, { id });
const revoke = (id: string, by = owner) => call(ops.revokeKey as AnyOperation, by, { id });
const rotate = (id: string, body: object | undefined, by = owner) =>
  call(ops.rotateKey as AnyOperation, by, { id, body });
const list = (query: object = {}, by = owner) => call<Page>(ops.listKeys as AnyOperation, by, { query });

/** The error an act fails with. */
async function failure(act: Promise<unknown>): Promise<string> {
  try {
    await act;
  } catch (error) {
    if (error instanceof WeirError) return error.kind;
    throw error;
  }
  return "done";
}

describe("the plan's number of keys", () => {
  test("200 simultaneous creations against a cap of 20 give exactly 20 working keys", async () => {
    plan = { ...plan, keys: 20 };
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => failure(create())));
    // Two keys were there before.
    expect(outcomes.filter((o) => o === "done")).toHaveLength(18);
    expect(outcomes.filter((o) => o === "state")).toHaveLength(182);
    expect((await list({ status: "active", limit: 200 })).data).toHaveLength(20);
  });

  test("200 simultaneous rotations of one key make one successor", async () => {
    const { id } = await create();
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => failure(rotate(id, {}))));
    expect(outcomes.filter((o) => o === "done")).toHaveLength(1);
  });

  test("keys that ended give their place back, and a full org can rotate", async () => {
    plan = { ...plan, keys: 4 };
    const third = await create({ expires_in: "1h" });
    const fourth = await create();
    expect(await failure(create())).toBe("state");
    const fifth = await rotate(fourth.id, { grace_seconds: 60 });
    expect(await failure(rotate(fifth.id, {}))).toBe("state");
    nowMs += 60_000;
    expect(await failure(create())).toBe("state");
    nowMs += 3_600_000;
    expect((await get(third.id)).status).toBe("expired");
    const sixth = await create();
    expect(await failure(create())).toBe("state");
    await revoke(sixth.id);
    expect(await failure(create())).toBe("done");
  });
});

describe("lists", () => {
  test("a walk sees every key once, newest first, though keys are added and revoked meanwhile", async () => {
    const made: string[] = [];
    for (let i = 0; i < 25; i++) {
      nowMs += i % 3; // several keys within one millisecond
      made.unshift((await create()).id);
    }
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await list({ limit: "10", cursor });
      expect(page.data.length).toBeLessThanOrEqual(10);
      seen.push(...page.data.map((k) => k.id));
      cursor = page.next_cursor;
      nowMs += 1;
      await revoke((await create()).id);
      await revoke(page.data.at(-1)?.id ?? "");
    } while (cursor !== "");
    expect(seen.slice(0, 25)).toEqual(made);
    expect(seen).toHaveLength(27);
  });

  test("a cursor that was never issued, or for another org, is the first page", async () => {
    await create();
    const first = await list({ limit: 1 });
    expect(first.next_cursor).not.toBe("");
    for (const cursor of ["", "nonsense", `x${first.next_cursor}`]) {
      expect((await list({ limit: 1, cursor })).data).toEqual(first.data);
    }
    expect((await list({ limit: 1, cursor: first.next_cursor })).data).not.toEqual(first.data);
  });

  test("a status filter walks every key of that status and no other", async () => {
    const wanted: string[] = [];
    for (let i = 0; i < 12; i++) {
      const { id } = await create();
      if (i % 3 === 0) wanted.unshift((await revoke(id)).id);
    }
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await list({ status: "revoked", limit: 2, cursor });
      seen.push(...page.data.map((k) => k.id));
      cursor = page.next_cursor;
    } while (cursor !== "");
    expect(seen).toEqual(wanted);
  });

  test("a filter that thousands of newer keys do not pass answers short pages, and the walk still arrives", async () => {
    const model = accounts.keyByHash(hashSecret(liveSecret));
    if (model === undefined) throw new Error("not seeded");
    nowMs += 1;
    await accounts.transact(() => {
      for (let i = 0; i < 5200; i++) {
        const order = { ...model, createdAtMs: nowMs, revokedAtMs: nowMs };
        accounts.addKey({ ...order, id: `key_${String(i).padStart(26, "0")}`, hash: `hash ${i}` });
      }
    });
    const first = await list({ status: "active" });
    expect(first.data).toEqual([]);
    expect(first.next_cursor).not.toBe("");
    const second = await list({ status: "active", cursor: first.next_cursor });
    expect(second.data.map((k) => k.hint)).toContain(model.hint);
    expect(second.next_cursor).toBe("");
  });

  test.each(["0", "201", "1.5", "x"])("limit=%s is refused", (limit) => {
    expect(ops.listKeys.query?.safeParse({ limit }).success).toBe(false);
  });
});
