/** What the operator's pages read and decide of customers: tickets by status and org, refunds with a ticket, top-ups, and what needs an operator. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SignedInPerson, signInAt } from "../../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { until } from "../../../support/wait.ts";

let gateway: TestGateway;
let owner: SignedInPerson;
let key: string;
let orgId: string;
beforeAll(async () => {
  gateway = await testGateway({ settings: { operators: ["ops@example.com"] } });
  owner = await signInAt(gateway.url, { email: "owner@example.com" });
  key = readFileSync(join(gateway.folder, "data/operator-key"), "utf8").trim();
  orgId = (await owner.call("GET", "/auth/me")).json.active_org;
});
afterAll(() => gateway.stop());

const operate = (method: string, path: string, body?: unknown) =>
  gateway.call(method, `/v1/operator${path}`, { key, body });
const ticket = async (kind: "refund" | "other", subject: string): Promise<string> =>
  (await owner.call("POST", "/v1/tickets", { body: { kind, subject } })).json.id;
const idsOf = async (query: string): Promise<string[]> =>
  (await operate("GET", `/tickets?${query}`)).json.data.map(({ id }: { id: string }) => id);

async function paidTopup(): Promise<string> {
  const { json } = await gateway.call("POST", "/v1/credits/topups", { body: { amount_minor: 2500 } });
  const { id } = json.topup;
  await fetch(json.checkout_url, {
    method: "POST",
    body: new URLSearchParams({ act: "pay" }),
    redirect: "manual",
  });
  const status = async () => (await gateway.call("GET", `/v1/credits/topups/${id}`)).json.status;
  await until("the top-up is paid", async () => (await status()) === "paid");
  return id;
}

test("tickets are listed by status and org: open ones oldest first, others newest first", async () => {
  const [first, second, third] = [
    await ticket("other", "one"),
    await ticket("other", "two"),
    await ticket("other", "three"),
  ];
  for (const id of [first, second])
    await operate("POST", `/tickets/${id}/decide`, { status: "rejected", answer: "no" });
  expect(await idsOf("")).toEqual([third]);
  expect(await idsOf("status=rejected")).toEqual([second, first]);
  expect(await idsOf(`status=rejected&org_id=${orgId}`)).toEqual([second, first]);
  expect(await idsOf("status=rejected&org_id=org_none")).toEqual([]);
  const page = (await operate("GET", "/tickets?status=rejected&limit=1")).json;
  expect(page.data).toHaveLength(1);
  expect(await idsOf(`status=rejected&limit=1&cursor=${page.next_cursor}`)).toEqual([first]);
});

test("an approved ticket refunds a top-up in the same act, once, and other tickets do not", async () => {
  const topup = await paidTopup();
  const listed = async () => (await operate("GET", `/orgs/${orgId}/topups`)).json.data[0];
  expect(await listed()).toMatchObject({ id: topup, refundable_minor: 2500 });
  const refund = { topup_id: topup, amount_minor: 1000 };
  const other = await ticket("other", "a question");
  const wrong = await operate("POST", `/tickets/${other}/decide`, { status: "approved", refund });
  expect([wrong.status, wrong.json.error.param]).toEqual([400, "/refund"]);
  const asked = await ticket("refund", "please");
  const rejected = await operate("POST", `/tickets/${asked}/decide`, { status: "rejected", refund });
  expect([rejected.status, rejected.json.error.param]).toEqual([400, "/refund"]);
  const tooMuch = { ...refund, amount_minor: 2501 };
  const refused = await operate("POST", `/tickets/${asked}/decide`, { status: "approved", refund: tooMuch });
  expect([refused.status, refused.json.error.code]).toEqual([409, "not_refundable"]);
  expect(await idsOf("kind=refund")).toEqual([asked]);

  for (const _ of [1, 2]) {
    const decided = await operate("POST", `/tickets/${asked}/decide`, { status: "approved", refund });
    expect([decided.status, decided.json.status]).toEqual([200, "approved"]);
  }
  const refunds = (await gateway.call("GET", "/v1/credits/refunds")).json.data;
  expect(refunds).toMatchObject([{ topup_id: topup, amount_minor: 1000, reason: `Ticket ${asked}` }]);
  expect(await listed()).toMatchObject({ refunded_minor: 1000 });
  const audit = (await owner.call("GET", "/v1/audit?act=refund.*")).json.data;
  expect(audit.map(({ target }: { target: string }) => target)).toEqual([refunds[0].id]);
  expect((await operate("GET", "/orgs/none/topups")).status).toBe(404);
});

test("what needs an operator is told to operators, with the name of the customer", async () => {
  const id = await ticket("other", "Help");
  const { json } = await operate("GET", "/attention");
  expect(json.data.find(({ subject }: { subject: { id: string } }) => subject.id === id)).toMatchObject({
    kind: "ticket_open",
    severity: "warning",
    title: "A ticket waits: “Help”.",
    subject: { type: "ticket", name: "Help" },
    details: { kind: "other", org_id: orgId },
  });
  const ops = await signInAt(gateway.url, { email: "ops@example.com" });
  expect((await ops.call("GET", "/v1/operator/attention")).status).toBe(200);
  expect((await owner.call("GET", "/v1/operator/attention")).json.error.code).toBe("role");
  // The org's own list is of the org: no customer's ticket is in it.
  const own = (await owner.call("GET", "/v1/attention")).json.data as { kind: string }[];
  expect(own.filter(({ kind }) => kind === "ticket_open")).toEqual([]);
});
