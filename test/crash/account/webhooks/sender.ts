/**
 * A process that emits events at a pace and delivers them to webhooks: `node webhooks.sender.ts FOLDER PLAN`. It says on
 * standard output what it has committed; it is killed at any moment, and begun again it goes on where it was.
 */
import { openVault } from "../../../../src/account/provider-keys/vault.ts";
import type { EndpointRow } from "../../../../src/account/webhooks/endpoint.ts";
import { openWebhooks } from "../../../../src/account/webhooks/open.ts";
import { webhookOperations } from "../../../../src/account/webhooks/operations.ts";
import { type Clock, systemClock, systemRandom, systemTimers } from "../../../../src/base/clock.ts";
import { cursors } from "../../../../src/base/operation/cursor.ts";
import type { Caller } from "../../../../src/base/operation/operation.ts";
import { USUAL_QUOTAS } from "../../../../src/base/quota.ts";
import { type OutboundRules, readAllow } from "../../../../src/outbound/rules.ts";
import { openOutbound } from "../../../../src/outbound/send.ts";
import { policyActivated } from "../../../../src/routing/policies/policy-events.ts";
import { Audit } from "../../../../src/store/events/audit.ts";
import { Events } from "../../../../src/store/events/events.ts";
import { openInstallation } from "../../../../src/store/installation/installation.ts";
import { Jobs } from "../../../../src/store/jobs/jobs.ts";
import { openStore } from "../../../../src/store/store.ts";
import { again, rest } from "../../../support/pace.ts";
import { AUTHORITY } from "./certificate.ts";

export interface Plan {
  /** By name: a first start makes an endpoint for each. */
  readonly urls: Readonly<Record<string, string>>;
  readonly events: number;
  readonly perS: number;
}

/** What a line of output holds, as JSON. */
export type Said =
  | { readonly endpoint: string; readonly id: string; readonly secret: string }
  | { readonly ready: true }
  | { readonly committed: number }
  | { readonly cpuS: number }
  | { readonly ended: Readonly<Record<string, Tally>> };

/** Deliveries of an endpoint. */
export interface Tally {
  readonly delivered: number;
  readonly failed: number;
  readonly pending: number;
  readonly attempts: number;
  readonly errors: readonly string[];
}

const ORG = "org_a";
const [folder = "", planText = ""] = process.argv.slice(2);
const plan: Plan = JSON.parse(planText);
const say = (said: Said): void => void process.stdout.write(`${JSON.stringify(said)}\n`);
const onFailure = (error: unknown): void => {
  throw error;
};

const store = openStore(folder);
const common = { store, clock: systemClock, onFailure };
const events = new Events(common);
const audit = new Audit(common);
const trail = { events, audit };
const jobs = new Jobs({ ...common, timers: systemTimers, random: systemRandom, holder: "cell_a" });
const rules: OutboundRules = {
  allow: readAllow(["127.0.0.1/32"]),
  ownPorts: () => [],
  ownAddresses: () => new Set(),
};
/** A hundred times as fast: names are looked up again after 0.3 s instead of 30 s. */
const hasty: Clock = { now: systemClock.now, monotonic: () => systemClock.monotonic() * 100 };
let lookups = 0;
const outbound = openOutbound({
  rules,
  clock: hasty,
  ca: [AUTHORITY],
  maxCalls: 700,
  resolve: async () => (lookups++ === 0 ? ["127.0.0.1"] : lookups % 2 ? ["127.0.0.66"] : ["169.254.169.254"]),
});
const vault = openVault(openInstallation({ dataDir: folder, masterKey: undefined }));
const webhooks = openWebhooks({
  ...common,
  random: systemRandom,
  events,
  trail,
  jobs,
  outbound,
  vault,
  version: "0.0.0",
  rulesOf: () => rules,
});

const caller: Caller = {
  requestId: "01J00000000000000000000000",
  orgId: ORG,
  projectId: "",
  environment: "live",
  actor: { kind: "key", id: "key_a" },
  origin: { ipPrefix: "", userAgent: "" },
  scopes: new Set(),
};

async function createEndpoints(): Promise<void> {
  const deps = {
    ...webhooks,
    store,
    events,
    trail,
    clock: systemClock,
    vault,
    rulesOf: () => rules,
    quotas: USUAL_QUOTAS,
  };
  const { createWebhook } = webhookOperations({ ...deps, cursors: cursors(Buffer.alloc(32)) });
  const head = { header: () => "", cookie: () => undefined, address: "" };
  for (const [name, url] of Object.entries(plan.urls)) {
    const body = { url, events: [], description: name };
    const made = await createWebhook.run({ params: undefined, query: undefined, body }, caller, head);
    if (!("secret" in made)) throw new Error("no secret");
    say({ endpoint: name, id: made.id, secret: made.secret });
  }
}

function tally({ id }: EndpointRow): Tally {
  const counts = { delivered: 0, failed: 0, pending: 0, attempts: 0 };
  const errors = new Set<string>();
  for (const row of webhooks.tables.deliveriesOf(id)) {
    counts[row.status]++;
    counts.attempts += row.attempt;
    if (row.error !== "") errors.add(row.error);
  }
  return { ...counts, errors: [...errors].sort().slice(0, 20) };
}

if (webhooks.tables.endpointsOf(ORG).length === 0) await createEndpoints();
await jobs.start();
again(() => {
  const { user, system } = process.cpuUsage();
  say({ cpuS: (user + system) / 1e6 });
}, 200);
say({ ready: true });

let emitted = [...events.of(ORG)].length;
// Also those of a process that was killed before it said so.
say({ committed: emitted });
const startMs = systemClock.monotonic();
for (let n = 0; emitted < plan.events; n++) {
  const data = {
    name: `e${emitted}`,
    version: 1,
    status: "active" as const,
    created_by: "usr_1",
    scopes: [],
  };
  await store.act(() =>
    events.emit(policyActivated, ORG, { ...data, created_at: new Date(systemClock.now()).toISOString() }),
  );
  emitted++;
  say({ committed: emitted });
  await rest(Math.max(0, startMs + ((n + 1) * 1000) / plan.perS - systemClock.monotonic()));
}

process.stdin.once("end", () => {
  const endpoints = webhooks.tables.endpointsOf(ORG);
  say({ ended: Object.fromEntries(endpoints.map((row) => [row.description, tally(row)])) });
  process.exit(0);
});
process.stdin.resume();
