/**
 * Bad input to every route of money: a refusal with a 4xx that names the field, and nothing written. Fields and routes come from
 * the route table and the API description, so that a new one is tried by itself; cases that have a meaning are below them.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OpenApiDocument, OperationItem, Schema } from "../../src/edge/openapi-types.ts";
import type { Route } from "../../src/edge/routes.ts";
import { BAD_BODIES, BAD_IDS, badMembers, badParameters, textOf } from "./bad-values.ts";
import { type SignedInPerson, signInAt } from "./console.fixtures.ts";
import { type Answer, removeFolder, seededFolder, type TestGateway, testGateway, until } from "./fixtures.ts";
import { seedInvoices } from "./invoice.fixtures.ts";
import { bodyOf, type CallWorld, nameOf, pathOf, table } from "./routes/calls.ts";

const HEADINGS = ["Credits", "Plans", "Invoices"];
const ELSEWHERE =
  /receipt|jwks|^\/v1\/operator\/(payments|invoices|reconciliation|provider-bills|receipt-keys)|\/(payments|grant|adjust)$/;
const routes = table.filter(
  (route) => !("hook" in route) && (HEADINGS.includes(route.group.heading) || ELSEWHERE.test(route.path)),
);
const named = (rows: readonly Route[]) => rows.map((route) => [nameOf(route), route] as const);
/** Texts that are whole files: long, with lines. */
const FILES = ["csv", "json"];

let gateway: TestGateway;
let folder: string;
let document: OpenApiDocument;
let operatorKey: string;
let owner: SignedInPerson;
let world: CallWorld;
/** Ids of another org, by the part of the path before them. */
let theirs: Readonly<Record<string, string>>;

beforeAll(async () => {
  folder = await seededFolder(() => {});
  const [invoice] = await seedInvoices(folder);
  gateway = await testGateway({ engine: true, folder });
  operatorKey = readFileSync(join(folder, "data/operator-key"), "utf8").trim();
  document = (await gateway.call("GET", "/openapi.json", { key: null })).json;
  owner = await signInAt(gateway.url, { email: "owner@example.com" });
  const requestId = (await gateway.chat()).headers.get("x-svc-request-id") ?? "";
  world = worldOf((await owner.call("GET", "/auth/me")).json.active_org, invoice?.id ?? "", requestId);
  theirs = await otherOrg();
});
afterAll(async () => {
  await gateway.stop();
  removeFolder(folder);
});

const never = () => Promise.reject(new Error("no route of money needs this"));
const worldOf = (orgId: string, invoiceId: string, requestId: string): CallWorld => ({
  ...{ orgId, invoiceId, requestId, projectId: "" },
  asOwner: (method, path, body) => owner.call(method, path, { ...(body && { body }) }),
  asKey: (method, path, body) => gateway.call(method, path, { ...(body && { body }) }),
  ...{ newMember: never, mailId: never, spareSession: never },
});

/** A second org with a top-up, a refund, an invoice and a call of its own. */
async function otherOrg(): Promise<Record<string, string>> {
  const org = { slug: "other", name: "Other", billing_country: "US" };
  expect((await owner.call("POST", "/v1/orgs", { body: org })).status).toBe(201);
  const ask = async (method: string, path: string, body?: object): Promise<Answer> =>
    await owner.call(method, path, { org: "other", ...(body && { body }) });
  const { json } = await ask("POST", "/v1/credits/topups", { amount_minor: 5_000 });
  const pay = { method: "POST", body: new URLSearchParams({ act: "pay" }), redirect: "manual" } as const;
  await fetch(json.checkout_url, pay);
  const read = () => ask("GET", `/v1/credits/topups/${json.topup.id}`);
  await until("the other org has paid", async () => (await read()).json.status === "paid");
  const refund = { amount_minor: 1_000, reason: "", idempotency_key: "theirs" };
  const made = await ask("POST", `/v1/credits/topups/${json.topup.id}/refund`, refund);
  expect(made.json.refund.status).toBe("refunded");
  const project_id = (await ask("GET", "/v1/projects")).json.data[0].id;
  const { secret } = (await ask("POST", "/v1/keys", { name: "theirs", project_id })).json;
  expect(secret).toMatch(/^svc-live-/);
  const call = await gateway.chat({}, { key: secret });
  expect(call.status).toBe(200);
  return {
    topups: json.topup.id,
    refunds: made.json.refund.id,
    invoices: (await read()).json.invoice_id,
    generation: call.headers.get("x-svc-request-id") ?? "",
  };
}

