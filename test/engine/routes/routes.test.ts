/**
 * Every row of the route table against a running gateway: who may call it, and what it answers, as `/openapi.json`
 * promises; and the pages that need no key.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { ROLES, type Role } from "../../../src/account/roles.ts";
import { REQUEST_ID } from "../../../src/base/ids.ts";
import type { OpenApiDocument, OperationItem } from "../../../src/edge/openapi/openapi-types.ts";
import type { Route } from "../../../src/edge/routes.ts";
import { joinAt, type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import {
  type Answer,
  removeFolder,
  seededFolder,
  type TestGateway,
  testGateway,
} from "../../support/gateway.ts";
import { seedInvoices } from "../../support/invoices/invoice.fixtures.ts";
import { atRest, recorded } from "../../support/observations.ts";
import { policyJsonSchema } from "../../support/policy.json-schema.ts";
import type { CallWorld } from "../../support/routes/call-world.ts";
import { bodyOf, CALLS, isForKeys, nameOf, pathOf, sidesOf, table } from "../../support/routes/calls.ts";
import { openWorld } from "../../support/routes/world.fixtures.ts";
import { Browser } from "../../support/simulator/identity.fixtures.ts";

let gateway: TestGateway;
let document: OpenApiDocument;
let world: CallWorld;
let folder: string;
let invoiceId: string;
const people = new Map<Role, SignedInPerson>();
const keys = new Map<string, Promise<string>>();
beforeAll(async () => {
  folder = await seededFolder(() => {});
  const [invoice] = await seedInvoices(folder);
  invoiceId = invoice?.id ?? "";
  gateway = await testGateway({
    engine: true,
    folder,
    endpoints: [{ provider: "own", credentialEnv: "ROUTES_TEST_NEVER_SET" }],
    settings: { max_orgs_per_person: 100 },
  });
  document = (await gateway.call("GET", "/openapi.json", { key: null })).json;
  const requestId = (await gateway.chat()).headers.get("x-svc-request-id") ?? "";
  await signInEverybody();
  world = await openWorld({ gateway, owner: person("owner"), requestId, invoiceId });
  await recorded(gateway);
});
afterAll(async () => {
  await gateway.stop();
  removeFolder(folder);
});

/** One person of each role in the first org. */
async function signInEverybody(): Promise<void> {
  const owner = await signInAt(gateway.url, { email: "owner@example.com" });
  people.set("owner", owner);
  for (const role of ROLES.filter((role) => role !== "owner")) {
    const email = `${role}@example.com`;
    await owner.call("POST", "/v1/orgs/first/members", { body: { email, role } });
    people.set(role, await joinAt(gateway.url, { email }));
  }
}

const person = (role: Role) => people.get(role) as SignedInPerson;

/** The secret of a key with just this scope. */
function keyWith(scope: string): Promise<string> {
  const made =
    keys.get(scope) ??
    gateway.call("POST", "/v1/keys", { body: { name: scope, scopes: [scope] } }).then((a) => a.json.secret);
  keys.set(scope, made);
  return made;
}

async function callRoute(route: Route, key: string | null): Promise<Answer> {
  const from = key === null ? undefined : world;
  const path = await pathOf(route, world.orgId, from);
  const body = await bodyOf(route, from);
  return gateway.call(route.method, path, { key, ...(body && { body }) });
}

async function callAsPerson(route: Route, role: Role): Promise<Answer> {
  const path = await pathOf(route, world.orgId, world);
  const body = await bodyOf(route, world);
  return person(role).call(route.method, path, body && { body });
}

function itemOf(route: Route): OperationItem {
  const item = document.paths[route.path]?.[route.method.toLowerCase()];
  if (item === undefined) throw new Error(`${nameOf(route)} is not in the document`);
  return item;
}

function expectIds({ headers }: Answer) {
  const id = headers.get("x-svc-request-id");
  expect(id).toMatch(REQUEST_ID);
  expect([headers.get("x-request-id"), headers.get("request-id")]).toEqual([id, id]);
}

/** The answer is the first good one that the document promises, in shape as well. */
function expectPromised(route: Route, answer: Answer): void {
  const promised = Object.entries(itemOf(route).responses).find(([status]) => status < "400");
  expect([answer.status, answer.status < 400 ? "" : answer.text]).toEqual([Number(promised?.[0]), ""]);
  expectIds(answer);
  expect(answer.headers.has("location")).toBe(promised?.[1].headers?.location !== undefined);
  const content = promised?.[1].content ?? {};
  const schema = content["application/json"]?.schema;
  const type = answer.headers.get("content-type")?.split(";")[0] ?? "";
  if (type !== "application/json" && content[type] !== undefined) expect(answer.text).not.toBe("");
  else if (schema === undefined) expect(answer.text).toBe("");
  else z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).parse(answer.json);
}

