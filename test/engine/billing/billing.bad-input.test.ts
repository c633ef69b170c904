/**
 * Bad input to every route of money: a refusal with a 4xx that names the field, and nothing written. Fields and routes come from
 * the route table and the API description, so that a new one is tried by itself.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Schema } from "../../../src/edge/openapi/openapi-types.ts";
import { bodyOf, nameOf, pathOf } from "../../support/routes/calls.ts";
import { BAD_BODIES, BAD_IDS, badMembers, badParameters, textOf } from "./bad-values.ts";
import {
  expectRefused,
  type MoneyWorld,
  moneyRoutes,
  named,
  openMoneyWorld,
  short,
} from "./billing.bad-input.fixtures.ts";

/** Texts that are whole files: long, with lines. */
const FILES = ["csv", "json"];

let at: MoneyWorld;
beforeAll(async () => {
  at = await openMoneyWorld();
});
afterAll(() => at.stop());

test("there are routes and fields to try", () => {
  expect(moneyRoutes.length).toBeGreaterThan(30);
  const fields = moneyRoutes.flatMap((route) => [
    ...Object.keys(at.bodySchemaOf(route)?.properties ?? {}),
    ...at.parametersOf(route).map(({ name }) => name),
  ]);
  expect(fields.length).toBeGreaterThan(30);
});

describe("fields of bodies", () => {
  const withBody = moneyRoutes.filter(({ method }) => method !== "GET" && method !== "DELETE");
  test.each(named(withBody))("%s refuses each bad value, names it, and writes nothing", async (_, route) => {
    const schema = at.bodySchemaOf(route);
    if (schema === undefined) return;
    const path = await pathOf(route, at.world.orgId, at.world);
    const good = (await bodyOf(route, at.world)) ?? {};
    const before = await at.booksAtRest();
    const required = schema.required ?? [];
    for (const [name, field] of Object.entries(schema.properties ?? {}))
      for (const value of badMembers(field as Schema, required.includes(name), FILES.includes(name))) {
        const answer = await at.send(route, path, { body: textOf({ ...good, [name]: value }) });
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
      const answer = await at.send(route, path, { body: textOf({ ...good, [name]: "INR" }) });
      expectRefused(name, answer, `/${name.replaceAll("/", "~1")}`);
    }
    const sealed = JSON.stringify(good).replace(/^\{/, '{"__proto__":{"amount_minor":1},').replace(",}", "}");
    expectRefused("__proto__", await at.send(route, path, { body: sealed }), "/__proto__");
    for (const body of BAD_BODIES) expectRefused(body, await at.send(route, path, { body }));
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await at.send(route, path, { body: "amount_minor=2500", headers: form })).status).toBe(415);
    expect(await at.books()).toEqual(before);
  });
});

