/**
 * Acts at random of all rooms, from all cells at once: keys, projects, policies, members, credit and webhooks. They equal the serial
 * order of the stream, each answered change is audited and told of once, and all cells end with the same rows.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectRedis, type RedisLink } from "../../../src/cells/redis.ts";
import { seededRandom } from "../../../src/clock.ts";
import type { AuditRow } from "../../../src/events/audit.ts";
import { amount } from "../../support/effort.ts";
import { httpCall } from "../../support/http-client.ts";
import { missingRedis, type TestRedis } from "../../unit/cells/redis-server.ts";
import { type Answer, type TestGateway, testGateway } from "../fixtures.ts";
import { auditedActs, RoomsModel } from "./rooms.model.ts";

const missing = missingRedis();
const CELLS = amount(8, 3);
const ACTS = amount(1000, 150);
/** Acts under way at each cell. */
const AT_ONCE = 5;
/** Few, so that acts meet them. */
const PLAN = {
  id: "local",
  limits: { rpm: 0, tpm: 0, concurrency: 0, keys: 12, projects: 6, auto_approve: 2 },
};
/** Of the first start: one works for live calls, one for tests. */
const FIRST_KEYS = 2;
const FIRST_PROJECTS = 1;
/** Events and the acts that they tell of. */
const TOLD = {
  "key.created": "key.create",
  "key.revoked": "key.revoke",
  "key.rotated": "key.rotate",
  "member.added": "member.add",
  "member.removed": "member.remove",
  "policy.activated": "policy.activate",
} as const;
/** May change nothing, and then nothing is audited. */
const REPEATABLE = new Set(["key.revoke", "policy.activate", "policy.deactivate", "member.update", "grant"]);

type Json = Answer["json"];

interface Order {
  readonly act: string;
  readonly method: string;
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly isOperator?: boolean;
}

interface Answered extends Order {
  readonly status: number;
  readonly json: Json;
}

