/** `npm run seed -- demo`: a small demo is made, and what it promises is read by the public API. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { planCalls } from "../../../scripts/demo/calls.ts";
import { KEYS } from "../../../scripts/demo/cast.ts";
import { hourShares } from "../../../scripts/demo/history.ts";
import { seededRandom } from "../../../src/base/clock.ts";
import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts";
import { type Gateway, startGateway } from "../../../src/host/gateway/gateway.ts";
import { readConfig } from "../../../src/host/settings/config.ts";
import { type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import { until } from "../../support/wait.ts";
import { REPO } from "./fixtures.ts";

const [REQUESTS, CALLS, MORE_KEYS] = [3_000, 80, 60];
const folder = mkdtempSync(join(tmpdir(), "weir-demo-"));
const dataDir = join(folder, "demo");

async function seed(...options: string[]) {
  const child = spawn(process.execPath, [join(REPO, "scripts/seed.ts"), "demo", ...options], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await once(child, "exit");
  const [out, err] = await said;
  return { code, out, err };
}

const sizes = ["--requests", String(REQUESTS), "--calls", String(CALLS), "--keys", String(MORE_KEYS)];

let made: Awaited<ReturnType<typeof seed>>;
let gateway: Gateway;
let owner: SignedInPerson;
beforeAll(async () => {
  made = await seed("--data-dir", dataDir, ...sizes);
  if (made.code !== 0) throw new Error(made.err);
  const env = { DATA_DIR: dataDir, CONFIG_DIR: join(dataDir, "config"), HOST: "127.0.0.1", PORT: "0" };
  gateway = await startGateway(readConfig({ ...env, WARM_UP_MS: "0" }), pino({ level: "silent" }));
  owner = await signInAt(gateway.url, { email: "owner@example.com", name: "Olivia Marsh" });
});
afterAll(async () => {
  await gateway?.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});

const read = async (path: string) => {
  const { status, json, text: body } = await owner.call("GET", path);
  expect(status, `${path}: ${body}`).toBe(200);
  return json;
};
/** All pages. */
async function all(path: string): Promise<Record<string, never>[]> {
  const rows: Record<string, never>[] = [];
  for (let cursor = ""; ; ) {
    const page = await read(`${path}?limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    rows.push(...page.data);
    if (!page.next_cursor) return rows;
    cursor = page.next_cursor;
  }
}
interface Forecast {
  readonly scope: string;
  readonly id: string;
  readonly spent_micro: number;
  readonly forecast_micro: number;
}
const usage = (query = "") => {
  const from = new Date(Date.now() - 31 * DAY_MS).toISOString();
  return read(`/v1/usage?range=custom&from=${from}${query}`);
};

test("says how it is started, and who signs in", () => {
  expect(made.out).toContain(`DATA_DIR=${dataDir} CONFIG_DIR=${join(dataDir, "config")} npm start`);
  expect(made.out).toContain("owner@example.com");
});

describe("its records", () => {
  test("are thirty days of many models, keys and providers, with errors, fallbacks and cache reads", async () => {
    const { totals } = await until(
      "analytics answer",
      usage,
      ({ totals }) => totals.requests >= REQUESTS + CALLS,
    );
    expect(totals.ok).toBeGreaterThan(0.9 * REQUESTS);
    expect(totals.errors).toBeGreaterThan(0);
    expect(totals.cache_read_tokens).toBeGreaterThan(0);
    expect(totals.cost_micro).toBeGreaterThan(1_000_000);
    const groups = async (by: string) => (await usage(`&group_by=${by}`)).groups.length;
    expect(await groups("model")).toBeGreaterThan(25);
    expect(await groups("key")).toBeGreaterThan(20);
    expect(await groups("provider")).toBeGreaterThan(5);
  });

  test("have the real calls last, with what was asked and answered", async () => {
    const { data } = await read("/v1/requests?limit=100");
    const kept = (data as { request_id: string; status: string; logged: boolean }[]).find(
      ({ status, logged }) => status === "ok" && logged,
    );
    const detail = await read(`/v1/requests/${kept?.request_id}`);
    expect(JSON.stringify(detail)).toContain("Weir's built-in simulator");
  });

  test("follow working days: most calls come by day, fewer at weekends", () => {
    const monday = Date.UTC(2026, 10, 2) - 5.5 * 3_600_000;
    const shares = hourShares(monday, 7 * 24);
    const between = (from: number, to: number) => (shares[to - 1] ?? 0) - (shares[from - 1] ?? 0);
    expect(shares.at(-1)).toBeCloseTo(1, 4);
    expect(between(24 + 9, 24 + 18)).toBeGreaterThan(3 * between(24 + 18, 24 + 24));
    expect(between(5 * 24, 6 * 24)).toBeLessThan(0.6 * between(4 * 24, 5 * 24));
  });
});

test("a canary is red", async () => {
  const { data } = await read("/v1/policies/north-cloud-trial/canaries");
  expect(data).toMatchObject([{ state: "red", endpoint_id: "ep_north-cloud_gpt-5.4-mini_eu" }]);
});

test("a key's budget is used up, and a project's nearly", async () => {
  const keys = await all("/v1/keys");
  expect(keys).toHaveLength(40 + 2 + MORE_KEYS);
  const { data: events } = await read("/v1/events?type=budget.exceeded");
  const spent = keys.find(({ name }) => name === "research/nightly-batch");
  expect((events as { data: { key_id: string } }[]).map(({ data }) => data.key_id)).toContain(spent?.id);
  const { data: refused } = await read(`/v1/requests?key_id=${spent?.id}&limit=5`);
  expect(refused[0]).toMatchObject({ http_status: 402, error_code: "budget_exceeded" });
  const support = (await all("/v1/projects")).find(({ slug }) => slug === "support") as never as {
    budget: { monthly_micro: number };
    spend_month_micro: number;
  };
  expect(support.spend_month_micro / support.budget.monthly_micro).toBeCloseTo(0.9, 2);
});

test("keys are as old as their records, so that the forecast of one goes by a whole day", async () => {
  const keys = (await all("/v1/keys")) as never as { name: string; created_at: string }[];
  const made = keys.map(({ created_at: at }) => Date.parse(at));
  expect(made).toEqual(made.toSorted((a, b) => b - a));
  const [newest = 0] = made;
  const { created_at: bornAt } = await read("/v1/orgs/first");
  // The organisation was made for a demo of thirty days, and the keys within minutes.
  expect(newest - Date.parse(bornAt)).toBeLessThan(HOUR_MS);
  expect(keys.findIndex(({ name }) => name.startsWith("worker "))).toBe(40 + 2);
  const budgets = () => read("/v1/usage/budgets?limit=200");
  const { data } = await until("forecasts are by what was charged", budgets, ({ rate }) => rate === "recent");
  const ofKeys = (data as Forecast[]).filter(({ scope }) => scope === "key");
  expect(ofKeys.length).toBeGreaterThan(0);
  const from = new Date(Date.now() - 2 * DAY_MS).toISOString();
  for (const { id, spent_micro: spent, forecast_micro: forecast } of ofKeys) {
    const { totals } = await read(`/v1/usage?range=custom&from=${from}&key_id=${id}`);
    // The rest of the day is a day at most, and the rate that of the last one.
    expect(forecast).toBeLessThanOrEqual(spent + totals.cost_micro + 1);
  }
});

test("a top-up was paid and refunded in part, with invoice and credit note, and the ledger is exact", async () => {
  const topups = await all("/v1/credits/topups");
  expect(topups.map(({ status }) => status).sort()).toEqual(["paid", "partially_refunded", "pending"]);
  const { data: refunds } = await read("/v1/credits/refunds");
  expect(refunds).toMatchObject([{ status: "refunded", currency: "INR", amount_minor: 100_000 }]);
  // The statement is that of the plan's fee.
  expect((await all("/v1/invoices")).map(({ kind }) => kind).sort()).toEqual([
    "credit_note",
    "statement",
    "tax_invoice",
    "tax_invoice",
  ]);
  expect((await read("/v1/credits/auto-topup")).config).toMatchObject({ enabled: true });
  expect((await read("/v1/billing/subscription")).subscription).toMatchObject({ plan_id: "team" });
  const { available_micro_usd: available, held_micro_usd: held } = await read("/v1/credits");
  const entries = (await all("/v1/credits/ledger")) as never as { kind: string; amount_micro_usd: number }[];
  expect(entries.reduce((sum, { amount_micro_usd: amount }) => sum + amount, 0)).toBe(available + held);
  expect(entries.filter(({ kind }) => kind === "settle").length).toBeGreaterThan(CALLS / 2);
});

test("a webhook's deliveries fail, and tickets wait or are decided", async () => {
  const webhooks = await all("/v1/webhooks");
  const deliveries = await Promise.all(webhooks.map(({ id }) => read(`/v1/webhooks/${id}/deliveries`)));
  const failing = deliveries
    .flatMap(({ data }) => data as { error: string }[])
    .filter(({ error }) => error !== "");
  expect(failing.length).toBeGreaterThan(0);
  const tickets = (await all("/v1/tickets")).map(({ kind, status }) => `${kind}, ${status}`);
  expect(tickets.sort()).toEqual([
    "limit_increase, approved",
    "limit_increase, open",
    "other, approved",
    "other, open",
    "refund, open",
  ]);
});

test.each(["admin", "member", "billing", "viewer"])("a person signs in as %s", async (role) => {
  const person = await signInAt(gateway.url, { email: `${role}@example.com` });
  expect((await person.call("GET", "/auth/me")).json).toMatchObject({ orgs: [{ slug: "first", role }] });
});

describe("a folder", () => {
  test("that is no demo's is refused and left as it is", async () => {
    const other = join(folder, "other");
    mkdirSync(other);
    writeFileSync(join(other, "notes.txt"), "mine");
    // Files of other programs, which are called so too.
    for (const mark of ["demo.json", "weir-demo.json"])
      writeFileSync(join(other, mark), JSON.stringify({ seed: 1, scene: "a level" }));
    const before = readdirSync(other);
    const { code, err } = await seed("--data-dir", other, ...sizes);
    expect([code, err]).toEqual([1, expect.stringContaining("is not empty and no demo's")]);
    expect(readdirSync(other)).toEqual(before);
    expect(readFileSync(join(other, "notes.txt"), "utf8")).toBe("mine");
  });

  test("of a demo whose gateway runs is left as it is", async () => {
    const before = readdirSync(dataDir);
    const { code, err } = await seed("--data-dir", dataDir, ...sizes);
    expect([code, err, readdirSync(dataDir)]).toEqual([1, expect.stringContaining("in use"), before]);
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  });
});

test("the same seed plans the same calls, another seed others", () => {
  const keys = KEYS.map((key) => ({ ...key, id: key.name, secret: "", projectId: key.project }));
  const plan = (seed: number) => planCalls(keys, 30, seededRandom(seed));
  expect(plan(1)).toEqual(plan(1));
  expect(plan(2)).not.toEqual(plan(1));
});

test("counts that are none are refused with the usage", async () => {
  const { code, err } = await seed("--requests", "many");
  expect([code, err]).toEqual([1, expect.stringContaining("npm run seed -- demo")]);
});
