/** What each source of `GET /v1/attention` finds, of rooms that are in a state of the test's own. */
import { beforeEach, describe, expect, test } from "vitest";
import type { Finding } from "../../../../src/account/attention/finding.ts";
import type { DisabledReason } from "../../../../src/account/webhooks/endpoint.ts";
import { DAY_MS } from "../../../../src/base/time.ts";
import type { BudgetOwner } from "../../../../src/credits/limits/budget-list.ts";
import {
  type AccountFindingDeps,
  accountFindings,
} from "../../../../src/host/gateway/attention/account-findings.ts";
import { type CallFindingDeps, callFindings } from "../../../../src/host/gateway/attention/call-findings.ts";
import {
  type MoneyFindingDeps,
  moneyFindings,
} from "../../../../src/host/gateway/attention/money-findings.ts";
import { ManualClock } from "../../../support/credits/fixtures.ts";

const ASKER = { orgId: "org_1", environment: "live" as const };
const clock = new ManualClock("2026-03-10T12:00:00Z");
const NOW = clock.now();

type Sources = readonly { find(asker: typeof ASKER): unknown }[];
const found = async (sources: Sources) =>
  ((await Promise.all(sources.map((source) => source.find(ASKER)))) as Finding[][]).flat();
const told = (findings: readonly Finding[]) =>
  findings.map(({ kind, severity, subject }) => [kind, severity, subject.id]);

describe("money", () => {
  let org: { name: string; creditsLowMicroUsd?: number | null };
  let balance: number;
  let owners: BudgetOwner[];
  let spent: number;
  let rest: object;
  beforeEach(() => {
    org = { name: "Acme" };
    balance = 5_000_000;
    owners = [];
    spent = 0;
    rest = {};
  });
  const off = { enabled: false, recent: [], notBeforeMs: 0 };
  const deps = () =>
    ({
      clock,
      accounts: { org: () => org },
      creditOf: async () => ({ availableMicroUsd: balance - 1_000_000, heldMicroUsd: 1_000_000 }),
      ownersOf: () => ({ owners, isWhole: true }),
      isOfTests: () => false,
      budgets: {
        spendOfKey: () => ({ todayMicroUsd: spent, monthMicroUsd: 0 }),
        spendOfOrg: () => ({ todayMicroUsd: 0, monthMicroUsd: spent }),
        heldOf: () => 0,
      },
      subscriptions: { get: () => undefined },
      autoTopups: { of: () => off },
      mandates: { inForce: () => undefined },
      ...rest,
    }) as unknown as MoneyFindingDeps;
  const look = () => found(moneyFindings(deps()));

  test("an org that is well off needs nobody", async () => {
    expect(await look()).toEqual([]);
  });

  test("credit below the org's bound is low, and without any calls are refused", async () => {
    org.creditsLowMicroUsd = 6_000_000;
    const [low] = await look();
    expect(low).toMatchObject({
      kind: "credit_low",
      severity: "warning",
      details: { balance_micro: 5_000_000 },
    });
    expect(low?.title).toContain("5.00 USD");
    balance = 0;
    expect(told(await look())).toEqual([["credit_low", "critical", "org_1"]]);
  });

  test("a budget counts from 80 %, and a hard one that is used up is worst", async () => {
    const owner = (of: "org" | "key", hard: boolean): BudgetOwner => ({
      of,
      id: `${of}_1`,
      name: "Robot",
      budget: { limitMicroUsd: 100, hard },
      createdAtMs: 0,
      scope: { orgId: "org_1", projectId: "", keyId: "", timeZone: "UTC" },
      keyIds: [],
    });
    owners = [owner("org", false), owner("key", true)];
    for (const [now, wanted] of [
      [79, []],
      [
        80,
        [
          ["budget_near", "warning", "org_1"],
          ["budget_near", "warning", "key_1"],
        ],
      ],
      [
        100,
        [
          ["budget_used_up", "warning", "org_1"],
          ["budget_used_up", "critical", "key_1"],
        ],
      ],
    ] as const) {
      spent = now;
      expect(told(await look())).toEqual(wanted);
    }
    expect((await look())[1]).toMatchObject({
      title: "The budget of the key “Robot” for today is used up; calls beyond it are refused.",
      link: "/v1/keys/key_1",
    });
  });

  test("a plan's fee that is due, and top-ups that buy nothing", async () => {
    const mandate = { id: "man_1", status: "active", pauseReason: "", consecutiveFailures: 1 };
    const on = { ...off, enabled: true };
    const failed = { ...on, notBeforeMs: NOW + 1, recent: [{ topupId: "t", atMs: NOW - 5, minor: 0 }] };
    const cases: [object, unknown[]][] = [
      [
        {
          subscriptions: {
            get: () => ({ id: "sub_1", planId: "team", status: "past_due", missedAtMs: 5, missed: 2 }),
          },
        },
        [["subscription_past_due", "critical", "sub_1"]],
      ],
      [{ subscriptions: { get: () => ({ status: "active" }) } }, []],
      [{ autoTopups: { of: () => on } }, [["auto_topup_paused", "warning", ""]]],
      [{ autoTopups: { of: () => on }, mandates: { inForce: () => mandate } }, []],
      [
        { autoTopups: { of: () => on }, mandates: { inForce: () => ({ ...mandate, status: "paused" }) } },
        [["auto_topup_paused", "warning", "man_1"]],
      ],
      [
        { autoTopups: { of: () => failed }, mandates: { inForce: () => mandate } },
        [["auto_topup_failed", "warning", "man_1"]],
      ],
      [
        { autoTopups: { of: () => ({ ...failed, enabled: false }) }, mandates: { inForce: () => mandate } },
        [],
      ],
    ];
    for (const [state, wanted] of cases) {
      rest = state;
      expect(told(await look())).toEqual(wanted);
    }
  });
});

