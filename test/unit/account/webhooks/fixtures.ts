/**
 * What the tests of webhooks stand on: the room over a real store, with real jobs and real calls to receivers on loopback;
 * time and timers are a test's to move.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "vitest";
import { openVault } from "../../../../src/account/provider-keys/vault.ts";
import type { DeliveryRow } from "../../../../src/account/webhooks/delivery.ts";
import { openWebhooks } from "../../../../src/account/webhooks/open.ts";
import { webhookOperations } from "../../../../src/account/webhooks/operations.ts";
import { type Clock, seededRandom, type Timers } from "../../../../src/base/clock.ts";
import { cursors } from "../../../../src/base/operation/cursor.ts";
import type { AnyOperation, Caller } from "../../../../src/base/operation/operation.ts";
import { USUAL_QUOTAS } from "../../../../src/base/quota.ts";
import { OutboundError } from "../../../../src/outbound/failure.ts";
import { type OutboundRules, readAllow } from "../../../../src/outbound/rules.ts";
import { type Outbound, openOutbound } from "../../../../src/outbound/send.ts";
import { policyActivated } from "../../../../src/routing/policies/policy-events.ts";
import { Audit } from "../../../../src/store/events/audit.ts";
import { Events } from "../../../../src/store/events/events.ts";
import type { Trail } from "../../../../src/store/events/trail.ts";
import { openInstallation } from "../../../../src/store/installation/installation.ts";
import { Jobs } from "../../../../src/store/jobs/jobs.ts";
import { openStore } from "../../../../src/store/store.ts";
import { NO_HEAD } from "../../../support/http-head.fixtures.ts";
import { until as untilByClock } from "../../../support/wait.ts";
import { type Receiver, startReceiver } from "../../../support/webhooks/receiver.ts";

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export class ManualTime implements Clock, Timers {
  #nowMs: number;
  #timers = new Map<object, { readonly atMs: number; readonly act: () => void }>();

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  now = (): number => this.#nowMs;
  monotonic = (): number => this.#nowMs;

  after(delayMs: number, act: () => void): () => void {
    const name = {};
    this.#timers.set(name, { atMs: this.#nowMs + delayMs, act });
    return () => this.#timers.delete(name);
  }

  /** In one leap; each timer whose time has come fires once. */
  advance(ms: number): void {
    this.#nowMs += ms;
    for (const [name, { atMs, act }] of this.#timers)
      if (atMs <= this.#nowMs && this.#timers.delete(name)) act();
  }
}

/** An endpoint or a delivery as it is answered. */
export type Wire = Record<string, unknown> & { id: string; secret: string; status: string };
export interface Page {
  data: Wire[];
  next_cursor: string;
}

export const RULES: OutboundRules = {
  allow: readAllow(["127.0.0.1/32"]),
  ownPorts: () => [],
  ownAddresses: () => new Set(),
};

export interface RigOptions {
  /** Each act runs twice and the first run is dropped: acts must only read and put. Default: true. */
  readonly actsTwice?: boolean;
  readonly mostWaiting?: number;
}

/** Shows what receivers answer, as if they had public addresses: what is not shown of others is for test/engine/account/webhooks/webhooks.addresses.test.ts. */
const asIfPublic = (outbound: Outbound): Outbound => ({
  ...outbound,
  async send(request) {
    try {
      return { ...(await outbound.send(request)), isShown: true };
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      throw new OutboundError(error.kind, { message: error.message });
    }
  },
});

export type Rig = Awaited<ReturnType<typeof openRig>>;

export async function openRig({ actsTwice = true, mostWaiting }: RigOptions = {}) {
  // Receivers compare the time of a signature with their own clock.
  const time = new ManualTime(Date.now());
  const folder = mkdtempSync(join(tmpdir(), "weir-webhooks-"));
  const store = openStore(folder, { actsTwice });
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => void failures.push(error);
  const events = new Events({ store, clock: time, onFailure });
  const audit = new Audit({ store, clock: time, onFailure });
  const trail: Trail = { events, audit };
  const common = { store, clock: time, random: seededRandom(3) };
  const jobs = new Jobs({ ...common, timers: time, holder: "cell_a", onFailure });
  const outbound = asIfPublic(openOutbound({ rules: RULES, clock: time, timers: time }));
  const vault = openVault(openInstallation({ dataDir: folder, masterKey: undefined }));
  const webhooks = openWebhooks({
    ...common,
    events,
    trail,
    jobs,
    outbound,
    vault,
    onFailure,
    version: "1.2.3",
    rulesOf: () => RULES,
    ...(mostWaiting !== undefined && { mostWaiting }),
  });
  const ops: Record<string, AnyOperation> = webhookOperations({
    ...webhooks,
    store,
    events,
    trail,
    clock: time,
    vault,
    rulesOf: () => RULES,
    quotas: USUAL_QUOTAS,
    cursors: cursors(Buffer.alloc(32, 1)),
  });
  const receivers: Receiver[] = [];
  await jobs.start();

  /** Runs an operation as the edge does: inputs through its schemas, and its answer too. */
  async function call<T = Wire>(name: string, input: CallInput = {}): Promise<T> {
    const { by = OWNER, query = {}, body = {}, ...path } = input;
    const op = ops[name] as AnyOperation;
    const inputs = {
      params: op.params?.parse(path),
      query: op.query?.parse(query),
      body: op.body?.parse(body),
    };
    const answer = await op.run(inputs, by, NO_HEAD);
    expect(op.output.parse(answer)).toEqual(answer);
    return answer as T;
  }

  /** Only in an act. */
  function putEvent(name = "house", orgId = "org_a"): void {
    const createdAt = new Date(time.now()).toISOString();
    const data = {
      name,
      version: 1,
      status: "active" as const,
      created_at: createdAt,
      created_by: "usr_1",
      scopes: [],
    };
    trail.events.emit(policyActivated, orgId, data);
  }

  /** Until everything that can happen at this time has: nothing runs, and nothing waits for its commit. */
  async function settle(): Promise<void> {
    for (let quiet = 0; quiet < 12; ) {
      await nextTurn();
      time.advance(0);
      const isQuiet = jobs.metrics().running === 0 && store.unsaved() === 0;
      quiet = isQuiet ? quiet + 1 : 0;
    }
  }

  /** For what runs on: time stands still meanwhile. */
  async function until(what: string, holds: () => boolean): Promise<void> {
    const look = () => {
      time.advance(0);
      return holds();
    };
    await untilByClock(what, look);
  }

  async function pass(ms: number): Promise<void> {
    time.advance(ms);
    await settle();
  }

  return {
    time,
    folder,
    store,
    events,
    audit,
    jobs,
    webhooks,
    ops,
    failures,
    call,
    putEvent,
    settle,
    until,
    pass,
    async receiver(host?: string): Promise<Receiver> {
      const receiver = await startReceiver(host);
      receivers.push(receiver);
      return receiver;
    },
    create: (url: string, body: object = {}, by = OWNER) =>
      call("createWebhook", { by, body: { url, ...body } }),
    /** An event of a real type. @returns its id */
    async emit(name = "house", orgId = "org_a"): Promise<string> {
      await store.act(() => putEvent(name, orgId));
      return [...events.of(orgId)][0]?.id ?? "";
    },
    /** Oldest first. */
    deliveries: (endpointId: string): DeliveryRow[] =>
      [...webhooks.tables.deliveriesOf(endpointId)].reverse(),
    /** To the next try of a pending delivery. @returns how long that was */
    async passToNext({ endpointId, id }: Pick<DeliveryRow, "endpointId" | "id">): Promise<number> {
      const { nextAtMs } = webhooks.tables.delivery(endpointId, id) as DeliveryRow;
      const waitedMs = nextAtMs - time.now();
      await pass(Math.max(0, waitedMs));
      return waitedMs;
    },
    async dispose(): Promise<void> {
      const stopped = jobs.stop();
      outbound.close();
      await stopped;
      for (const receiver of receivers) await receiver.close();
      for (const room of [webhooks, events, audit]) room.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface CallInput {
  readonly by?: Caller;
  readonly id?: string;
  readonly delivery?: string;
  readonly query?: object;
  readonly body?: object;
}

export const callerOf = (orgId: string, environment: "live" | "test" = "live"): Caller => ({
  requestId: "01J00000000000000000000000",
  actor: { kind: "key", id: "key_a" },
  origin: { ipPrefix: "192.0.2.0/24", userAgent: "test" },
  orgId,
  projectId: "prj_a",
  environment,
  scopes: new Set(["read:org", "write:org"]),
});

/** Who acts unless a test says otherwise. */
const OWNER = callerOf("org_a");
