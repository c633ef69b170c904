/** Issues invoices and credit notes to two orgs, some of them in acts that are dropped, until it is killed. Says each that is durable. */
import { seededRandom } from "../../../../src/base/clock.ts";
import { Issuer } from "../../../../src/billing/invoices/issuer.ts";
import { Series } from "../../../../src/billing/invoices/series.ts";
import { InvoiceTables } from "../../../../src/billing/invoices/tables.ts";
import { openStore } from "../../../../src/store/store.ts";
import { ManualClock } from "../../../support/credits/fixtures.ts";
import { INTER, orderOf, SUPPLIER, UNREGISTERED } from "../../../support/invoices/rows.ts";
import { say } from "../../../support/say.ts";
import { trailOn } from "../../../support/trail.fixtures.ts";

const [folder = "", seed = "1"] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const clock = new ManualClock("2026-05-04T10:00:00Z");
const store = openStore(folder);
const { events, jobs } = trailOn(store, clock);
const tables = new InvoiceTables(store);
const issuer = new Issuer({
  clock,
  tables,
  series: new Series(store),
  events,
  jobs,
  supplier: SUPPLIER,
  putMail: () => {},
});
let made = 0;

function issueOne() {
  const orgId = random() < 0.5 ? "org_a" : "org_b";
  const id = `${seed}-${++made}`;
  const invoice = {
    ...orderOf({ recipient: random() < 0.5 ? INTER : UNREGISTERED, taxableMinor: 1000 }),
    orgId,
    topupId: `tup_${id}`,
    reference: { type: "topup" as const, id: `tup_${id}` },
  };
  const row = issuer.issue(invoice);
  if (random() < 0.4) return [row];
  const share = issuer.creditShare(orgId, row.id, 300);
  const note = issuer.issue({
    ...invoice,
    ...share,
    kind: "credit_note",
    taxableMinor: 300,
    lines: [{ description: "Refund", kind: "credits", quantity: 1, unitMinor: 300, amountMinor: 300 }],
    reference: { type: "refund", id: `rfd_${id}` },
  });
  return [row, note];
}

async function issueOnAndOn(): Promise<never> {
  for (;;) {
    const isDropped = random() < 0.2;
    const acted = store.act(() => {
      const rows = issueOne();
      if (isDropped) throw new Error("dropped");
      return rows;
    });
    const rows = await acted.catch(() => []);
    for (const { orgId, number, id } of rows) say(`${orgId} ${id} ${number}`);
  }
}

await Promise.all([issueOnAndOn(), issueOnAndOn(), issueOnAndOn()]);
