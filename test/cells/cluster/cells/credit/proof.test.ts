/** The proof of a restored installation: what follows from the entries passes, also while cells work; each way of not adding up is told. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { prove } from "../../../../../src/cluster/cells/credit/proof.ts";
import { POSTED_LEDGER } from "../../../../../src/cluster/cells/credit/shared-credits.ts";
import type { ActCredit } from "../../../../../src/cluster/cells/replica/act-credit.ts";
import { type Ledger, openLedger } from "../../../../../src/credits/ledger/ledger.ts";
import type { Hold } from "../../../../../src/credits/ledger/purse.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { equals, until } from "../../../../support/wait.ts";
import { type Bench, openBench } from "../fixtures.ts";
import { type CreditCell, charge, HeardLedger, openCreditCell } from "./credit-fixtures.ts";

const missing = missingRedis();

describe.skipIf(missing !== undefined)(`a proof${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  let cell: CreditCell;
  let posted: Ledger;
  const ledger = new HeardLedger();
  const credit = "{weir}:credit:org_one";
  beforeAll(async () => {
    bench = await openBench();
    cell = await openCreditCell(bench, "one", ledger, { idleMs: 200, waitMs: 5000 });
    posted = openLedger(cell.store, POSTED_LEDGER);
  });
  afterAll(async () => {
    await cell.stop();
    await bench.close();
  });

  let references = 0;
  const post = async (org: string, amountMicroUsd: number) => {
    const refId = `ref_${++references}`;
    await cell.store.act(() => {
      const credit = cell.store.creditInAct() as ActCredit;
      const { seq, balanceMicroUsd } = credit.of(org);
      credit.post(org, amountMicroUsd, false);
      const entry = { seq: seq + 1, amountMicroUsd, balanceMicroUsd: balanceMicroUsd + amountMicroUsd };
      posted.put(org, { ...entry, kind: "grant", refType: "grant", refId, createdAtMs: 1 });
    });
  };
  const numbered = (org: string, count: number) =>
    until("all charges are in the ledger", () => ledger.of(org).length, equals(count));

  const findings = async () => (await prove(bench.link, cell)).findings;

  test("postings and charges add up, also while others post and charge", async () => {
    await post("org_one", 10_000);
    await charge(cell, (await cell.purse.hold("org_one", 100)) as Hold, 100);
    await numbered("org_one", 1);
    await post("org_one", 500);
    await post("org_other", 70);
    expect(await prove(bench.link, cell)).toEqual({ orgs: 2, findings: [] });
    let isOn = true;
    const work = (async () => {
      while (isOn) {
        await post("org_other", 10);
        await charge(cell, (await cell.purse.hold("org_other", 2)) as Hold, 1);
      }
    })();
    try {
      for (let n = 0; n < 20; n++) expect(await findings()).toEqual([]);
    } finally {
      isOn = false;
      await work;
    }
    expect(await findings()).toEqual([]);
  });

  test("what is posted between the looks at Redis and at the entries is no finding", async () => {
    const posting = {
      store: cell.store,
      async caughtUp() {
        await post("org_other", 10);
        await post("org_new", 10);
        await cell.caughtUp();
      },
    };
    expect((await prove(bench.link, posting)).findings).toEqual([]);
  });

  test.each([
    ["b", 1, /^org_one: there are 1 micro-USD more after entry 3 than its entries give, and no charge$/],
    ["b", -1, /^org_one: 1 micro-USD lack after entry 3, and no charge took them$/],
    ["n", -1, /^org_one: it has entry 3, and Redis counts 2 entries$/],
    ["l", 5, /^org_one: the leases of cells are \d+ together, and Redis counts \d+$/],
    ["h:gone", -3, /^org_one: a cell's holds are below zero/],
    ["b", 0.5, /^org_one: b is no whole number in Redis$/],
  ])("%s changed by %d is told with the org, and gone when it is changed back", async (field, by, line) => {
    await bench.link.call("HINCRBYFLOAT", credit, field, by);
    expect(await findings()).toEqual([expect.stringMatching(line)]);
    await bench.link.call("HINCRBYFLOAT", credit, field, -by);
    expect(await findings()).toEqual([]);
  });

  test("an org whose balance Redis lacks is told", async () => {
    await bench.link.call("RENAME", credit, "{weir}:aside");
    expect(await findings()).toEqual(["org_one: it has entry 3, and Redis counts 0 entries"]);
    await bench.link.call("RENAME", "{weir}:aside", credit);
  });
});
