/**
 * One gateway for all files of a process that leave it as it is: its start costs what a dozen calls cost, its stop waits for
 * ClickHouse, which is away. Each file has an org of its own, with credit and two keys; a file that needs settings, endpoints, a
 * failing provider or the first org has a gateway of its own (`testGateway`).
 *
 * No file can leave it changed and not be told: a file has neither its folder nor a way to stop it or to read its catalog again, its
 * keys are of its own org and no operator's, and behind its last test no call may run and each endpoint must be as healthy as before.
 */
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { newKey } from "../../src/account/key.ts";
import { newOrg } from "../../src/account/org.ts";
import { newProject } from "../../src/account/project.ts";
import { DEFAULT_SCOPES, FIRST_KEY_SCOPES } from "../../src/account/scopes.ts";
import { type Environment, newSecret } from "../../src/account/secret.ts";
import { AccountTables } from "../../src/account/tables.ts";
import { NEWEST_SVC_VERSION } from "../../src/account/versions.ts";
import { systemClock, systemRandom } from "../../src/base/clock.ts";
import { openCredits } from "../../src/credits/ledger/credits.ts";
import { openStore } from "../../src/store/store.ts";
import {
  callsBy,
  removeFolder,
  seededFolder,
  type TestCalls,
  type TestGateway,
  testGateway,
} from "./gateway.ts";
import { atRest } from "./observations.ts";

type Keys = Pick<TestGateway, "liveKey" | "testKey">;

export interface SharedGateway extends Omit<TestCalls, "simulator"> {
  /** Its calls are those of all files: count from where the test begins. */
  readonly simulator: Omit<TestCalls["simulator"], "close">;
}

/** More than a process has files that share a gateway. */
const ORGS = 40;
/** As much as the first org of a new installation has. */
const CREDIT_MICRO_USD = 25_000_000;

/** Cells, their Redis and their engine are processes that would outlive this one: each file starts and stops its own. */
const OF_CELLS = Number(process.env.WEIR_TEST_CELLS ?? 0) > 0;

let running: Promise<{ readonly gateway: TestGateway; readonly orgs: Keys[] }> | undefined;

/** For the head of a file. What it returns is filled in before the file's first test, and before its own `beforeAll`. */
export function sharedGateway(): SharedGateway {
  const own = {} as SharedGateway & TestCalls;
  beforeAll(async () => {
    running ??= start();
    const { gateway, orgs } = await running;
    const keys = orgs.pop();
    if (keys === undefined) throw new Error(`ORGS of test/support/shared-gateway.ts is too small: ${ORGS}`);
    Object.assign(own, callsBy(keys, gateway.url, gateway.simulator));
  });
  afterAll(async () => {
    const { gateway } = await (running as NonNullable<typeof running>);
    await atRest(gateway);
    const seen = await unhealthy(gateway);
    // The files behind this one get another.
    if (seen.length > 0 || OF_CELLS) {
      running = undefined;
      await gateway.stop();
      removeFolder(gateway.folder);
    }
    expect(seen, "these endpoints failed here, and other files share them: take testGateway()").toEqual([]);
  });
  return own;
}

async function start() {
  const folder = await seededFolder(() => {});
  const orgs = await addOrgs(folder);
  const gateway = await testGateway({ folder });
  // Gateway and simulator end with the process of the tests, by this signal.
  process.once("SIGTERM", () => {
    removeFolder(folder);
    process.kill(process.pid, "SIGTERM");
  });
  return { gateway, orgs };
}

/** Endpoints whose failures other files would see. */
async function unhealthy(gateway: TestGateway): Promise<string[]> {
  const models = await gateway.call("GET", "/v1/models");
  const endpoints = await Promise.all(
    models.json.data.map(async ({ id }: { id: string }) => {
      const { json } = await gateway.call("GET", `/v1/models/${id}/endpoints`);
      return json.data as { id: string; health: { state: string } }[];
    }),
  );
  return endpoints
    .flat()
    .filter(({ health }) => health.state !== "healthy" && health.state !== "unknown")
    .map(({ id, health }) => `${id} is ${health.state}`);
}

async function addOrgs(folder: string): Promise<Keys[]> {
  const store = openStore(join(folder, "data"));
  const accounts = new AccountTables(store);
  const { book } = openCredits({ store, clock: systemClock });
  const nowMs = systemClock.now();
  const add = (slug: string): Keys => {
    const org = newOrg({ slug, name: slug, kind: "team", billingCountry: "US", planId: "local" }, nowMs);
    const project = newProject({ orgId: org.id, slug, name: slug, environment: "live" }, nowMs);
    accounts.addOrg(org);
    accounts.addProject(project);
    const addKey = (environment: Environment): string => {
      const secret = newSecret(environment, systemRandom);
      const row = {
        orgId: org.id,
        projectId: project.id,
        name: environment,
        environment,
        limits: {},
        budget: { dailyMicroUsd: null, hard: true },
        onDisconnect: "cancel" as const,
        lifetimeMs: null,
        svcVersion: NEWEST_SVC_VERSION,
        rotatedFrom: null,
        scopes: environment === "live" ? FIRST_KEY_SCOPES : DEFAULT_SCOPES,
      };
      accounts.addKey(newKey(row, secret, nowMs));
      return secret;
    };
    book.post(org.id, { kind: "grant", amountMicroUsd: CREDIT_MICRO_USD, refType: "test", refId: org.id });
    return { liveKey: addKey("live"), testKey: addKey("test") };
  };
  const orgs = await accounts.act(() => Array.from({ length: ORGS }, (_, i) => add(`file-${i + 1}`)));
  await store.close();
  return orgs;
}
