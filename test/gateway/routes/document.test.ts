/** What is printed of the route table, in `/openapi.json` and `/docs`, by a running gateway. */
import { readdirSync, readFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { OpenApiDocument, OperationItem, Schema } from "../../../src/edge/openapi/openapi-types.ts";
import type { Route } from "../../../src/edge/routes.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { isForKeys, nameOf, sidesOf, table } from "../../support/routes/calls.ts";

let gateway: TestGateway;
let document: OpenApiDocument;
beforeAll(async () => {
  gateway = await testGateway();
  document = (await gateway.call("GET", "/openapi.json", { key: null })).json;
});
afterAll(() => gateway.stop());

/** `fetch` sets `Host` itself. */
function rawGet(url: string, path: string, headers: Record<string, string>) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const request = get(`${url}${path}`, { headers }, (response) => {
      let text = "";
      response.on("data", (data: Buffer) => (text += data.toString()));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on("error", reject);
  });
}

function itemOf(route: Route): OperationItem {
  const item = document.paths[route.path]?.[route.method.toLowerCase()];
  if (item === undefined) throw new Error(`${nameOf(route)} is not in the document`);
  return item;
}

/** What stands in a description for words of the access column; others stand there as they are. */
const WORDS: Readonly<Record<string, string>> = {
  public: "no credential",
  operator: "operators",
  directory: "directory",
  key: "a working key",
  "no key": "Needs",
  "signed in": "a signed-in person",
  everyone: "a person of the org",
};