describe("calls", () => {
  const provider = { id: "acme", name: "Acme", status: "active" };
  const endpoint = (id: string, status = "active") => ({ id, status, provider });
  const models = new Map([
    [
      "a/one",
      {
        id: "a/one",
        name: "One",
        endpoints: [endpoint("ep_1"), endpoint("ep_2"), endpoint("ep_3", "inactive")],
      },
    ],
    ["a/two", { id: "a/two", name: "Two", endpoints: [endpoint("ep_4")] }],
  ]);
  const sourcesOf = (out: Set<string>, rows: object = {}) =>
    callFindings({
      clock,
      catalog: { current: () => ({ models }) },
      health: {
        outage: ({ id }: { id: string }) =>
          out.has(id) ? { sinceMs: clock.monotonic() - 4000, reason: "server" } : undefined,
      },
      policies: { activationsOf: () => [], canariesOf: () => [], ...rows },
    } as unknown as CallFindingDeps);

  test("an endpoint that is down is worst where no other one is left; all orgs look at once", async () => {
    const out = new Set(["ep_1", "ep_3", "ep_4"]);
    const sources = sourcesOf(out);
    const findings = await found(sources);
    expect(told(findings)).toEqual([
      ["endpoint_down", "info", "ep_1"],
      ["endpoint_down", "critical", "ep_4"],
    ]);
    expect(findings[0]).toMatchObject({ sinceMs: NOW - 4000, details: { model: "a/one", reason: "server" } });
    out.clear();
    expect(await found(sources)).toHaveLength(2);
    clock.advance(2000);
    expect(await found(sources)).toEqual([]);
  });

  test("red canaries of all versions in force, once each", async () => {
    const row = { endpointId: "ep_1", state: "red", samples: 30, failures: 20, evaluatedAtMs: 7 };
    const sources = sourcesOf(new Set(), {
      activationsOf: () => [
        { scope: "org", name: "fast", version: 3 },
        { scope: "prj_1", name: "fast", version: 3 },
        { scope: "prj_2", name: "fast", version: 2 },
        { scope: "prj_3", name: "calm", version: 1 },
      ],
      canariesOf: ({ policy, version }: { policy: string; version: number }) =>
        policy === "calm"
          ? [{ ...row, state: "green" }]
          : version === 3
            ? [row, { ...row, endpointId: "ep_2" }]
            : [],
    });
    const findings = await found(sources);
    expect(told(findings)).toEqual([
      ["canary_red", "warning", "fast"],
      ["canary_red", "warning", "fast"],
    ]);
    expect(findings.map(({ details }) => details?.endpoint_id)).toEqual(["ep_1", "ep_2"]);
  });
});

test("webhooks, keys, jobs and providers", async () => {
  const hook = (id: string, disabledReason: DisabledReason | null) => ({
    id,
    url: "https://acme.example/hook",
    description: id === "wh_named" ? "Ours" : "",
    status: disabledReason === null ? "active" : "disabled",
    disabledReason,
  });
  const key = {
    id: "key_1",
    name: "Robot",
    hint: "wxyz",
    environment: "live",
    revokedAtMs: null,
    isRevoked: false,
  };
  const deps = {
    clock,
    accounts: {
      expiringKeys: (_org: string, fromMs: number, toMs: number) => {
        expect(toMs - fromMs).toBe(7 * DAY_MS);
        return [
          { ...key, expiresAtMs: fromMs + DAY_MS },
          { ...key, id: "key_2", expiresAtMs: fromMs + DAY_MS, isRevoked: true },
        ];
      },
    },
    webhooks: {
      endpointsOf: () => [
        hook("wh_good", null),
        hook("wh_named", null),
        hook("wh_own", "manual"),
        hook("wh_gone", "gone"),
      ],
      state: (id: string) => ({ waiting: 3, failedAtMs: 9, failingSinceMs: id === "wh_named" ? 9 : 0 }),
    },
    jobs: {
      givenUp: () => [{ kind: "mail.send", key: "m_1", tries: 9, dueMs: 4, orgId: "org_2", error: "a text" }],
    },
    catalog: {
      current: () => ({
        providers: new Map([
          ["a", { id: "a", name: "A", missing: ["A_KEY"] }],
          ["b", { id: "b", name: "B" }],
          ["c", { id: "c", name: "C", missing: ["C_KEY"], isSwitchedOff: true }],
        ]),
      }),
    },
  } as unknown as AccountFindingDeps;
  const findings = await found(accountFindings(deps));
  expect(told(findings)).toEqual([
    ["webhook_failing", "warning", "wh_named"],
    ["webhook_disabled", "warning", "wh_gone"],
    ["key_expiring", "warning", "key_1"],
    ["job_given_up", "warning", "m_1"],
    ["provider_without_credential", "info", "a"],
  ]);
  expect(findings.map(({ subject }) => subject.name).slice(0, 2)).toEqual(["Ours", "acme.example"]);
});
