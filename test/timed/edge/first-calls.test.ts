/**
 * The first call of a process at each route: whatever it needs is there before, or is made a piece at a time or in another thread, so
 * that no other call waits. A gateway in a process of its own, new; each route is called once, in the order of the table, and the
 * longest turn of the event loop is measured by its processor time, which other programs of the machine do not change.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Route } from "../../../src/edge/routes.ts";
import { type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import { longestTurn, WITNESSED } from "../../support/event-loop.fixtures.ts";
import { type Answer, removeFolder, seededFolder } from "../../support/gateway.ts";
import { HEALTH_MS, type HealthProbe, probeHealth, slowestMs } from "../../support/healthz.fixtures.ts";
import { seedInvoices } from "../../support/invoices/invoice.fixtures.ts";
import type { CallWorld } from "../../support/routes/call-world.ts";
import { bodyOf, CALLS, isForKeys, nameOf, pathOf, table } from "../../support/routes/calls.ts";
import { openWorld } from "../../support/routes/world.fixtures.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";

const PAGES = [
  "/",
  "/readyz",
  "/metrics",
  "/docs",
  "/openapi.json",
  "/schemas/policy.json",
  "/assets/docs.css",
];

let folder: string;
let gateway: SpawnedGateway;
let probe: HealthProbe;
let owner: SignedInPerson;
let world: CallWorld;
let directoryToken: string;
/** What was called → milliseconds of the longest turn. */
const turns: [string, number][] = [];

beforeAll(async () => {
  folder = await seededFolder(() => {});
  const [invoice] = await seedInvoices(folder);
  gateway = await spawnGateway({
    folder,
    env: { ...WITNESSED, OWN_CREDENTIAL: "set" },
    endpoints: [{ provider: "own", credentialEnv: "OWN_CREDENTIAL" }],
    settings: { max_orgs_per_person: 100 },
  });
  probe = probeHealth(gateway);
  await longestTurn(gateway);
  for (const path of PAGES) await measured(`GET ${path}`, () => gateway.call("GET", path, { key: null }));
  owner = await measured("a sign-in", () => signInAt(gateway.url, { email: "owner@example.com" }));
  const chat = await measured("a chat completion", () => gateway.chat());
  const requestId = chat.headers.get("x-svc-request-id") ?? "";
  world = await openWorld({ gateway, owner, requestId, invoiceId: invoice?.id ?? "" });
  directoryToken = (await owner.call("POST", "/v1/org/scim/token", { body: {} })).json.token;
});
afterAll(async () => {
  probe?.stop();
  await gateway?.stop();
  removeFolder(folder);
});

async function measured<T>(what: string, act: () => Promise<T>): Promise<T> {
  const answer = await act();
  turns.push([what, await longestTurn(gateway)]);
  return answer;
}

/** The good call of a route, by who may make it. */
function ask(route: Route, path: string, body: object | undefined): Promise<Answer> {
  const by = (key: string | null) => gateway.call(route.method, path, { key, ...(body && { body }) });
  if (isForKeys(route)) return by(gateway.liveKey);
  if (route.access === "operator") return by(readFileSync(join(folder, "data/operator-key"), "utf8").trim());
  if (route.access === "directory") return by(directoryToken);
  if (route.access === "public" || route.access === "anyone") return by(null);
  return owner.call(route.method, path, { ...(body && { body }) });
}

test("S8: the first call of no route keeps the event loop as long as a health check may take", async () => {
  for (const route of table) {
    const path = await pathOf(route, world.orgId, world);
    // One that changes nobody's rights where there is such a call: later ones need the token and the sessions.
    const isHarmless = CALLS[nameOf(route)]?.harmless !== undefined;
    const body = await bodyOf(route, world, isHarmless);
    // What the preparation of the call took is not the route's.
    await longestTurn(gateway);
    const { status } = await measured(nameOf(route), () => ask(route, path, body));
    expect(status, nameOf(route)).toBeLessThan(500);
  }
  const health = await probe.health();
  turns.sort(([, a], [, b]) => b - a);
  console.log(
    `longest turns, ms: ${turns
      .slice(0, 12)
      .map(([what, ms]) => `${what} ${ms}`)
      .join("; ")}`,
  );
  console.log(`/healthz: ${JSON.stringify(health)}`);
  expect(turns.filter(([, ms]) => ms >= HEALTH_MS)).toEqual([]);
  expect(turns.length).toBe(table.length + PAGES.length + 2);
  expect(health.failed).toBe(0);
  expect(slowestMs(health, false)).toBeLessThan(HEALTH_MS);
});
