/**
 * No head of a request keeps the event loop: headers and queries are as large as the socket takes, and hold as much as they can of
 * one thing. Each query's parameter is one that the API describes. The gateway is a process of its own, and time is its processor's.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signInAt } from "../../support/console.fixtures.ts";
import { longestTurn, WITNESSED } from "../../support/event-loop.fixtures.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";

/** 10 ms, twice for a machine that others use, and the 4 ms at which the witness looks. */
const TURN_MS = 24;
const TRIES = 6;
/** With the rest of a head below the 32 KB that a socket takes. */
const HEAD_BYTES = 24_000;
const filled = (unit: string): string => unit.repeat(Math.floor(HEAD_BYTES / unit.length));

let gateway: SpawnedGateway;
let credentials: { readonly api: string; readonly operator: string; readonly directory: string };
beforeAll(async () => {
  gateway = await spawnGateway({ env: WITNESSED });
  const owner = await signInAt(gateway.url, { email: "owner@example.com" });
  const scim = await owner.call("POST", "/v1/org/scim/token");
  credentials = {
    api: gateway.liveKey,
    operator: readFileSync(join(gateway.folder, "data/operator-key"), "utf8").trim(),
    directory: scim.json.token,
  };
});
afterAll(() => gateway?.stop());

const credentialFor = (path: string): string => {
  if (path.startsWith("/scim")) return credentials.directory;
  return path.startsWith("/v1/operator") ? credentials.operator : credentials.api;
};

/** Asks until all of the questions together kept the event loop for less than the bound in each turn. */
async function stayQuick(what: string, act: () => Promise<unknown>): Promise<void> {
  const turns: number[] = [];
  while (turns.length < TRIES && Math.min(...turns) >= TURN_MS) {
    await longestTurn(gateway);
    await act();
    turns.push(await longestTurn(gateway));
  }
  expect(Math.min(...turns), `${what}: turns of ${turns} ms`).toBeLessThan(TURN_MS);
}

const QUERIES = [
  "a",
  "1",
  ",",
  "a,",
  "%20",
  "%",
  "%E4",
  "(",
  "%22",
  ".",
  ":",
  "a-",
  "QUFB",
  "2026-11-22T",
  "*",
];

interface Described {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
}

test("S9: a query as long as may be, of each parameter of each list", async () => {
  const { json } = await gateway.call("GET", "/openapi.json", { key: null });
  let asked = 0;
  for (const [path, { get }] of Object.entries(json.paths as Record<string, { get?: Described }>)) {
    const names = (get?.parameters ?? []).filter((parameter) => parameter.in === "query");
    // A tail does not end.
    if (names.length === 0 || path.endsWith("/tail")) continue;
    const address = path.replace("{org}", "first").replace(/\{\w+\}/g, "some");
    const queries = names.flatMap(({ name }) => [
      ...QUERIES.map((unit) => `${name}=${filled(unit)}`),
      filled(`${name}=1&`),
    ]);
    await stayQuick(path, async () => {
      for (const query of [...queries, filled("&"), filled("__proto__=1&"), filled("a&b=")]) {
        const { status } = await gateway.call("GET", `${address}?${query}`, { key: credentialFor(path) });
        expect([path, query.slice(0, 60), status < 500]).toEqual([path, query.slice(0, 60), true]);
        asked++;
      }
    });
  }
  expect(asked).toBeGreaterThan(1000);
});

const HEADERS = [
  "accept",
  "accept-encoding",
  "anthropic-beta",
  "authorization",
  "content-type",
  "cookie",
  "http-referer",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "openai-beta",
  "range",
  "traceparent",
  "tracestate",
  "user-agent",
  "x-api-key",
  "x-forwarded-for",
  "x-title",
  "svc-org",
  "svc-version",
  "forwarded",
];
const VALUES = [
  "a",
  ",",
  "a, ",
  "a=b; ",
  '"',
  'W/"a", ',
  "Bearer ",
  "1.1.1.1, ",
  "a/b;q=0.1, ",
  "%20",
  "-",
  "\\",
  "bytes=0-1,",
];
const ASKED: readonly (readonly [method: string, path: string, body?: object])[] = [
  ["POST", "/v1/chat/completions", { model: "weir/sim-small", messages: [{ role: "user", content: "Hi" }] }],
  [
    "POST",
    "/v1/messages",
    { model: "weir/sim-messages", max_tokens: 2, messages: [{ role: "user", content: "Hi" }] },
  ],
  ["GET", "/v1/models"],
  ["GET", "/v1/rankings"],
  ["GET", "/v1/keys"],
  ["GET", "/scim/v2/Users"],
  ["GET", "/auth/session"],
  ["GET", "/metrics"],
];

test.each(ASKED.map(([method, path, body]) => ({ method, path, body })))(
  "S9: headers as long as may be: $method $path",
  async ({ method, path, body }) => {
    for (const header of HEADERS) {
      await stayQuick(`${path} ${header}`, async () => {
        for (const unit of VALUES) {
          const headers = { [header]: filled(unit).trim() };
          const key = header === "authorization" ? null : credentialFor(path);
          const { status } = await gateway.call(method, path, { key, headers, ...(body && { body }) });
          expect([header, unit, status < 500 || status === 503]).toEqual([header, unit, true]);
        }
      });
    }
  },
);
