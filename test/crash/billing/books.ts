/** What must be true of every org's money once all have paid, however often the gateway was killed meanwhile. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { readEml } from "../../../src/account/mail/eml.ts";
import type { Answer } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";
import type { Org, Person, World } from "../account/world.ts";
import type { Story } from "./payers.ts";
import type { PaymentService } from "./service.ts";

export interface Customer {
  readonly owner: Person;
  readonly org: Org;
}

type Json = Answer["json"];

/** All that the API shows of an org's money. */
interface Books {
  readonly topups: Json[];
  readonly refunds: Json[];
  readonly invoices: Json[];
  readonly ledger: Json[];
  readonly events: Json[];
  readonly audit: Json[];
  readonly balance: number;
}

const sorted = (texts: readonly string[]): string[] => texts.toSorted();
const idsOf = (rows: readonly Json[], field = "id"): string[] => sorted(rows.map((row) => row[field]));

async function booksOf(world: World, { owner, org }: Customer): Promise<Books> {
  const list = (path: string) => world.list(path, owner, org);
  const { available_micro_usd: available, held_micro_usd: held } = await world.done(
    "GET",
    "/v1/credits",
    owner,
    {
      org,
    },
  );
  return {
    topups: await list("/v1/credits/topups"),
    refunds: await list("/v1/credits/refunds"),
    invoices: await list("/v1/invoices"),
    ledger: await list("/v1/credits/ledger"),
    events: await list("/v1/events"),
    audit: await list("/v1/audit"),
    balance: available + held,
  };
}

/** @returns counts for the run's report */
export async function expectBooks(
  world: World,
  service: PaymentService,
  customers: readonly Customer[],
  stories: readonly Story[],
): Promise<Record<string, number>> {
  const all: Json[] = [];
  const counts = { topups: 0, paid: 0, refunds: 0, failedRefunds: 0, disputes: 0, documents: 0, events: 0 };
  for (const customer of customers) {
    const mine = stories.filter(({ payer }) => payer.org.id === customer.org.id);
    const books = await booksOf(world, customer);
    expectTopups(books, mine);
    expectRefunds(books, mine);
    expectLedger(books, service);
    expectRecords(books);
    await expectDelivered(world, customer, books);
    all.push(...books.invoices);
    counts.topups += books.topups.length;
    counts.paid += books.topups.filter(isPaid).length;
    counts.refunds += books.refunds.filter(({ status }) => status === "refunded").length;
    counts.failedRefunds += books.refunds.filter(({ status }) => status === "failed").length;
    counts.disputes += books.events.filter(({ type }) => type === "topup.disputed").length;
    counts.events += books.events.length;
  }
  counts.documents = all.length;
  expectSeries(all);
  expectService(service, stories);
  await expectMails(world, all);
  await expectParked(world, stories);
  return counts;
}

const isPaid = ({ status }: Json): boolean => !["pending", "failed", "expired"].includes(status);

/** Each payer has one top-up, which is credited if the right amount came. */
function expectTopups({ topups, invoices }: Books, stories: readonly Story[]): void {
  expect(idsOf(topups)).toEqual(sorted(stories.map(({ topupId }) => topupId)));
  for (const { topupId, payer } of stories) {
    const topup = topups.find(({ id }) => id === topupId);
    const pays = payer.habit.pays === "at once" || payer.habit.pays === "after a failure";
    expect([payer.name, isPaid(topup)]).toEqual([payer.name, pays]);
    expect(topup.amount_minor).toBe(payer.amountMinor);
    const own = invoices.filter(({ kind, topup_id: of }) => kind !== "credit_note" && of === topupId);
    expect(own.map(({ id, total_minor: total }) => [id, total])).toEqual(
      pays ? [[topup.invoice_id, topup.total_minor]] : [],
    );
  }
}

/** Each refund once, with one credit note where the money went back. */
function expectRefunds({ topups, refunds, invoices }: Books, stories: readonly Story[]): void {
  const told = stories.flatMap(({ refundId }) => (refundId === undefined ? [] : [refundId]));
  expect(idsOf(refunds)).toEqual(sorted(told));
  const settled = refunds.filter(({ status }) => status === "refunded");
  expect(settled.length + refunds.filter(({ status }) => status === "failed").length).toBe(refunds.length);
  const notes = invoices.filter(({ kind }) => kind === "credit_note");
  expect(idsOf(notes)).toEqual(idsOf(settled, "credit_note_id"));
  for (const refund of settled)
    expect(notes.find(({ id }) => id === refund.credit_note_id)?.total_minor).toBe(refund.total_minor);
  for (const { id, refunded_minor: refunded } of topups) {
    const own = settled.filter(({ topup_id: of }) => of === id);
    expect(own.reduce((sum, { amount_minor: minor }) => sum + minor, 0)).toBe(refunded);
  }
}