describe("queries", () => {
  const withQuery = moneyRoutes.filter(({ method }) => method === "GET");
  test.each(named(withQuery))("%s refuses each bad parameter, and names it", async (_, route) => {
    const [path = "", good = ""] = (await pathOf(route, at.world.orgId, at.world)).split("?");
    for (const { name, schema } of at.parametersOf(route)) {
      const others = new URLSearchParams(good);
      others.delete(name);
      for (const bad of badParameters(schema)) {
        const pairs = [bad].flat().map((text) => `${name}=${text}`);
        const answer = await at.send(route, `${path}?${[others, ...pairs].filter(String).join("&")}`);
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
      expect(
        (await at.send(route, `${path}?${[good, strange].filter(String).join("&")}`)).status,
      ).toBeLessThan(500);
  });
});

describe("ids", () => {
  const withId = moneyRoutes.filter(({ path }) => path.includes("{id}"));
  test.each(named(withId))("%s does not find strange ids, and writes nothing", async (_, route) => {
    const good = (await bodyOf(route, at.world)) as object | undefined;
    const before = await at.booksAtRest();
    for (const id of BAD_IDS) {
      const options = good === undefined ? {} : { body: textOf(good) };
      const answer = await at.send(route, route.path.replace("{id}", id), options);
      expectRefused(id.slice(0, 60), answer);
      if (answer.status === 400) expect(answer.json.error.param).toBe("/id");
      // A client resolves dots, and asks for another route.
      else expect([404, ...(/^(\.|%2e)+$/.test(id) ? [405] : [])]).toContain(answer.status);
    }
    expect(await at.books()).toEqual(before);
  });

  const ofAnOrg = withId.filter(({ access }) => access !== "operator" && access !== "public");
  test.each(named(ofAnOrg))("%s does not find what another org has", async (_, route) => {
    const [, kind = ""] = /\/(\w+)\/\{id\}/.exec(route.path) ?? [];
    const id = at.theirs[kind] ?? expect.unreachable(`what of another org is at ${route.path}?`);
    const good = (await bodyOf(route, at.world)) as object | undefined;
    const before = await at.booksAtRest();
    const answer = await at.send(route, route.path.replace("{id}", id), good && { body: textOf(good) });
    expect([answer.status, answer.json.error.code]).toEqual([404, "not_found"]);
    expect(await at.books()).toEqual(before);
  });
});

/** Bytes above ASCII, which no key has, and empty ones: they must not pass for no key at all. */
const ODD = ["caf\u00e9s", "\u00e9\u00e8", "", " "];

describe("Idempotency-Key", () => {
  const takesKeys = () =>
    moneyRoutes.filter((route) => /idempotency_key_invalid/.test(JSON.stringify(at.itemOf(route).responses)));

  test("of a form that is none is refused on each route that takes one, and writes nothing", async () => {
    expect(takesKeys().length).toBeGreaterThan(1);
    for (const route of takesKeys()) {
      const path = await pathOf(route, at.world.orgId, at.world);
      const body = textOf((await bodyOf(route, at.world)) ?? {});
      const before = await at.booksAtRest();
      for (const key of ["x".repeat(129), "x".repeat(5_000), "two words", "tab\there", "a, b", ...ODD]) {
        const answer = await at.send(route, path, { body, headers: { "idempotency-key": key } });
        expectRefused(`${nameOf(route)} ${short(key)}`, answer, "Idempotency-Key");
        expect(answer.json.error.code).toBe("idempotency_key_invalid");
      }
      expect(await at.books()).toEqual(before);
    }
  });

  test("that was used for something else is refused, and names itself", async () => {
    const route = { method: "POST", access: "write:billing / billing" } as const;
    const headers = { "idempotency-key": "used" };
    const ask = (path: string, body: object) => at.send(route, path, { body: textOf(body), headers });
    expect((await ask("/v1/credits/topups", { amount_minor: 2_500 })).status).toBe(201);
    const before = await at.booksAtRest();
    const other = await ask("/v1/credits/topups", { amount_minor: 2_501 });
    expectRefused("another amount", other, "Idempotency-Key");
    expect([other.status, other.json.error.code]).toEqual([409, "idempotency_mismatch"]);
    expect(await at.books()).toEqual(before);
  });
});

describe("test keys", () => {
  /** A test key with every scope that money needs: the first one has none of them. */
  let testKey: string;
  beforeAll(async () => {
    const scopes = ["read:billing", "write:billing", "read:usage"];
    const body = { name: "test", environment: "test", scopes };
    const made = await at.gateway.call("POST", "/v1/keys", { body });
    testKey = made.json.secret;
    expect(testKey).toMatch(/^svc-test-/);
  });

  const changing = moneyRoutes.filter(
    ({ method, access }) => method !== "GET" && access.startsWith("write:"),
  );
  test.each(named(changing))("%s is refused to a test key, and nothing is written", async (_, route) => {
    const path = await pathOf(route, at.world.orgId, at.world);
    const body = await bodyOf(route, at.world);
    const before = await at.booksAtRest();
    const answer = await at.send(route, path, { key: testKey, ...(body && { body: textOf(body) }) });
    expect([answer.status, answer.json.error.code]).toEqual([403, "scope"]);
    expect(answer.json.error.message).toContain("A test key");
    expect(await at.books()).toEqual(before);
  });

  test("may ask what things cost", async () => {
    const quote = "/v1/credits/topups/quote?amount_minor=2500";
    expect((await at.gateway.call("GET", quote, { key: testKey })).status).toBe(200);
  });
});