describe.skipIf(missing !== undefined)(`rooms${missing === undefined ? "" : `: ${missing}`}`, () => {
  let gateway: TestGateway;
  let link: RedisLink;
  let cells: readonly string[];
  let orgId: string;
  let operatorKey: string;
  const seed = Number(process.env.WEIR_SEED ?? Date.now() % 1e9);
  const random = seededRandom(seed);
  const pick = (n: number) => Math.floor(random() * n);
  /** Of the newest, so that acts meet. */
  const one = <T>(list: readonly T[], none: T): T => list.slice(-8)[pick(Math.min(list.length, 8))] ?? none;
  const hint = `WEIR_SEED=${seed}`;
  beforeAll(async () => {
    gateway = await testGateway({ cells: CELLS, plans: [PLAN] });
    cells = gateway.cellUrls ?? [];
    operatorKey = readFileSync(join(gateway.folder, "data", "operator-key"), "utf8").trim();
    orgId = (await gateway.call("GET", "/v1/orgs")).json.data[0].id;
    link = connectRedis({ url: (gateway.redis as TestRedis).url, log: { warn() {} } });
    await link.ready(5000);
  });
  afterAll(async () => {
    link.close();
    await gateway.stop();
  });

  async function ask(cell: string, { method, path, body, isOperator = false }: Omit<Order, "act">) {
    const key = isOperator ? operatorKey : gateway.liveKey;
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const sent = body && { body: JSON.stringify(body) };
    const answer = await httpCall(method, `${cell}${path}`, { headers, ...sent, withinMs: 20_000 });
    if (answer === undefined) throw new Error(`no answer to ${method} ${path}, ${hint}`);
    const json: Json = answer.text === "" ? undefined : JSON.parse(answer.text);
    return { status: answer.status, json, requestId: answer.headers.get("x-svc-request-id") ?? "" };
  }
  const read = async (cell: string, path: string): Promise<Json> => {
    const { status, json } = await ask(cell, { method: "GET", path });
    expect(status, JSON.stringify(json)).toBe(200);
    return json;
  };
  /** All of a list. */
  async function all(cell: string, path: string): Promise<Json[]> {
    const found: Json[] = [];
    for (let cursor = ""; ; ) {
      const page = await read(cell, `${path}${path.includes("?") ? "&" : "?"}limit=200&cursor=${cursor}`);
      found.push(...page.data);
      cursor = page.next_cursor;
      if (cursor === "") return found;
    }
  }

  /** Ids that acts so far have made; also of what is gone. */
  const made = {
    keys: [] as string[],
    projects: [] as string[],
    members: [] as string[],
    hooks: [] as string[],
  };
  const policies = ["house", "garden", "cellar"];

  let orders = 0;
  const keyOrder = (): Order => {
    const [name, key] = [`n${++orders}`, `/v1/keys/${one(made.keys, "key_none")}`];
    const kind = pick(6);
    if (kind <= 1 || made.keys.length === 0) {
      const project = made.projects.length > 0 && pick(2) === 0 && { project_id: one(made.projects, "") };
      return { act: "key.create", method: "POST", path: "/v1/keys", body: { name, ...project } };
    }
    if (kind === 2)
      return { act: "key.update", method: "PATCH", path: key, body: { limits: { rpm: orders } } };
    if (kind === 3)
      return {
        ...{ act: "key.update", method: "PATCH", path: key },
        body: { name, budget: { daily_micro: orders, hard: pick(2) === 0 } },
      };
    if (kind === 4) return { act: "key.revoke", method: "DELETE", path: key };
    return { act: "key.rotate", method: "POST", path: `${key}/rotate`, body: { grace_seconds: 0 } };
  };
  const projectOrder = (): Order => {
    const [name, project] = [`n${++orders}`, `/v1/projects/${one(made.projects, "prj_none")}`];
    const kind = pick(4);
    if (kind <= 1) {
      const body = { slug: `slug-${pick(8)}`, name };
      return { act: "project.create", method: "POST", path: "/v1/projects", body };
    }
    if (kind === 2)
      return {
        ...{ act: "project.update", method: "PATCH", path: project },
        body: { name, budget: { monthly_micro: orders, hard: true } },
      };
    return { act: "project.delete", method: "DELETE", path: project };
  };
  const policyOrder = (): Order => {
    const name = one(policies, "");
    const yaml = `version: 1\nsort: price\n# ${++orders}\n`;
    const project = made.projects.length > 0 && pick(2) === 0 && { project_id: one(made.projects, "") };
    const scope = project ? { scope: project } : {};
    const kind = pick(5);
    if (kind === 0)
      return { act: "policy.create", method: "POST", path: "/v1/policies", body: { name, yaml } };
    const path = `/v1/policies/${name}`;
    if (kind === 1)
      return { act: "policy.add_version", method: "POST", path: `${path}/versions`, body: { yaml } };
    if (kind === 2)
      return { act: "policy.deactivate", method: "POST", path: `${path}/deactivate`, body: scope };
    const body = { version: 1 + pick(5), ...scope };
    return { act: "policy.activate", method: "POST", path: `${path}/activate`, body };
  };
  const memberOrder = (): Order => {
    const members = `/v1/orgs/${orgId}/members`;
    const member = `${members}/${one(made.members, "usr_none")}`;
    const kind = pick(3);
    if (kind === 0) {
      const body = { email: `friend${pick(12)}@example.com`, role: one(["viewer", "member"], "") };
      return { act: "member.add", method: "POST", path: members, body };
    }
    const role = one(["viewer", "member", "billing"], "");
    if (kind === 1) return { act: "member.update", method: "PATCH", path: member, body: { role } };
    return { act: "member.remove", method: "DELETE", path: member };
  };
  const hookOrder = (): Order => {
    const hook = `/v1/webhooks/${one(made.hooks, "whk_none")}`;
    const kind = pick(3);
    // It wants events that nobody makes: nothing is sent.
    const body = { url: "http://127.0.0.1:9/hook", events: ["invoice.issued"], description: `d${++orders}` };
    if (kind === 0) return { act: "webhook.create", method: "POST", path: "/v1/webhooks", body };
    const { description } = body;
    if (kind === 1) return { act: "webhook.update", method: "PATCH", path: hook, body: { description } };
    return { act: "webhook.delete", method: "DELETE", path: hook };
  };
  const grantOrder = (): Order => {
    // Some are asked for several times, at several cells at once.
    const number = pick(40);
    const body = { amount_micro_usd: 1000 + number, reason: "a test", idempotency_key: `g${number}` };
    return { act: "grant", method: "POST", path: `/v1/operator/orgs/${orgId}/grant`, body, isOperator: true };
  };
  const ORDERS = [keyOrder, keyOrder, projectOrder, policyOrder, memberOrder, hookOrder, grantOrder];

  function remember({ act, status }: Answered, json: Json): void {
    if (status !== 201) return;
    if (act === "key.create" || act === "key.rotate") made.keys.push(json.id);
    if (act === "project.create") made.projects.push(json.id);
    if (act === "member.add") made.members.push(json.user_id);
    if (act === "webhook.create") made.hooks.push(json.id);
  }

  const answered = new Map<string, Answered>();
  const done = (act: string) => [...answered.values()].filter((one) => one.act === act && one.status < 300);

  /** Each change that was answered well is audited once, with what the answer shows, and no refusal is. */
  function assertAudited(rows: readonly AuditRow[]): void {
    const byRequest = Map.groupBy(rows, ({ requestId }) => requestId);
    for (const [requestId, { act, status, json }] of answered) {
      const [row, ...more] = byRequest.get(requestId) ?? [];
      expect(more, hint).toEqual([]);
      if (status >= 300) expect(row, `${act} was refused, ${hint}`).toBeUndefined();
      else if (!REPEATABLE.has(act)) expect(row?.act, `${act}, ${hint}`).toBe(act);
      if (row === undefined || json === undefined) continue;
      for (const { field, after } of row.changes)
        if (after !== undefined && field in json)
          expect(json[field], `${act}: ${field}, ${hint}`).toEqual(after);
    }
    for (const requestId of byRequest.keys()) expect(answered.has(requestId), hint).toBe(true);
  }

  /** What the API shows of a resource is what the acts left. */
  function assertShown(
    model: RoomsModel,
    prefix: string,
    shown: readonly Json[],
    idOf = (row: Json) => row.id,
  ) {
    const rows = new Map<string, Json>(shown.map((row) => [idOf(row), row]));
    for (const id of model.ofKind(prefix)) {
      const fields = Object.fromEntries(model.resources.get(id) ?? []);
      expect(rows.get(id), `${id}, ${hint}`).toMatchObject(fields);
    }
    return rows.size - model.ofKind(prefix).length;
  }

  const LISTS = {
    keys: (cell: string) => all(cell, "/v1/keys"),
    projects: async (cell: string) => (await read(cell, "/v1/projects")).data,
    policies: async (cell: string) => (await read(cell, "/v1/policies")).data,
    versions: async (cell: string) =>
      Promise.all(policies.map(async (name) => (await read(cell, `/v1/policies/${name}/versions`)).data)),
    members: async (cell: string) => (await read(cell, `/v1/orgs/${orgId}/members`)).data,
    hooks: async (cell: string) => (await read(cell, "/v1/webhooks")).data,
    ledger: (cell: string) => all(cell, "/v1/credits/ledger"),
    events: (cell: string) => all(cell, "/v1/events"),
    audit: (cell: string) => all(cell, "/v1/audit"),
  };
  async function stateAt(cell: string): Promise<Record<keyof typeof LISTS, Json[]>> {
    const entries = Object.entries(LISTS).map(async ([name, list]) => [name, await list(cell)] as const);
    const state = Object.fromEntries(await Promise.all(entries)) as Record<keyof typeof LISTS, Json[]>;
    // Merged once a second, and of no act.
    for (const key of state.keys) delete key.last_used_at;
    return state;
  }

  test("acts of all rooms at all cells equal the order of the stream, and each is audited and told of once", async () => {
    for (const name of policies) {
      const order = { act: "policy.create", method: "POST", path: "/v1/policies" };
      const body = { name, yaml: "version: 1\nsort: price\n" };
      const { requestId, ...answer } = await ask(cells[0] as string, { ...order, body });
      answered.set(requestId, { ...order, body, ...answer });
    }
    let left = ACTS;
    const sinceMs = performance.now();
    const acting = cells.flatMap((cell) =>
      Array.from({ length: AT_ONCE }, async () => {
        while (left-- > 0) {
          const order = one(ORDERS, keyOrder)();
          const { requestId, ...answer } = await ask(cell, order);
          expect(answer.status, `${order.act}: ${JSON.stringify(answer.json)}, ${hint}`).toBeLessThan(500);
          const all = { ...order, ...answer };
          answered.set(requestId, all);
          remember(all, answer.json);
        }
      }),
    );
    await Promise.all(acting);
    const tookMs = performance.now() - sinceMs;
    expect(answered.size).toBe(ACTS + policies.length);

    const rows = await auditedActs(link);
    assertAudited(rows);
    const model = new RoomsModel((requestId) => answered.get(requestId)?.body);
    for (const row of rows) model.apply(row);
    expect(model.most.keys, hint).toBeLessThanOrEqual(PLAN.limits.keys - FIRST_KEYS);
    expect(model.most.projects, hint).toBeLessThanOrEqual(PLAN.limits.projects - FIRST_PROJECTS);

    const [first, ...others] = await Promise.all(cells.map(stateAt));
    if (first === undefined) throw new Error("there is no cell");
    for (const other of others) expect(other, hint).toEqual(first);
    expect(assertShown(model, "key_", first.keys)).toBe(FIRST_KEYS);
    expect(assertShown(model, "prj_", first.projects)).toBe(FIRST_PROJECTS);
    expect(assertShown(model, "whk_", first.hooks)).toBe(0);
    assertShown(model, "usr_", first.members, ({ user_id }) => user_id);
    for (const names of [
      first.projects.map(({ slug }) => slug),
      first.members.map(({ email }) => email),
      first.ledger.map(({ seq }) => seq),
    ])
      expect(new Set(names).size, hint).toBe(names.length);
    policies.forEach((name, at) => {
      const versions = first.versions[at] as Json[];
      const numbers = versions.map(({ version }) => version);
      expect(numbers.reverse(), hint).toEqual(
        Array.from({ length: model.policies.get(name) ?? 0 }, (_, i) => i + 1),
      );
      const inForce = versions.flatMap(({ version, scopes }) =>
        scopes.map(({ project_id = "" }) => `${project_id} ${version}`),
      );
      const expected = [...model.inForce].filter(([, { policy }]) => policy === name);
      expect(inForce.sort(), hint).toEqual(
        expected.map(([project, { version }]) => `${project} ${version}`).sort(),
      );
    });
    const ledger = first.ledger.toReversed();
    expect(ledger.map(({ seq }) => seq)).toEqual(Array.from(ledger, (_, at) => at + 1));
    let balance = 0;
    const balances = ledger.map(({ amount_micro_usd }) => (balance += amount_micro_usd));
    for (const { json } of done("grant")) expect(json.balance_micro_usd, hint).toBe(balances[json.seq - 1]);
    for (const cell of cells) expect((await read(cell, "/v1/credits")).available_micro_usd).toBe(balance);
    const keys = new Set(done("grant").map(({ body }) => body?.idempotency_key));
    expect(done("grant").filter(({ json }) => !json.replay).length, hint).toBe(keys.size);
    expect(rows.filter(({ act }) => act === "credits.grant").length, hint).toBe(keys.size);

    expect(first.audit.map(({ id }) => id).sort(), hint).toEqual(rows.map(({ id }) => id).sort());
    for (const [type, act] of Object.entries(TOLD)) {
      const told = first.events.filter((event) => event.type === type);
      expect(told.length, `${type}, ${hint}`).toBe(rows.filter((row) => row.act === act).length);
    }
    expect(new Set(first.events.map(({ id }) => id)).size).toBe(first.events.length);
    const refused = [...answered.values()].filter(({ status }) => status >= 400).length;
    const rate = ((1000 * ACTS) / tookMs).toFixed(0);
    console.log(
      `${ACTS} acts at ${CELLS} cells, ${rate} a second, ${refused} refused, ${rows.length} audited, ${hint}`,
    );
    for (const room of ["key", "project", "policy", "member", "webhook", "credits"])
      expect(
        rows.some(({ act }) => act.startsWith(`${room}.`)),
        `${room}, ${hint}`,
      ).toBe(true);
    expect(refused, hint).toBeLessThan(ACTS / 1.5);
  });
});
