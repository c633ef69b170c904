/** Mails that follow from events, whom they go to, and how many there may be. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { orgClosed as orgClosedEvent, ticketDecided } from "../../../../src/account/account-events.ts";
import type { closingShape } from "../../../../src/account/credit-left.ts";
import { readEml } from "../../../../src/account/mail/eml.ts";
import { orgAdministrators } from "../../../../src/account/mail/recipients.ts";
import { orgWire } from "../../../../src/account/org-wire.ts";
import { newTicket, ticketWire } from "../../../../src/account/tickets/ticket.ts";
import { budgetEvents } from "../../../../src/credits/budgets/budget-events.ts";
import { eventType } from "../../../../src/store/events/types.ts";
import { mailRig, writtenMails } from "./fixtures.ts";

const rig = mailRig();

const written = async () => (await writtenMails(rig)).map((text) => readEml(Buffer.from(text, "latin1")));
const receivers = async () => (await written()).map(({ to }) => to).sort();
const emit = (...[type, data]: [Parameters<typeof rig.events.emit>[0], unknown]) =>
  rig.store.act(() => rig.events.emit(type, rig.org.id, data));
const ticket = (subject = "more") =>
  ticketWire({
    ...newTicket({ orgId: rig.org.id, kind: "other", subject, body: {}, createdBy: "ann@acme.example" }, 0),
    status: "approved",
    answer: "Yes.",
  });
const setOrg = (change: object) => rig.store.act(() => rig.accounts.replaceOrg({ ...rig.org, ...change }));

describe("a mail to an org", () => {
  test("goes to its billing address alone", async () => {
    await rig.member("owner@acme.example", "owner");
    await setOrg({ billingEmail: "billing@acme.example" });
    await emit(ticketDecided, ticket());
    expect(await receivers()).toEqual(["billing@acme.example"]);
  });

  test("else to each owner who has signed in, apart", async () => {
    await rig.member("one@acme.example", "owner");
    await rig.member("Two@Acme.example", "owner");
    await rig.member("asked@acme.example", "owner", "invited");
    await rig.member("gone@acme.example", "owner", "disabled");
    await rig.member("admin@acme.example", "admin");
    await rig.member("member@acme.example", "member");
    await rig.member("no address", "owner");
    await emit(ticketDecided, ticket());
    expect(await receivers()).toEqual(["Two@acme.example", "one@acme.example"]);
  });

  test("else to its admins who have signed in", async () => {
    await rig.member("asked@acme.example", "owner", "invited");
    await rig.member("admin@acme.example", "admin");
    await rig.member("other@acme.example", "admin", "invited");
    await emit(ticketDecided, ticket());
    expect(await receivers()).toEqual(["admin@acme.example"]);
  });

  test("of a reported key goes to each owner and admin, whatever the billing address", async () => {
    const putReported = () =>
      rig.store.act(() => rig.mail.putKeyReported({ orgId: rig.org.id, keyId: "key_gone" }));
    const recipients = () => orgAdministrators(rig.accounts, rig.org.id);
    await setOrg({ billingEmail: "billing@acme.example" });
    expect(recipients()).toEqual(["billing@acme.example"]);
    await rig.member("admin@acme.example", "admin");
    await rig.member("owner@acme.example", "owner");
    await rig.member("member@acme.example", "member");
    expect(recipients()).toEqual(["owner@acme.example", "admin@acme.example"]);
    // There is nothing to say of a key that is gone.
    await putReported();
    expect(await receivers()).toEqual([]);
  });

  test("says why its reader gets it, and no more than the rows tell", async () => {
    await rig.member("owner@acme.example", "owner");
    await emit(ticketDecided, ticket());
    expect(await written()).toHaveLength(1);
    await setOrg({ billingEmail: "billing@acme.example" });
    await emit(ticketDecided, ticket());
    const why = (await written()).map(({ to, text }) => [to, text.split("-- \n")[1]]);
    expect(Object.fromEntries(why)).toEqual({
      "owner@acme.example": "You get this mail because you own “Acme”.\n",
      "billing@acme.example": "You get this mail because “Acme” gave this address as its billing address.\n",
    });
  });

  test("is left out, and told of, where nobody has an address", async () => {
    await emit(ticketDecided, ticket());
    expect(await receivers()).toEqual([]);
    expect(rig.failures.join()).toContain("has no address");
  });

  test("does not come where the act of its event fails", async () => {
    await rig.member("owner@acme.example", "owner");
    const act = rig.store.act(() => {
      rig.events.emit(ticketDecided, rig.org.id, ticket());
      throw new Error("no");
    });
    await expect(act).rejects.toThrow("no");
    expect(await receivers()).toEqual([]);
  });

  test("comes at most fifty times a day of one sort, so that nobody can flood a mailbox", async () => {
    await rig.member("owner@acme.example", "owner");
    for (let i = 0; i < 60; i++) await emit(ticketDecided, ticket(`${i}`));
    await emit(orgClosedEvent, { ...orgWire(rig.org), closing: closing({}) });
    expect(await receivers()).toHaveLength(51);
    expect(rig.failures.filter((line) => line.includes("until tomorrow")).length).toBeGreaterThan(0);
    rig.clock.advance(86_400_000);
    await emit(ticketDecided, ticket("tomorrow"));
    expect(await receivers()).toHaveLength(52);
  });

  test("never makes the act of its event fail", async () => {
    await rig.member("owner@acme.example", "owner");
    await emit(eventType("webhook.disabled", z.looseObject({})), { unexpected: true });
    expect(await receivers()).toEqual([]);
    expect(rig.failures.join()).toContain("webhook_disabled");
    expect([...rig.events.of(rig.org.id)]).toHaveLength(1);
  });
});

type Closing = z.input<typeof closingShape>;

/** What becomes of the credit of an org that an owner closes. */
const closing = (changes: Partial<Closing>): Closing => ({
  by: "owner",
  refund_requested: false,
  paid_micro: 0,
  granted_micro: 0,
  refunds: [],
  ...changes,
});