describe("/openapi.json", () => {
  const everyItem = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, item]) => ({ path, method, item })),
    );

  test("has every operation of the sources: none was forgotten where the gateway lists them", () => {
    const src = join(import.meta.dirname, "../../../src");
    const texts = readdirSync(src, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => readFileSync(join(src, path), "utf8"));
    const made = texts.flatMap((text) => [...text.matchAll(/(\w+)(?::| =) \w*[oO]peration\((?:deps, )?\{/g)]);
    expect(made.length).toBeGreaterThan(150);
    const told = everyItem().map(({ item }) => item.operationId);
    // Answered on the route of another one.
    const isSecond = /^(list|get)AnthropicModel/;
    const names = made.map(([, name = ""]) => name).filter((name) => !isSecond.test(name));
    expect(names.filter((name) => !told.includes(name))).toEqual([]);
  });

  test("lists every route with its access, and nothing else", () => {
    const listed = everyItem().map(({ path, method, item }) => [
      method.toUpperCase(),
      path,
      item["x-svc-access"],
    ]);
    const expected = [
      ...table.map((route) => [route.method, route.path, route.access]),
      ...["/healthz", "/readyz", "/metrics"].map((path) => ["GET", path, "public"]),
    ];
    expect(listed.sort()).toEqual(expected.sort());
    for (const route of table) {
      const { description } = itemOf(route);
      if (route.access === "anyone") continue;
      const sides = sidesOf(route).filter((side) => side !== undefined);
      for (const word of sides) expect(description).toContain(WORDS[word] ?? `\`${word}\``);
    }
  });

  test("says by which credentials each route may be called, and what each must allow", () => {
    const securityOf = (route: Route) => itemOf(route).security;
    for (const route of table) {
      const [key = "", level] = sidesOf(route);
      if (key === "anyone") {
        expect(securityOf(route)).toEqual([{}, { key: [] }, { session: [] }]);
        continue;
      }
      const csrf = route.method === "GET" ? {} : { csrf: [] };
      const roles = level === "signed in" ? [] : [level];
      const isAnthropic = route.path.startsWith("/v1/messages") || route.path.startsWith("/v1/models");
      const hasHeader = isAnthropic && !/\/(endpoints|stats)$/.test(route.path);
      const scopes = key === "key" ? [] : [key];
      expect([nameOf(route), securityOf(route)]).toEqual([
        nameOf(route),
        [
          ...(isForKeys(route) ? [{ key: scopes }] : []),
          ...(isForKeys(route) && hasHeader ? [{ header_key: scopes }] : []),
          ...(key === "operator" ? [{ operator: [] }, { session: ["operator"], ...csrf }] : []),
          ...(key === "directory" ? [{ directory: [] }] : []),
          ...(level === undefined ? [] : [{ session: roles, ...csrf }]),
        ],
      ]);
    }
  });

  test("is OpenAPI 3.1 by its structure", () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    const ids = everyItem().map(({ item }) => item.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, item } of everyItem()) {
      const { parameters = [], responses, requestBody } = item;
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((m) => m[1]);
      expect(parameters.filter((p) => p.in === "path").map((p) => p.name)).toEqual(inPath);
      expect(parameters.filter((p) => p.in === "path").every((p) => p.required)).toBe(true);
      expect(new Set(parameters.map((p) => `${p.in} ${p.name}`)).size).toBe(parameters.length);
      expect(Object.keys(responses).every((status) => /^[1-5](\d\d|XX)$/.test(status))).toBe(true);
      // A good answer: what was asked for, or where it is to be had.
      expect(Object.keys(responses).some((status) => /^(2\d\d|2XX|303)$/.test(status))).toBe(true);
      for (const { description, content } of Object.values(responses)) {
        expect(description).toMatch(/\S/);
        for (const { schema } of Object.values(content ?? {})) expect(schema).toBeTypeOf("object");
      }
      if (requestBody !== undefined) {
        // Hooks take bytes, directories the media type of RFC 7644.
        const type = path.startsWith("/scim/") ? "application/scim+json" : "application/json";
        const { [type]: json, "*/*": bytes } = requestBody.content;
        expect((json ?? bytes)?.schema).toBeTypeOf("object");
      }
    }
  });

  test("holds no reference that leads nowhere, and each error answer has the envelope", () => {
    const text = JSON.stringify(document);
    const references = new Set([...text.matchAll(/"\$ref":"(#\/[^"]+)"/g)].map((m) => m[1] as string));
    for (const reference of references) {
      const target = reference
        .slice(2)
        .split("/")
        .reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], document);
      expect([reference, target]).toEqual([reference, expect.any(Object)]);
    }
    for (const { path, item } of everyItem()) {
      const isScim = path.startsWith("/scim/");
      const shape = isScim ? "ScimError" : path.startsWith("/v1/messages") ? "MessagesError" : "Error";
      const type = isScim ? "application/scim+json" : "application/json";
      for (const [status, { content }] of Object.entries(item.responses)) {
        if (status >= "400" && path !== "/readyz") {
          expect(content?.[type]?.schema).toEqual({ $ref: `#/components/schemas/${shape}` });
        }
      }
    }
  });

  test("O30: the envelopes are the ones errors have", async () => {
    const { schemas } = document.components as { schemas: Record<"Error" | "MessagesError", Schema> };
    const shape = (schema: Schema) => z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    const envelope = shape(schemas.Error);
    envelope.parse((await gateway.chat({ model: "no/model" })).json);
    envelope.parse((await gateway.call("GET", "/nowhere")).json);
    expect(envelope.safeParse({ error: {} }).success).toBe(false);
    const messages = shape(schemas.MessagesError);
    const body = { model: "no/model", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
    messages.parse((await gateway.call("POST", "/v1/messages", { body })).json);
    expect(messages.safeParse({ error: {} }).success).toBe(false);
  });

  test("O30: a linter finds nothing in it, by the strictest of its usual rules", async () => {
    // A page that takes nothing cannot be asked wrongly; of the routes another test says that they refuse.
    // The good answer of a sign-in is a redirect; what a good answer is, the test of the structure says.
    const rules = { "operation-4xx-response": "off", "operation-2xx-response": "off" } as const;
    const config = await createConfig({ extends: ["recommended-strict"], rules });
    const source = JSON.stringify(document);
    const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual(
      [],
    );
  });

  test("O30: it names the address that its reader called", async () => {
    expect(document.servers).toEqual([{ url: gateway.url, description: "This gateway." }]);
    const behindProxy = { host: "models.example.com", "x-forwarded-proto": "https" };
    for (const [path, shown] of [
      ["/openapi.json", '"servers":[{"url":"https://models.example.com"'],
      ["/docs", "export WEIR_URL=https://models.example.com\n"],
    ] as const) {
      const { text } = await rawGet(gateway.url, path, behindProxy);
      expect(text).toContain(shown);
      // What is no host is not repeated.
      const odd = await rawGet(gateway.url, path, { host: "<script>" });
      expect([odd.status, odd.text.includes("<script>")]).toEqual([200, false]);
    }
  });

  test("O30: an answer that may be CSV is told as such", () => {
    const answer = document.paths["/v1/credits/ledger"]?.get?.responses[200];
    expect(Object.keys(answer?.content ?? {})).toEqual(["application/json", "text/csv"]);
  });
});