/** As one who may call the route. */
function send(route: Pick<Route, "method" | "access">, path: string, options: Sent = {}): Promise<Answer> {
  const key =
    route.access === "public"
      ? null
      : route.access === "operator"
        ? operatorKey
        : (options.key ?? gateway.liveKey);
  return gateway.call(route.method, path, { ...options, key });
}
interface Sent {
  readonly body?: string;
  readonly headers?: object;
  readonly key?: string;
}

const itemOf = ({ path, method }: Route): OperationItem =>
  document.paths[path]?.[method.toLowerCase()] as OperationItem;
const parametersOf = (route: Route) =>
  (itemOf(route).parameters ?? []).filter((parameter) => parameter.in === "query");
const bodySchemaOf = (route: Route): Schema | undefined =>
  itemOf(route).requestBody?.content["application/json"]?.schema;

/** Whatever money leaves behind, in both orgs and at the operator's. Jobs and reports run by themselves. */
async function books(): Promise<unknown> {
  const ofOrg = [
    "credits",
    "credits/ledger?limit=500",
    "credits/topups?limit=200",
    "credits/refunds?limit=200",
  ];
  const more = ["invoices?limit=200", "billing/subscription", "audit?limit=200", "tickets", "orgs"];
  const calls = [...ofOrg, ...more].flatMap((path) => [
    owner.call("GET", `/v1/${path}`, { org: "first" }),
    owner.call("GET", `/v1/${path}`, { org: "other" }),
  ]);
  const operators = ["payments", "payments?status=closed"].map((path) =>
    gateway.call("GET", `/v1/operator/${path}`, { key: operatorKey }),
  );
  return (await Promise.all([...calls, ...operators])).map(({ status, json }) => {
    expect(status).toBe(200);
    return json;
  });
}

/** Once nothing changes by itself any more: documents abroad are registered a moment after they are issued. */
async function booksAtRest(): Promise<unknown> {
  let seen: unknown;
  await until("each document is registered", async () => {
    seen = await books();
    return !JSON.stringify(seen).includes('"irn_status":"pending"');
  });
  return seen;
}