describe("the mail of", () => {
  const oneMail = async () => {
    const mails = await written();
    expect(mails).toHaveLength(1);
    return mails[0] ?? { subject: "", text: "", html: "" };
  };

  test("a ticket tells decision and answer", async () => {
    await rig.member("owner@acme.example", "owner");
    await emit(ticketDecided, ticket("Refund of <May>"));
    const { subject, text, html } = await oneMail();
    expect(subject).toBe("Your request was approved: Refund of <May>");
    expect(text).toContain("Asked by: ann@acme.example");
    expect(text).toContain("> Yes.");
    expect(html).toContain("Refund of &lt;May&gt;");
  });

  test("a budget comes once in each of its periods, in the org's numbers and zone", async () => {
    await rig.member("owner@acme.example", "owner");
    await setOrg({ billingCountry: "IN", timeZone: "Asia/Kolkata" });
    const { put, close } = budgetEvents({
      store: rig.store,
      clock: rig.clock,
      events: rig.events,
      onFailure: () => {},
    });
    const exceeded = {
      budget: "project_monthly" as const,
      keyId: "key_1",
      projectId: "prj_1",
      hard: true,
      orgId: rig.org.id,
      limitMicroUsd: 123_456_000_000,
      spentMicroUsd: 123_456_500_000,
      resetsAtMs: Date.parse("2026-09-30T18:30:00Z"),
    };
    for (let i = 0; i < 3; i++) await rig.store.act(() => put(exceeded));
    close();
    const { subject, text } = await oneMail();
    expect(subject).toBe("A budget of Acme is used up: the project “prj_1” for the month");
    expect(text).toContain(
      "Budget: $1,23,456.00\nSpent: $1,23,456.50\nBegins anew: 1 October 2026 at 00:00 (Asia/Kolkata)",
    );
    expect(text).toContain("are refused");
  });

  test.each([
    [
      "a refund that was asked for",
      { refund_requested: true, ticket_id: "tkt_1", paid_micro: 12_500_000, granted_micro: 3_000_000 },
      [
        "Paid credit that is left: $12.50\nGranted credit that is left: $3.00",
        "A refund of the paid credit was asked for, and is not made yet: the request is waiting to be decided",
        "https://gateway.example/console/acme/tickets/tkt_1",
        "Granted credit was not paid for: it ends with the organisation, and is not refunded.",
      ],
    ],
    [
      "a refund of nothing",
      { refund_requested: true, ticket_id: "tkt_1" },
      ["A refund was asked for, and there is no paid credit left to refund."],
    ],
    [
      "no credit",
      {},
      ["There is no paid credit left to refund.", "https://gateway.example/console/acme/billing/invoices\n"],
    ],
    [
      "paid credit that was not asked for",
      { paid_micro: 12_500_000 },
      [
        "nobody asked for it. Owners, admins and billing members still can",
        "https://gateway.example/console/acme/credits/topups\n",
      ],
    ],
    [
      "paid credit at an erasure, when nobody can sign in any more",
      { by: "erasure", paid_micro: 12_500_000 },
      ["nobody asked for it. Write to whoever runs this service"],
    ],
    [
      "refunds under way",
      {
        refunds: [
          { id: "rfd_1", currency: "INR", total_minor: 11_800_000 },
          { id: "rfd_2", currency: "USD", total_minor: 2_500 },
        ],
      },
      [
        "Refunds that were asked for before are under way. Each goes back to the payment it is of:",
        "Refund: ₹1,18,000.00\nRefund: $25.00",
      ],
    ],
  ] as [string, Partial<Closing>, string[]][])(
    "C12: a closed org says what became of its credit: %s",
    async (_what, changes, words) => {
      await rig.member("owner@acme.example", "owner");
      await emit(orgClosedEvent, { ...orgWire(rig.org), closing: closing(changes) });
      const { text } = await oneMail();
      for (const part of words) expect(text).toContain(part);
      expect(text).toContain("nothing is charged any more");
      expect(text.includes("for as long as tax law demands")).toBe(!("by" in changes));
      expect([text.includes("was not paid for"), text.includes("under way")]).toEqual([
        "granted_micro" in changes,
        "refunds" in changes,
      ]);
    },
  );

  test("C12: a refund that failed says that its credit is there again", async () => {
    await rig.member("owner@acme.example", "owner");
    await emit(eventType("refund.failed", z.looseObject({})), {
      id: "rfd_1",
      topup_id: "tup_1",
      currency: "USD",
      total_minor: 2_500,
      credits_micro: 25_000_000,
      failure: "The card is closed.",
    });
    const { subject, text } = await oneMail();
    expect(subject).toBe("Refund of $25.00 to Acme failed");
    expect(text).toContain("Amount: $25.00\nReason: The card is closed.\nReference: rfd_1");
    expect(text).toContain("Its credit of $25.00 is there again");
    expect(text).toContain("https://gateway.example/console/acme/credits/topups/tup_1\n");
  });

  test.each([
    [
      "org.closed",
      { name: "Acme", closed_at: "2026-09-09T10:00:00Z" },
      "Acme was closed",
      "9 September 2026",
    ],
    [
      "erasure.requested",
      { name: "Acme", slug: "acme", erasure_due_at: "2026-10-09T10:00:00Z" },
      "All data of Acme will be erased",
      "https://gateway.example/console/acme/settings/closing\n",
    ],
    [
      "subscription.past_due",
      { plan_id: "team", period_end: "2026-10-09T10:00:00Z" },
      "The plan of Acme could not be renewed",
      "after one, three and seven days",
    ],
    [
      "spend.spike",
      { day: "2026-09-09", spent_micro: 31_000_000, usual_micro: 10_000_000, spike_alert_pct: 200 },
      "Acme spent $31.00 today, more than usual",
      "over 200 % more than on a usual day. Calls go on.\n\nDay: 2026-09-09\nSpent so far: $31.00\nUsual for a whole day: $10.00",
    ],
    [
      "credits.low",
      { balance_micro_usd: 4_990_000, credits_low_micro: 5_000_000 },
      "Credit of Acme is low: $4.99 is left",
      "Credit then: $4.99\nTold below: $5.00",
    ],
    [
      "webhook.disabled",
      { id: "wh_1", url: "https://user:pass@hooks.example:8443/in?token=secret" },
      "A webhook of Acme was disabled",
      "Address: https://hooks.example:8443/in\n",
    ],
    [
      "auto_topup.notified",
      {
        mandate_id: "mnd_1",
        currency: "INR",
        amount_minor: 10_000_000,
        total_minor: 11_800_000,
        due_at: "2026-09-10T11:00:00Z",
      },
      "₹1,18,000.00 will be debited for credit of Acme",
      "Tax: ₹18,000.00\nDebited: ₹1,18,000.00\nNot before: 10 September 2026",
    ],
    [
      "auto_topup.failed",
      { mandate_id: "mnd_1", currency: "USD", total_minor: 1_000, failure: "No funds." },
      "Automatic top-up of $10.00 failed for Acme",
      "It is not tried again.",
    ],
    [
      "auto_topup.failed",
      {
        mandate_id: "mnd_1",
        currency: "USD",
        total_minor: 1_000,
        failure: "",
        retry_at: "2026-09-10T11:00:00Z",
      },
      "Automatic top-up of $10.00 failed for Acme",
      "not before 10 September 2026",
    ],
    ["mandate.paused", { reason: "dispute" }, "Automatic top-ups of Acme have stopped", "is disputed"],
  ] as const)("%s says what happened", async (name, data, subject, words) => {
    await rig.member("owner@acme.example", "owner");
    await emit(eventType(name, z.looseObject({})), data);
    const mail = await oneMail();
    expect(mail.subject).toBe(subject);
    expect(mail.text).toContain(words);
    expect(mail.text).not.toContain("secret");
  });
});
