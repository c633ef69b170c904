/** `weir backup` of all cells of a supervisor, while they serve or stopped, and `weir restore` of that. */
import { appendFileSync, copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MAIN, type Placed, place, run, testFolder } from "../../../support/process.fixtures.ts";
import { hasRedis, type Running, startAt, why } from "../../../support/supervisor/fixtures.ts";
import { until } from "../../../support/wait.ts";

const it = test.skipIf(!hasRedis);

const HELLO = { model: "weir/sim-small", messages: [{ role: "user", content: "Hello" }] };

/** Beside the processes of the test, so that load goes on. */
async function weir(where: Placed, ...words: string[]): Promise<{ code: number | null; said: string }> {
  const child = run(process.execPath, [MAIN, ...words], {
    env: where.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { code } = await child.ended;
  return { code, said: child.output() };
}

/** Each request has a connection of its own, so any cell gets it. */
async function asked({ url, key }: Placed, path: string, body?: object) {
  const answer = await fetch(`${url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key()}`, "content-type": "application/json", connection: "close" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const json = (await answer.json().catch(() => undefined)) as Record<string, unknown>;
  return { status: answer.status, id: answer.headers.get("x-request-id") ?? "", json };
}

/** Calls until it is stopped. */
function calls(where: Placed, atOnce = 4) {
  const answered: string[] = [];
  let isOn = true;
  const work = Array.from({ length: atOnce }, async () => {
    while (isOn) {
      const answer = await asked(where, "/v1/chat/completions", HELLO).catch(() => undefined);
      if (answer?.status === 200) answered.push(answer.id);
    }
  });
  return {
    answered: (): readonly string[] => [...answered],
    async stop() {
      isOn = false;
      await Promise.all(work);
    },
  };
}

interface Entry {
  readonly seq: number;
  readonly amount_micro_usd: number;
  readonly request_id?: string;
}

/** The whole ledger of the key's org, oldest first. */
async function ledgerOf(where: Placed): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let cursor = ""; ; ) {
    const { status, json } = await asked(where, `/v1/credits/ledger?limit=100${cursor}`);
    expect([status, json.error]).toEqual([200, undefined]);
    entries.push(...(json.data as Entry[]));
    if (json.next_cursor === "") return entries.reverse();
    cursor = `&cursor=${json.next_cursor}`;
  }
}

async function stopped(cells: Running): Promise<void> {
  cells.child.kill("SIGTERM");
  expect((await cells.ended).code).toBe(0);
}

/** A new place with a data folder restored from the backup, and the key, which is kept elsewhere. */
async function restored(from: string, original: Placed): Promise<Placed> {
  const where = await place({ CLICKHOUSE_URL: "" });
  expect(await weir(where, "restore", from)).toMatchObject({ code: 0 });
  copyFileSync(join(original.dataDir, "first-key"), join(where.dataDir, "first-key"));
  return where;
}

/** Starts the restored cells. All that was answered before the backup is charged once, and the ledger adds up. */
async function serves(where: Placed, answered: readonly string[]): Promise<Running> {
  const cells = startAt(where, 2);
  await cells.allReady();
  await until("the engine answers", async () => (await asked(where, "/v1/credits/ledger")).status === 200);
  const entries = await ledgerOf(where);
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, at) => at + 1));
  const charged = entries.flatMap(({ request_id: id }) => id ?? []);
  expect(new Set(charged).size).toBe(charged.length);
  expect(charged).toEqual(expect.arrayContaining([...answered]));
  const balance = entries.reduce((sum, { amount_micro_usd: amount }) => sum + amount, 0);
  const { json } = await asked(where, "/v1/credits");
  expect(json.available_micro_usd).toBe(balance);
  const more: string[] = [];
  for (let n = 0; n < 8; n++) {
    const { status, id } = await asked(where, "/v1/chat/completions", HELLO);
    expect(status).toBe(200);
    more.push(id);
  }
  expect(await weir(where, "cells")).toMatchObject({ said: expect.stringMatching(/^local-2 +alive /m) });
  // Also where ClickHouse had entries under these numbers, of charges that the copied Redis lacks.
  const added = (await ledgerOf(where)).slice(entries.length).map(({ request_id: id }) => id);
  expect(added.sort()).toEqual(more.sort());
  return cells;
}

