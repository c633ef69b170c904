/** Mails to addresses that tenants choose: as many as the quotas say, and no flood keeps a receipt from its reader. */

import { afterEach, beforeEach, expect, test } from "vitest";
import { ticketDecided } from "../../../../src/account/account-events.ts";
import { AskedMails } from "../../../../src/account/mail/asked-mails.ts";
import { invoice } from "../../../../src/account/mail/templates/invoice.ts";
import { keyReported } from "../../../../src/account/mail/templates/key-reported.ts";
import { newTicket, ticketWire } from "../../../../src/account/tickets/ticket.ts";
import { WeirError } from "../../../../src/base/errors.ts";
import { USUAL_QUOTAS } from "../../../../src/base/quota.ts";
import { DAY_MS } from "../../../../src/base/time.ts";
import { mailRig } from "./fixtures.ts";

const rig = mailRig();
let asked: AskedMails;
beforeEach(() => {
  const quotas = {
    ...USUAL_QUOTAS,

    mails_per_day: 20,
    person_mails_per_day: 10,
    address_mails_per_day: 5,
    org_address_mails_per_day: 2,
  };
  asked = new AskedMails({ store: rig.store, clock: rig.clock, quotas, onFailure: () => {} });
});
afterEach(() => asked.close());

/** `done`, or the quota that refused. */
async function send(to: string, orgId = "org_1", personId = "usr_1"): Promise<unknown> {
  try {
    await rig.store.act(() => asked.count({ orgId, personId, to }));
    return "done";
  } catch (error) {
    return error instanceof WeirError && error.kind === "plan_limit" ? error.details?.quota : error;
  }
}
const outcomes = async (acts: readonly Promise<unknown>[]) => {
  const counts: Record<string, number> = {};
  for (const what of await Promise.all(acts)) counts[String(what)] = (counts[String(what)] ?? 0) + 1;
  return counts;
};

test("S10: of 200 that an org sends at once as many go as its quota says, and another org's go on", async () => {
  const all = Array.from({ length: 200 }, (_, i) => send(`${i}@example.com`, "org_1", `usr_${i}`));
  expect(await outcomes(all)).toEqual({ done: 20, mails_per_day: 180 });
  expect(await send("somebody@example.com", "org_2", "usr_0")).toBe("done");
  rig.clock.advance(DAY_MS);
  expect(await send("somebody@example.com")).toBe("done");
});

test("S10: a person has no more by other orgs of theirs", async () => {
  const all = Array.from({ length: 30 }, (_, i) => send(`${i}@example.com`, `org_${i % 5}`));
  expect(await outcomes(all)).toEqual({ done: 10, person_mails_per_day: 20 });
});

test("S10: an address gets few, however it is written, and one org takes only a part of them", async () => {
  const forms = ["ann@example.com", "Ann@Example.com", "ANN@EXAMPLE.COM"];
  expect(await Promise.all(forms.map((to) => send(to)))).toEqual([
    "done",
    "done",
    "org_address_mails_per_day",
  ]);
  expect(await send("ann@example.com", "org_2", "usr_2")).toBe("done");
  const others = Array.from({ length: 10 }, (_, i) =>
    send("ann@example.com", `org_${i + 3}`, `usr_${i + 3}`),
  );
  expect(await outcomes(others)).toEqual({ done: 2, address_mails_per_day: 8 });
});

test("S10: what was refused counts nowhere", async () => {
  for (let i = 0; i < 3; i++) await send("ann@example.com");
  const others = Array.from({ length: 8 }, (_, i) => send(`${i}@example.com`));
  expect(await outcomes(others)).toEqual({ done: 8 });
});

test("S10: a flood of notices keeps no receipt away, also where it is of the same sort", async () => {
  await rig.member("owner@acme.example", "owner");
  const row = newTicket({ orgId: rig.org.id, kind: "other", subject: "More", body: {}, createdBy: "" }, 0);
  const decided = ticketWire({ ...row, status: "approved", answer: "Yes." });
  await rig.store.act(() => {
    for (let i = 0; i < 200; i++) rig.events.emit(ticketDecided, rig.org.id, decided);
  });
  const data = { id: "inv_1", number: "1", total: "$1", supplier: "S", title: "Invoice", issuedAtMs: 0 };
  const put = () => rig.store.act(() => rig.mail.toOrg.put(invoice, { orgId: rig.org.id, data }));
  const receipts = await Promise.all(Array.from({ length: 60 }, put));
  expect(receipts.filter((keys) => keys?.length === 1)).toHaveLength(60);
});

test("S10: an org that reports its own keys sends as many mails of it as of any other notice", async () => {
  // Whose owner has no address: then the billing address gets it, which may be a stranger's.
  await rig.store.act(() => rig.accounts.replaceOrg({ ...rig.org, billingEmail: "stranger@other.example" }));
  const { toOrg } = rig.mail;
  const put = () =>
    rig.store.act(() => toOrg.put(keyReported, { orgId: rig.org.id, data: { keyId: "key_1" } }));
  const mails = await Promise.all(Array.from({ length: 200 }, put));
  expect(mails.filter((keys) => keys !== undefined)).toHaveLength(50);
});