/** Sum of ledger = balance, and each thing that happened is in it once. */
function expectLedger({ topups, refunds, ledger, balance }: Books, service: PaymentService): void {
  expect(ledger.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(ledger.map((_, at) => at + 1));
  expect(ledger.reduce((sum, { amount_micro_usd: amount }) => sum + amount, 0)).toBe(balance);
  const posted = (kind: string) =>
    ledger
      .filter((entry) => entry.kind === kind)
      .map(({ ref_id: id, amount_micro_usd: amount }) => `${id} ${amount}`)
      .sort();
  const paid = topups.filter(isPaid);
  expect(posted("topup")).toEqual(sorted(paid.map(({ id, credits_micro: credit }) => `${id} ${credit}`)));
  expect(posted("refund")).toEqual(
    sorted(refunds.map(({ id, credits_micro: credit }) => `${id} ${-credit}`)),
  );
  const failed = refunds.filter(({ status }) => status === "failed");
  expect(posted("adjustment")).toEqual(
    sorted(failed.map(({ id, credits_micro: credit }) => `${id} ${credit}`)),
  );
  const payments = new Set(paid.map(({ payment_ref: ref }) => ref));
  const disputes = service.all("disputes").filter(({ paymentId }) => payments.has(paymentId));
  // A dispute of what is refunded already has nothing to take.
  const taken = disputes.filter(({ paymentId }) =>
    paid.some(
      ({ payment_ref: ref, refunded_minor: minor, amount_minor: all }) => ref === paymentId && minor < all,
    ),
  );
  const first = (kind: string) => sorted(posted(kind).map((text) => text.split(":")[0] ?? ""));
  expect(first("dispute")).toEqual(idsOf(taken));
  expect(first("dispute_reversal")).toEqual(idsOf(taken.filter(({ state }) => state === "won")));
}

/** Events and rows of the audit: one for each. */
function expectRecords({ topups, refunds, invoices, events, audit }: Books): void {
  const of = (type: string) => idsOf(events.filter((event) => event.type === type).map(({ data }) => data));
  expect(of("topup.paid")).toEqual(idsOf(topups.filter(isPaid)));
  expect(of("invoice.issued")).toEqual(idsOf(invoices));
  expect(of("refund.settled")).toEqual(idsOf(refunds.filter(({ status }) => status === "refunded")));
  expect(of("refund.failed")).toEqual(idsOf(refunds.filter(({ status }) => status === "failed")));
  expect(new Set(of("topup.disputed")).size).toBe(of("topup.disputed").length);
  const acts = (act: string) =>
    idsOf(
      audit.filter((row) => row.act === act),
      "target",
    );
  expect(acts("topup.create")).toEqual(idsOf(topups));
  expect(acts("refund.create")).toEqual(idsOf(refunds));
}

/** Each event has one delivery, which arrives. */
async function expectDelivered(world: World, { owner, org }: Customer, { events }: Books): Promise<void> {
  const deliveries = await world.list(`/v1/webhooks/${org.webhookId}/deliveries`, owner, org);
  expect(idsOf(deliveries, "event_id")).toEqual(idsOf(events));
  await until(`${org.slug} has heard of all`, () => world.received(org).size >= events.length);
  expect(sorted([...world.received(org)])).toEqual(idsOf(events));
}

/** The numbers of all orgs' invoices together are 1, 2, 3, … in each series. */
function expectSeries(invoices: readonly Json[]): void {
  const bySeries = Map.groupBy(invoices, ({ number }) => number.slice(0, number.lastIndexOf("/")) as string);
  for (const [series, documents] of bySeries) {
    const numbers = documents.map(({ number }) => number as string);
    const expected = numbers.map((_, at) => `${series}/${String(at + 1).padStart(7, "0")}`);
    expect(sorted(numbers)).toEqual(expected);
  }
}

/**
 * The payment service took each payment once and gave each refund back once. A gateway that died before it knew of a page asks for
 * another one; the first is known to nobody, so nobody pays there.
 */
function expectService(service: PaymentService, stories: readonly Story[]): void {
  const mine = stories.filter(({ payer }) => payer.habit.pays !== "never").map(({ topupId }) => topupId);
  const payments = service.all("payments").filter(({ state }) => state === "paid");
  expect(idsOf(payments, "reference")).toEqual(sorted(mine));
  const refunds = service.all("refunds").filter(({ state }) => state === "refunded");
  expect(new Set(idsOf(refunds, "reference")).size).toBe(refunds.length);
}

/** One mail for each document, and no more later. */
async function expectMails(world: World, invoices: readonly Json[]): Promise<void> {
  const folder = join(world.folder, "data/mail");
  const read = () => {
    const subjects = readdirSync(folder)
      .filter((name) => name.endsWith(".eml"))
      .map((name) => readEml(readFileSync(join(folder, name))).subject);
    return sorted(subjects.flatMap((subject) => /\b[A-Z]{2}\/\d\d-\d\d\/\d{7}\b/.exec(subject)?.[0] ?? []));
  };
  const isDone = () => read().length >= invoices.length;
  await until("all documents are mailed", isDone).catch((error: unknown) => {
    const sent = new Set(read());
    const missing = invoices.filter(({ number }) => !sent.has(number));
    const rows = missing.map(({ number, kind, irn_status: irn, created_at: at }) => ({
      number,
      kind,
      irn,
      at,
    }));
    throw new Error(`${String(error)}; missing: ${JSON.stringify(rows)}; ${world.output}`);
  });
  expect(read()).toEqual(idsOf(invoices, "number"));
}

/** Only what did not match was parked, and no job was given up. */
async function expectParked(world: World, stories: readonly Story[]): Promise<void> {
  const wrong = stories.filter(({ payer }) => payer.habit.pays === "wrong").map(({ topupId }) => topupId);
  const parked = () => world.list("/v1/operator/payments", world.operatorSecret());
  await until("all that does not match is parked", async () => (await parked()).length >= wrong.length);
  const rows = await parked();
  expect(sorted(rows.map(({ reason, topup_id: id }) => `${reason} ${id}`))).toEqual(
    sorted(wrong.map((id) => `amount_differs ${id}`)),
  );
  expect(await world.list("/v1/operator/jobs", world.operatorSecret())).toEqual([]);
}