const aofOf = ({ dataDir }: Placed): string => {
  const folder = join(dataDir, "redis/appendonlydir");
  const [incr = ""] = readdirSync(folder).filter((name) => name.endsWith(".incr.aof"));
  return join(folder, incr);
};

it(`a backup under load restores to cells that have every call answered before it once, and a changed balance is refused${why}`, async () => {
  const where = await place({ CLICKHOUSE_URL: "" });
  const cells = startAt(where, 2);
  await cells.allReady();
  const load = calls(where);
  await until("calls are answered and listed", async () => {
    if (load.answered().length < 60) return false;
    const { status, json } = await asked(where, "/v1/credits/ledger?limit=50");
    return status === 200 && (json.data as Entry[]).length === 50;
  });
  const before = load.answered();
  const to = join(testFolder(), "backup");
  const made = await weir(where, "backup", to);
  expect(made.said).toMatch(/^2 cells$/m);
  expect(made.code).toBe(0);
  const after = load.answered().length;
  await load.stop();
  // Folders are behind Redis: this is what the rest is about.
  expect(after).toBeGreaterThan(before.length);
  expect(readdirSync(to).sort()).toEqual([
    "cells",
    "clickhouse",
    "manifest.json",
    "redis",
    "secrets.key",
    "weir.lmdb",
  ]);
  expect(existsSync(join(where.dataDir, "redis/appendonlydir"))).toBe(true);
  expect(readdirSync(join(where.dataDir, "redis")).filter((name) => name.startsWith("weir-"))).toEqual([]);
  expect(
    await weir(
      { ...where, env: { ...where.env, DATA_DIR: join(where.dataDir, "cells/2") } },
      "backup",
      `${to}-2`,
    ),
  ).toEqual({ code: 1, said: expect.stringContaining("is that of one cell") });
  await stopped(cells);

  const copy = await restored(to, where);
  const running = await serves(copy, before);
  await stopped(running);
  // Only once: a folder that is behind later is a copy of an older state, as ever.
  const again = startAt(copy, 2);
  await again.allReady();
  await stopped(again);

  const bad = await restored(to, where);
  const org = /\{weir\}:credit:(org_\w+)/.exec(readFileSync(aofOf(bad), "latin1"))?.[1] ?? "";
  const words = ["HINCRBY", `{weir}:credit:${org}`, "b", "1000000000"];
  const command = words.map((word) => `$${word.length}\r\n${word}\r\n`).join("");
  appendFileSync(aofOf(bad), `*${words.length}\r\n${command}`);
  const refused = startAt(bad, 2);
  expect((await refused.ended).code).toBe(1);
  expect(refused.output()).toMatch(
    new RegExp(`does not add up, and serves nobody:\\n.*${org}: there are \\d+ micro-USD more`),
  );
});

it(`a stopped supervisor's folder is backed up too, and one whose cell is drained${why}`, async () => {
  const where = await place({ CLICKHOUSE_URL: "" });
  const cells = startAt(where, 2);
  await cells.allReady();
  for (let n = 0; n < 10; n++) await asked(where, "/v1/chat/completions", HELLO);
  expect((await weir(where, "cells", "drain", "2")).code).toBe(0);
  const half = join(testFolder(), "half");
  expect(await weir(where, "backup", half, "--no-records")).toMatchObject({ code: 0 });
  expect(readdirSync(half).sort()).toEqual(["cells", "manifest.json", "redis", "secrets.key", "weir.lmdb"]);
  const answered = (await ledgerOf(where)).flatMap(({ request_id: id }) => id ?? []);
  expect(answered).toHaveLength(10);
  await stopped(cells);
  const to = join(testFolder(), "backup");
  expect(await weir(where, "backup", to)).toMatchObject({
    code: 0,
    said: expect.stringMatching(/^2 cells$/m),
  });
  const copy = await restored(to, where);
  await stopped(await serves(copy, answered));
  rmSync(to, { recursive: true });
});
