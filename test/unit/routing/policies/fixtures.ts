/** What the tests of policies stand on: the room on a store of its own, with a small catalog and two orgs. */
import { afterEach, beforeEach, expect } from "vitest";
import { seededRandom } from "../../../../src/base/clock.ts";
import type { Endpoint, Model } from "../../../../src/base/endpoint.ts";
import type { AnyOperation, Caller } from "../../../../src/base/operation/operation.ts";
import { USUAL_QUOTAS } from "../../../../src/base/quota.ts";
import { modelNames } from "../../../../src/catalog/models/model-names.ts";
import type { AccountView } from "../../../../src/routing/policies/account-view.ts";
import type { CanaryRed } from "../../../../src/routing/policies/canary/canary.ts";
import {
  type PoliciesOperationDeps,
  policiesOperations,
} from "../../../../src/routing/policies/operations.ts";
import { openPolicies, type Policies } from "../../../../src/routing/policies/policies.ts";
import type { VersionKey } from "../../../../src/routing/policies/policy-tables.ts";
import { readInThread } from "../../../../src/routing/policies/reading-thread.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";
import { NO_HEAD } from "../../../support/http-head.fixtures.ts";
import { endpoint, FRESH, model, provider } from "../../../support/routing/fixtures.ts";
import { NO_TRAIL, ORIGIN } from "../../../support/trail.fixtures.ts";

export const START = "2026-09-09T00:00:00.000Z";

const SCOPES: ReadonlySet<string> = new Set(["read:policies", "write:policies"]);
export const OWNER: Caller = {
  requestId: "01J00000000000000000000000",
  orgId: "org_1",
  projectId: "prj_1",
  actor: { kind: "key", id: "key_1" },
  origin: ORIGIN,
  environment: "live",
  scopes: SCOPES,
};
export const STRANGER: Caller = {
  ...OWNER,
  orgId: "org_2",
  projectId: "prj_9",
  actor: { kind: "key", id: "key_9" },
};
export const TESTER: Caller = { ...OWNER, actor: { kind: "key", id: "key_test" }, environment: "test" };

const PROJECTS: Readonly<Record<string, string>> = { prj_1: "org_1", prj_2: "org_1", prj_9: "org_2" };

/** Two orgs with their projects; `gone` names those that were deleted. */
export const accountsWithout = (...gone: string[]): AccountView => ({
  project(id) {
    const orgId = PROJECTS[id];
    const status = gone.includes(id) ? "deleted" : "active";
    return orgId === undefined ? undefined : { orgId, slug: id.replace("prj_", "project-"), status };
  },
  key: (id) => (id === "key_test" ? { orgId: "org_1", projectId: "prj_2", environment: "test" } : undefined),
  org: () => ({ dataPolicy: { zdr: false, noTrain: false, regions: [] } }),
});

export const CHEAP = endpoint("ep_cheap", { input: 100, output: 400, provider: provider("cheap", true) });
export const DEAR = endpoint("ep_dear", { input: 300, output: 900, provider: provider("dear", true) });
export const MODEL: Model = model(CHEAP, DEAR);

const models = new Map([[MODEL.id, MODEL]]);
const catalog = {
  ...modelNames(models),
  models,
  providers: new Map([
    ["cheap", CHEAP.provider],
    ["dear", DEAR.provider],
  ]),
  unreachable: (): readonly Endpoint[] => [],
};

/** An answer of any shape. */
type Wire = Record<string, unknown> & { name: string; version: number; status: string; data: Wire[] };

interface Input {
  readonly name?: string;
  readonly version?: number | string;
  readonly query?: object;
  readonly body?: unknown;
}

/** For the top of a test file: everything anew before each test. Read what changes from the rig. */
export function policyRig() {
  const clock = new ManualClock(START);
  let disk: ReturnType<typeof tempStore>;
  let policies: Policies;
  let ports: Partial<PoliciesOperationDeps>;
  let reds: CanaryRed[];
  let unreadable: VersionKey[];
  let failures: unknown[];
  let threaded: string[];

  const open = () => {
    policies = openPolicies({
      store: disk.store,
      clock,
      readInThread: (task) => {
        threaded.push(task.text);
        return Promise.resolve(readInThread(task));
      },
      onCanaryRed: (event) => void reds.push(event),
      onUnreadable: (version) => void unreadable.push(version),
      onFailure: (error) => void failures.push(error),
    });
  };
  beforeEach(() => {
    disk = tempStore();
    [reds, unreadable, failures, threaded, ports] = [[], [], [], [], {}];
    open();
  });
  afterEach(async () => {
    await policies.close();
    await disk.dispose();
  });

  async function call(name: string, input: Input = {}, by: Caller = OWNER): Promise<Wire> {
    const operations = policiesOperations({
      policies,
      clock,
      trail: NO_TRAIL,
      quotas: USUAL_QUOTAS,
      catalog: { current: () => catalog },
      health: { ...FRESH, with: () => FRESH },
      random: seededRandom(1),
      usualAnswerTokens: 4_096,
      accounts: accountsWithout(),
      ownKeys: { of: () => undefined },
      replay: () => Promise.reject(new Error("no replay was asked for")),
      reports: {
        experiments: () => Promise.resolve({ arms: [], missingSinceMs: undefined }),
        shadows: () => Promise.resolve([]),
      },
      ...ports,
    });
    const op = operations[name as keyof typeof operations] as AnyOperation;
    const { query = {}, body, ...path } = input;
    // As the edge does: inputs through the schemas, and the answer too.
    const answer = await op.run(
      { params: op.params?.parse(path), query: op.query?.parse(query), body: op.body?.parse(body) },
      by,
      NO_HEAD,
    );
    expect(op.output.parse(answer)).toEqual(answer);
    return answer as Wire;
  }

  return {
    clock,
    get policies() {
      return policies;
    },
    get reds() {
      return reds;
    },
    get unreadable() {
      return unreadable;
    },
    get failures() {
      return failures;
    },
    /** Texts that were read in another thread. */
    get threaded() {
      return threaded;
    },
    get store() {
      return disk.store;
    },
    set ports(to: Partial<PoliciesOperationDeps>) {
      ports = to;
    },
    call,
    /** Closes and opens everything, as a restart does. */
    async restart() {
      await policies.close();
      await disk.reopen();
      open();
    },
    create: (name: string, yaml = "version: 1", by?: Caller) =>
      call("createPolicy", { body: { name, yaml } }, by),
    addVersion: (name: string, yaml = "version: 1", by?: Caller) =>
      call("createPolicyVersion", { name, body: { yaml } }, by),
    activate: (name: string, version: number, scope?: object, by?: Caller) =>
      call("activatePolicy", { name, body: { version, ...(scope && { scope }) } }, by),
    deactivate: (name: string, scope?: object, by?: Caller) =>
      call("deactivatePolicy", { name, body: { ...(scope && { scope }) } }, by),
    list: async (by?: Caller) => (await call("listPolicies", {}, by)).data,
    versions: async (name: string, by?: Caller) => (await call("listPolicyVersions", { name }, by)).data,
    /** `name@version` of what is in force for a project. */
    currentActivations(projectId = "prj_1", orgId = "org_1"): string {
      const compiled = policies.of({ orgId, projectId })?.compiled;
      return compiled === undefined ? "none" : `${compiled.name}@${compiled.version}`;
    },
  };
}