const named = (rows: readonly Route[]) => rows.map((route) => [nameOf(route), route] as const);
describe("access", () => {
  const closed = table.filter(({ access }) => access !== "public" && access !== "anyone");

  test.each(named(closed))("%s without a credential: 401", async (_, route) => {
    const answer = await callRoute(route, null);
    if (route.access === "directory") expect(JSON.parse(answer.text).status).toBe("401");
    else expect(answer.json.error.code).toBe("missing_key");
    expect(answer.status).toBe(401);
    expectIds(answer);
  });

  const scoped = closed.filter((route) => isForKeys(route) && sidesOf(route)[0] !== "key");
  test.each(named(scoped))("%s with a key that lacks its scope: 403", async (_, route) => {
    const answer = await callRoute(route, await keyWith("read:catalog"));
    expect(answer.status).toBe(403);
    expect(answer.json.error).toMatchObject({
      // Anthropic's clients read Anthropic's names.
      type: route.path.startsWith("/v1/messages") ? "permission_error" : "permission_denied",
      code: "scope",
      details: { scope: sidesOf(route)[0] },
    });
    expectIds(answer);
  });

  test.each(named(closed.filter((route) => !isForKeys(route))))(
    "%s with a key that holds every scope: refused",
    async (_, route) => {
      const answer = await callRoute(route, gateway.liveKey);
      // To a directory's routes an API key is no token.
      if (route.access === "directory") expect(JSON.parse(answer.text).status).toBe("401");
      else expect([answer.status, answer.json.error.code]).toEqual([403, "role"]);
      expectIds(answer);
    },
  );

  test.each(named(table.filter(isForKeys)))(
    "%s with its scope and no other: the answer the document promises",
    async (_, route) => {
      const [scope = ""] = sidesOf(route);
      expectPromised(route, await callRoute(route, await keyWith(scope === "key" ? "read:org" : scope)));
    },
  );

  const forPeople = closed.filter((route) => sidesOf(route)[1] !== undefined);
  test.each(named(forPeople))(
    "%s with a session of the least role: the answer the document promises",
    async (_, route) => {
      const [, level = ""] = sidesOf(route);
      const least = level === "signed in" ? "owner" : level === "everyone" ? "billing" : (level as Role);
      expectPromised(route, await callAsPerson(route, CALLS[nameOf(route)]?.as ?? least));
    },
  );
});

describe("public routes", () => {
  const isHook = (route: Route) => "hook" in route;
  const needsMore = ({ path }: Route) => path === "/auth/callback";
  const open = table.filter(({ access }) => access === "public" || access === "anyone");

  test.each(named(open.filter((route) => !isHook(route) && !needsMore(route))))(
    "%s without a credential: the answer the document promises",
    async (_, route) => {
      const path = await pathOf(route, world.orgId, world);
      const body = await bodyOf(route, world);
      expectPromised(route, await gateway.call(route.method, path, { key: null, ...(body && { body }) }));
    },
  );

  test("GET /auth/callback at the end of a sign-in: the answer the document promises", async () => {
    const route = open.find(needsMore) as Route;
    const browser = new Browser();
    const away = await browser.visit(`${gateway.url}/auth/login?prompt=login`);
    const back = await browser.submit(await browser.visit(away.url), { email: "new@example.com", name: "N" });
    const headers = { cookie: browser.cookiesFor("/") };
    const path = `${route.path}${back.url.search}`;
    expectPromised(route, await gateway.call(route.method, path, { key: null, headers }));
  });

  test.each(named(open.filter(isHook)))("%s refuses what its sender did not sign", async (_, route) => {
    const { content } = itemOf(route).requestBody ?? { content: {} };
    const sent = { key: null, body: "logout_token=e30.e30.", headers: { "content-type": FORM } };
    const path = route.path.replace("{gateway}", "simulated");
    const answer = await gateway.call(route.method, path, sent);
    expect([answer.status, answer.json.error.code]).toEqual([400, "invalid_value"]);
    const responses: readonly string[] = Object.keys(itemOf(route).responses);
    expect(responses).toEqual(expect.arrayContaining(["2XX", "400"]));
    expect(Object.keys(content)).toEqual(["*/*"]);
    expectIds(answer);
  });
});

const FORM = "application/x-www-form-urlencoded";

test("/schemas/policy.json is the schema of routing policies, without a key", async () => {
  const { status, headers, json } = await gateway.call("GET", "/schemas/policy.json", { key: null });
  expect([status, headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(json).toEqual(policyJsonSchema());
});

describe("pages for operators", () => {
  test("/healthz and /readyz", async () => {
    const health = await gateway.call("GET", "/healthz", { key: null });
    expect([health.status, health.json]).toEqual([200, { status: "ok" }]);
    const ready = await gateway.call("GET", "/readyz", { key: null });
    expect(ready.status).toBe(200);
    expect(ready.json).toMatchObject({ status: "ready", parts: { store: true, serving: true } });
    expectIds(ready);
  });

  test("/metrics is Prometheus text; at idle nothing is held or taken", async () => {
    await atRest(gateway);
    const { text } = await gateway.call("GET", "/metrics", { key: null });
    const line =
      /^(# (HELP|TYPE) [a-zA-Z_:][\w:]* .+|[a-zA-Z_:][\w:]*(\{[^}]*\})? (-?[\d.]+(e[+-]?\d+)?|NaN|[+-]Inf)( \d+)?)$/;
    for (const row of text.trimEnd().split("\n")) if (row !== "") expect(row).toMatch(line);
    for (const gauge of [
      "weir_holds_open",
      "weir_held_micro_usd",
      "weir_budget_holds_open",
      "weir_slots_taken",
      "weir_calls_draining",
    ]) {
      expect(text).toMatch(new RegExp(`^${gauge} 0$`, "m"));
    }
    expect(text).toMatch(/^weir_calls_total\{outcome="whole"\} [1-9]\d*$/m);
    expect(text).not.toContain(gateway.liveKey);
  });
});
