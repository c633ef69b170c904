/** What sources of `GET /v1/operator/attention` find, of rooms that are in a state of the test's own. */
import { expect, test } from "vitest";
import type { Finding } from "../../../../src/account/attention/finding.ts";
import {
  type OperatorFindingDeps,
  operatorFindings,
} from "../../../../src/host/gateway/attention/operator-findings.ts";

const QUIET = {
  nameOf: (id: string) => (id === "org_1" ? "Acme" : undefined),
  tickets: { open: () => [] },
  parked: { all: () => [] },
  uncharged: { after: () => [] },
  unregistered: () => ({ failed: 0, overdue: 0 }),
  reconciliation: () => ({ faults: 0, ranAtS: 0 }),
  cells: undefined,
};

async function found(change: object): Promise<readonly Finding[]> {
  const sources = operatorFindings({ ...QUIET, ...change } as unknown as OperatorFindingDeps);
  const all = await Promise.all(sources.map((source) => source.find({ orgId: "", environment: "live" })));
  return all.flat();
}

test("an installation in order needs no operator", async () => {
  expect(await found({})).toEqual([]);
});

test("tickets wait, and payments that were not closed", async () => {
  const ticket = { id: "tkt_1", orgId: "org_1", kind: "refund", subject: "Please", createdAtMs: 5 };
  const parked = {
    id: "prk_1",
    orgId: "",
    ref: "pay_1",
    reason: "paid_twice",
    gateway: "stripe",
    createdAtMs: 6,
  };
  const findings = await found({
    tickets: { open: () => [ticket] },
    parked: {
      all: () => [
        { ...parked, closedAtMs: null },
        { ...parked, id: "prk_2", closedAtMs: 7 },
      ],
    },
  });
  expect(findings).toMatchObject([
    { kind: "ticket_open", sinceMs: 5, details: { org_id: "org_1", org_name: "Acme" } },
    {
      kind: "payment_parked",
      title: "A payment was not credited: it was paid twice.",
      subject: { id: "prk_1", name: "pay_1" },
      details: { org_name: "" },
    },
  ]);
});

test("books, documents and uncharged calls are one finding each", async () => {
  const findings = await found({
    uncharged: { after: () => Array.from({ length: 600 }, () => ({})) },
    unregistered: () => ({ failed: 1, overdue: 3 }),
    reconciliation: () => ({ faults: 1, ranAtS: 9 }),
  });
  expect(findings.map(({ kind, title, severity }) => [kind, severity, title])).toEqual([
    [
      "invoice_unregistered",
      "warning",
      "The portal of e-invoices does not have 3 documents that it must have.",
    ],
    ["books_differ", "warning", "The books of the newest reconciled day do not match: one finding."],
    ["calls_uncharged", "info", "500 and more calls of retired cells were charged to no organisation."],
  ]);
});

test("a cell that is silent is critical, and cells that cannot be asked are none", async () => {
  const cells = ["alive", "silent", "left"].map((status) => ({ cell: status, status, leasedOrgs: 2 }));
  const [silent, ...rest] = await found({ cells: { listed: async () => ({ cells }) } });
  expect(rest).toEqual([]);
  expect(silent).toMatchObject({ kind: "cell_silent", severity: "critical", details: { leased_orgs: 2 } });
  expect(await found({ cells: { listed: () => Promise.reject(new Error("away")) } })).toEqual([]);
});