/** @param param undefined where no field of the input is wrong: what it names is not there */
function expectRefused(what: string, { status, json, text }: Answer, param?: string): void {
  const { error } = (json ?? {}) as { error?: { code?: string; message?: string; param?: string } };
  const seen = { what, status, text: text.slice(0, 300) };
  expect(seen).toMatchObject({ status: expect.toSatisfy((s: number) => s >= 400 && s < 500) });
  expect({ ...seen, param: error?.param }).toMatchObject(param === undefined ? {} : { param });
  expect({ ...seen, message: error?.message }).toMatchObject({
    message: expect.stringMatching(/^.{10,600}$/su),
  });
  expect(error?.message).not.toMatch(/\[object|at \w+ \(|node_modules/);
}

const short = (value: unknown): string => (JSON.stringify(value) ?? "missing").slice(0, 60);

test("there are routes and fields to try", () => {
  expect(routes.length).toBeGreaterThan(30);
  const fields = routes.flatMap((route) => [
    ...Object.keys(bodySchemaOf(route)?.properties ?? {}),
    ...parametersOf(route).map(({ name }) => name),
  ]);
  expect(fields.length).toBeGreaterThan(30);
});

describe("fields of bodies", () => {
  const withBody = routes.filter(({ method }) => method !== "GET" && method !== "DELETE");
  test.each(named(withBody))("%s refuses each bad value, names it, and writes nothing", async (_, route) => {
    const schema = bodySchemaOf(route);
    if (schema === undefined) return;
    const path = await pathOf(route, world.orgId, world);
    const good = (await bodyOf(route, world)) ?? {};
    const before = await booksAtRest();
    const required = schema.required ?? [];
    for (const [name, field] of Object.entries(schema.properties ?? {}))
      for (const value of badMembers(field as Schema, required.includes(name), FILES.includes(name))) {
        const answer = await send(route, path, { body: textOf({ ...good, [name]: value }) });
        expectRefused(`${name} ${short(value)}`, answer, `/${name}`);
      }
    for (const name of [
      "currency",
      "org_id",
      "credits_micro",
      "status",
      "x".repeat(200),
      "constructor",
      "a/b",
    ]) {
      const answer = await send(route, path, { body: textOf({ ...good, [name]: "INR" }) });
      expectRefused(name, answer, `/${name.replaceAll("/", "~1")}`);
    }
    const sealed = JSON.stringify(good).replace(/^\{/, '{"__proto__":{"amount_minor":1},').replace(",}", "}");
    expectRefused("__proto__", await send(route, path, { body: sealed }), "/__proto__");
    for (const body of BAD_BODIES) expectRefused(body, await send(route, path, { body }));
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await send(route, path, { body: "amount_minor=2500", headers: form })).status).toBe(415);
    expect(await books()).toEqual(before);
  });
});

describe("queries", () => {
  const withQuery = routes.filter(({ method }) => method === "GET");
  test.each(named(withQuery))("%s refuses each bad parameter, and names it", async (_, route) => {
    const [path = "", good = ""] = (await pathOf(route, world.orgId, world)).split("?");
    for (const { name, schema } of parametersOf(route)) {
      const others = new URLSearchParams(good);
      others.delete(name);
      for (const bad of badParameters(schema)) {
        const pairs = [bad].flat().map((text) => `${name}=${text}`);
        const answer = await send(route, `${path}?${[others, ...pairs].filter(String).join("&")}`);
        expectRefused(`${pairs}`, answer, `/${name}`);
      }
    }
    for (const strange of [
      "cursor=%00",
      `cursor=${"x".repeat(5_000)}`,
      "cursor=%ff",
      "a=%",
      "=&&=",
      "currency=INR",
    ])
      expect((await send(route, `${path}?${[good, strange].filter(String).join("&")}`)).status).toBeLessThan(
        500,
      );
  });
});

describe("ids", () => {
  const withId = routes.filter(({ path }) => path.includes("{id}"));
  test.each(named(withId))("%s does not find strange ids, and writes nothing", async (_, route) => {
    const good = (await bodyOf(route, world)) as object | undefined;
    const before = await booksAtRest();
    for (const id of BAD_IDS) {
      const options = good === undefined ? {} : { body: textOf(good) };
      const answer = await send(route, route.path.replace("{id}", id), options);
      expectRefused(id.slice(0, 60), answer);
      if (answer.status === 400) expect(answer.json.error.param).toBe("/id");
      // A client resolves dots, and asks for another route.
      else expect([404, ...(/^(\.|%2e)+$/.test(id) ? [405] : [])]).toContain(answer.status);
    }
    expect(await books()).toEqual(before);
  });

  const ofAnOrg = withId.filter(({ access }) => access !== "operator" && access !== "public");
  test.each(named(ofAnOrg))("%s does not find what another org has", async (_, route) => {
    const [, kind = ""] = /\/(\w+)\/\{id\}/.exec(route.path) ?? [];
    const id = theirs[kind] ?? expect.unreachable(`what of another org is at ${route.path}?`);
    const good = (await bodyOf(route, world)) as object | undefined;
    const before = await booksAtRest();
    const answer = await send(route, route.path.replace("{id}", id), good && { body: textOf(good) });
    expect([answer.status, answer.json.error.code]).toEqual([404, "not_found"]);
    expect(await books()).toEqual(before);
  });
});

/** Bytes above ASCII, which no key has, and empty ones: they must not pass for no key at all. */
const ODD = ["caf\u00e9s", "\u00e9\u00e8", "", " "];

describe("Idempotency-Key", () => {
  const takesKeys = () =>
    routes.filter((route) => /idempotency_key_invalid/.test(JSON.stringify(itemOf(route).responses)));

  test("of a form that is none is refused on each route that takes one, and writes nothing", async () => {
    expect(takesKeys().length).toBeGreaterThan(1);
    for (const route of takesKeys()) {
      const path = await pathOf(route, world.orgId, world);
      const body = textOf((await bodyOf(route, world)) ?? {});
      const before = await booksAtRest();
      for (const key of ["x".repeat(129), "x".repeat(5_000), "two words", "tab\there", "a, b", ...ODD]) {
        const answer = await send(route, path, { body, headers: { "idempotency-key": key } });
        expectRefused(`${nameOf(route)} ${short(key)}`, answer, "Idempotency-Key");
        expect(answer.json.error.code).toBe("idempotency_key_invalid");
      }
      expect(await books()).toEqual(before);
    }
  });

  test("that was used for something else is refused, and names itself", async () => {
    const route = { method: "POST", access: "write:billing / billing" } as const;
    const headers = { "idempotency-key": "used" };
    const ask = (path: string, body: object) => send(route, path, { body: textOf(body), headers });
    expect((await ask("/v1/credits/topups", { amount_minor: 2_500 })).status).toBe(201);
    const before = await booksAtRest();
    const other = await ask("/v1/credits/topups", { amount_minor: 2_501 });
    expectRefused("another amount", other, "Idempotency-Key");
    expect([other.status, other.json.error.code]).toEqual([409, "idempotency_mismatch"]);
    expect(await books()).toEqual(before);
  });
});

test("a top-up whose payer would not find back is not opened, and is not on the list", async () => {
  const before = await booksAtRest();
  const host = { host: "evil.example" };
  const route = { method: "POST", access: "write:billing / billing" } as const;
  const { status, json } = await send(route, "/v1/credits/topups", {
    body: '{"amount_minor":2500}',
    headers: host,
  });
  expect([status, json.error.code]).toEqual([503, "gateway_unavailable"]);
  expect(json.error.message).toContain("PUBLIC_URL");
  expect(await books()).toEqual(before);
});

describe("what has a meaning", () => {
  const asOperator = (path: string, body: object) =>
    gateway.call("POST", `/v1/operator${path}`, { key: operatorKey, body });
  const live = (method: string, path: string, body?: object, headers?: object) =>
    gateway.call(method, path, { ...(body && { body }), ...(headers && { headers }) });
  /** @returns the code */
  async function refused(what: string, ask: () => Promise<Answer>, param?: string): Promise<string> {
    const before = await booksAtRest();
    const answer = await ask();
    expectRefused(what, answer, param);
    expect(await books()).toEqual(before);
    return `${answer.status} ${answer.json.error.code}`;
  }

  test.each([
    [1, "400 below_minimum"],
    [499, "400 below_minimum"],
    [10_000_000_001, "400 invalid_value"],
    [Number.MAX_SAFE_INTEGER, "400 invalid_value"],
  ])("a top-up of %s cents: %s", async (amount_minor, code) => {
    const ask = () => live("POST", "/v1/credits/topups", { amount_minor });
    expect(await refused("top-up", ask, "/amount_minor")).toBe(code);
  });

  test("a quote of more than may be paid at once", async () => {
    for (const amount of ["10000000001", String(Number.MAX_SAFE_INTEGER)]) {
      const ask = () => live("GET", `/v1/credits/topups/quote?amount_minor=${amount}`);
      expect(await refused("quote", ask, "/amount_minor")).toBe("400 invalid_value");
    }
  });

  test("a key that names another org", async () => {
    for (const org of ["other", "no-such-org", "x".repeat(3_000)]) {
      const ask = () => live("POST", "/v1/credits/topups", { amount_minor: 2_500 }, { "svc-org": org });
      expect(await refused(org.slice(0, 20), ask)).toBe("404 not_found");
    }
  });

  test("refunds of more than was paid, of what is not paid, and with a key of another refund", async () => {
    const path = "/v1/credits/topups/{id}/refund";
    const route = routes.find((r) => r.path === path) as Route;
    const paid = await pathOf(route, world.orgId, world);
    const refund =
      (amount_minor: number, idempotency_key: string, at = paid) =>
      () =>
        live("POST", at, { amount_minor, reason: "", idempotency_key });
    for (const amount of [2_501, 10 ** 12, Number.MAX_SAFE_INTEGER])
      expect(await refused(`${amount}`, refund(amount, "much"), "/amount_minor")).toBe("409 not_refundable");
    expect((await refund(500, "first")()).status).toBe(200);
    expect(await refused("again", refund(501, "first"), "/idempotency_key")).toBe("409 idempotency_mismatch");
    expect(await refused("the rest and more", refund(2_001, "rest"), "/amount_minor")).toBe(
      "409 not_refundable",
    );
    const { json } = await live("POST", "/v1/credits/topups", { amount_minor: 2_500 });
    const unpaid = path.replace("{id}", json.topup.id);
    expect(await refused("unpaid", refund(1, "unpaid", unpaid), "/amount_minor")).toBe("409 not_refundable");
  });

  test("plans that are not offered, and a time at which the change cannot be", async () => {
    for (const plan_id of ["nothing", "LOCAL", " local", "local\u0000", "__proto__"]) {
      const ask = () => live("POST", "/v1/billing/subscription", { plan_id });
      expect(await refused(plan_id, ask, "/plan_id")).toBe("400 invalid_value");
    }
    const never = { plan_id: "local", effective: "period_end" };
    const ask = () => live("POST", "/v1/billing/subscription", never);
    expect(await refused("period_end", ask)).toMatch(/^4\d\d /);
  });

  test("corrections to a GSTIN that is none, and mails to strangers by a key", async () => {
    const at = `/v1/invoices/${world.invoiceId}`;
    for (const gstin of ["29AAACN4455M1Z", "33AACCN4455M1ZB", "99AACCN4455M1ZA", "-".repeat(15), "", " "]) {
      const ask = () => live("POST", `${at}/correction`, { gstin, reason: "ours" });
      expect(await refused(gstin, ask, "/gstin")).toBe("400 invalid_value");
    }
    for (const to of ["no address", "a@b", "a@b.c, d@e.f", "a@example.com\r\nBcc: b@example.com", "@", ""]) {
      const ask = () => live("POST", `${at}/resend`, { to });
      expect(await refused(to, ask, "/to")).toBe("400 invalid_value");
    }
    const ask = () => live("POST", `${at}/resend`, { to: "stranger@example.org" });
    expect(await refused("a stranger", ask, "/to")).toBe("403 scope");
  });

  test("payments offline: an unknown org, too much, a reference that was used", async () => {
    const record =
      (org: string, changes: object = {}) =>
      () =>
        asOperator(`/orgs/${org}/payments`, {
          amount_minor: 2_500,
          reference: "wire 1",
          reason: "by wire",
          ...changes,
        });
    expect(await refused("org", record("nobody"))).toBe("404 not_found");
    const most = { amount_minor: 10_000_000_001 };
    expect(await refused("much", record("first", most), "/amount_minor")).toBe("400 invalid_value");
    for (const reference of [" ", "x".repeat(101), "a\u202eb"])
      expect(await refused(reference, record("first", { reference }), "/reference")).toBe(
        "400 invalid_value",
      );
    expect((await record("first")()).status).toBe(201);
    const more = { amount_minor: 2_501 };
    expect(await refused("used", record("first", more), "/reference")).toBe("409 idempotency_mismatch");
    expect(await refused("used by another", record("other"), "/reference")).toBe("409 idempotency_mismatch");
  });

  test("a payment that is closed twice, or is none", async () => {
    const close = (id: string) => () => asOperator(`/payments/${id}/close`, { outcome: "given back" });
    expect(await refused("none", close("pay_none"))).toBe("404 not_found");
  });

  test("days that are not over, or are none", async () => {
    for (const day of ["2999-01-01", "2026-02-30", "2026-13-01", "20261101", "yesterday", "0000-00-00"]) {
      const ask = () => asOperator("/reconciliation", { day });
      expect(await refused(day, ask, "/day")).toBe("400 invalid_value");
    }
  });

  test("months that are none, and formats that we lack", async () => {
    for (const month of ["2026-13", "2026-00", "2026", "1999-12", "2026-1", "now"])
      for (const path of ["/v1/invoices/export", "/v1/operator/invoices/export"]) {
        const key = path.includes("operator") ? operatorKey : gateway.liveKey;
        expectRefused(month, await gateway.call("GET", `${path}?month=${month}`, { key }), "/month");
      }
  });

  const bill = (csv: string) => ({ provider: "sim", csv });
  const head = "day,model,input_tokens,cost_usd\n";
  test.each([
    ["both", { provider: "sim", csv: "a", json: "{}" }, "/csv"],
    ["neither", { provider: "sim" }, "/csv"],
    ["no lines", bill(head), "/csv"],
    ["no header", bill("1,2,3\n"), "/csv"],
    ["NaN", bill(`${head}2026-11-01,m,NaN,1\n`), "/csv"],
    ["negative", bill(`${head}2026-11-01,m,-1,1\n`), "/csv"],
    ["a fraction", bill(`${head}2026-11-01,m,1.5,1\n`), "/csv"],
    ["above 2^53", bill(`${head}2026-11-01,m,9007199254740993,1\n`), "/csv"],
    ["sums above 2^53", bill(head + "2026-11-01,m,999999999999999,1\n".repeat(10)), "/csv"],
    ["a cost with an exponent", bill(`${head}2026-11-01,m,1,1e3\n`), "/csv"],
    ["a formula", bill(`${head}2026-11-01,=1+1,1,1\n`), "/csv"],
    ["no day", bill(`${head}2026-02-30,m,1,1\n`), "/csv"],
    ["years apart", bill(`${head}2020-01-01,m,1,1\n2026-11-01,m,1,1\n`), "/csv"],
    ["an open quote", bill(`${head}2026-11-01,"m,1,1\n`), "/csv"],
    ["no JSON", { provider: "sim", json: "{" }, "/json"],
    ["null", { provider: "sim", json: "null" }, "/json"],
    ["a list of nulls", { provider: "sim", json: "[null,null]" }, "/json"],
    ["deep JSON", { provider: "sim", json: `${"[".repeat(50_000)}${"]".repeat(50_000)}` }, "/json"],
    ["wrong members", { provider: "sim", json: '[{"day":5,"model":{}}]' }, "/json"],
    [
      "wrong members of OpenAI's",
      { provider: "sim", format: "openai", json: '{"data":[{"results":5}]}' },
      "/json",
    ],
  ])("a provider's bill with %s", async (what, body, param) => {
    expect(await refused(what, () => asOperator("/provider-bills", body), param)).toMatch(/^400 /);
  });
});

describe("test keys", () => {
  /** A test key with every scope that money needs: the first one has none of them. */
  let testKey: string;
  beforeAll(async () => {
    const scopes = ["read:billing", "write:billing", "read:usage"];
    const body = { name: "test", environment: "test", scopes };
    const made = await gateway.call("POST", "/v1/keys", { body });
    testKey = made.json.secret;
    expect(testKey).toMatch(/^svc-test-/);
  });

  const changing = routes.filter(({ method, access }) => method !== "GET" && access.startsWith("write:"));
  test.each(named(changing))("%s is refused to a test key, and nothing is written", async (_, route) => {
    const path = await pathOf(route, world.orgId, world);
    const body = await bodyOf(route, world);
    const before = await booksAtRest();
    const answer = await send(route, path, { key: testKey, ...(body && { body: textOf(body) }) });
    expect([answer.status, answer.json.error.code]).toEqual([403, "scope"]);
    expect(answer.json.error.message).toContain("A test key");
    expect(await books()).toEqual(before);
  });

  test("may ask what things cost", async () => {
    const quote = "/v1/credits/topups/quote?amount_minor=2500";
    expect((await gateway.call("GET", quote, { key: testKey })).status).toBe(200);
  });
});
