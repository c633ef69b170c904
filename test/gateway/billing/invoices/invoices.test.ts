/** Invoices of a whole gateway: shown, drawn, registered, mailed, corrected and exported. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { financialYear, indianMonth } from "../../../../src/billing/invoices/financial-year.ts";
import type { InvoiceRow } from "../../../../src/billing/invoices/invoice.ts";
import { joinAt, type SignedInPerson, signInAt } from "../../../support/console.fixtures.ts";
import {
  type Answer,
  removeFolder,
  seededFolder,
  type TestGateway,
  testGateway,
} from "../../../support/gateway.ts";
import { seedInvoices } from "../../../support/invoices/invoice.fixtures.ts";
import { ABROAD, INTER, orderOf } from "../../../support/invoices/rows.ts";
import { until } from "../../../support/wait.ts";

let gateway: TestGateway;
let folder: string;
let owner: SignedInPerson;
let operatorKey: string;
/** To somebody without GSTIN, to be corrected, to a firm, abroad. */
let rows: InvoiceRow[];
const row = (at: number) => rows[at] as InvoiceRow;
const atMs = Date.now();
const month = indianMonth(atMs);
const fy = financialYear(atMs).slice(2);

beforeAll(async () => {
  folder = await seededFolder((accounts) => {
    const org = accounts.oldestOrg();
    if (org !== undefined) accounts.replaceOrg({ ...org, billingEmail: "billing@example.com" });
  });
  rows = await seedInvoices(folder, [
    {},
    {},
    orderOf({ recipient: INTER, atMs }),
    orderOf({ recipient: ABROAD, taxableMinor: 5000, atMs }),
  ]);
  gateway = await testGateway({ engine: false, folder });
  owner = await signInAt(gateway.url, { email: "owner@example.com" });
  operatorKey = readFileSync(join(gateway.folder, "data/operator-key"), "utf8").trim();
});
afterAll(async () => {
  await gateway.stop();
  removeFolder(folder);
});

const get = (path: string) => gateway.call("GET", `/v1/invoices${path}`);
const operate = (method: string, path: string, body?: object) =>
  gateway.call(method, `/v1/operator${path}`, { key: operatorKey, ...(body && { body }) });
const refusal = ({ status, json }: Answer) => [status, json.error.code];
const page = (path: string) =>
  gateway.call("GET", path, { key: null, headers: { host: new URL(gateway.url).host } });

describe("what was billed", () => {
  test("is listed newest first, page by page", async () => {
    const all = (await get("")).json.data.map(({ number }: { number: string }) => number);
    expect(all).toEqual([4, 3, 2, 1].map((n) => `TI/${fy}/000000${n}`));
    const first = (await get("?limit=3")).json;
    const second = (await get(`?limit=3&cursor=${encodeURIComponent(first.next_cursor)}`)).json;
    const numbers = [...first.data, ...second.data].map(({ number }) => number);
    expect([numbers, second.next_cursor]).toEqual([all, ""]);
    expect((await get("?cursor=never-issued&limit=1")).json.data[0].number).toBe(all[0]);
    expect((await get("?limit=201")).status).toBe(400);
  });

  test("is read by its id, and is nobody else's", async () => {
    const { json } = await get(`/${row(0).id}`);
    expect(json).toMatchObject({ id: row(0).id, total_minor: 118_000, igst_minor: 18_000 });
    for (const path of ["", "/pdf", "/html"]) {
      expect(refusal(await get(`/inv_none${path}`))).toEqual([404, "not_found"]);
    }
    expect(refusal(await get(`/${row(0).id.replace("inv_", "cn_")}`))).toEqual([404, "not_found"]);
  });

  test("is a PDF and a page", async () => {
    const pdf = await get(`/${row(0).id}/pdf`);
    expect(pdf.headers.get("content-type")).toBe("application/pdf");
    expect(pdf.headers.get("content-disposition")).toBe(`inline; filename="TI-${fy}-0000001.pdf"`);
    expect(pdf.text.slice(0, 5)).toBe("%PDF-");
    expect((await get(`/${row(0).id}/pdf`)).text).toBe(pdf.text);
    const html = await get(`/${row(0).id}/html`);
    expect(html.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(html.text).toContain("₹1,180.00");
  });

  test("is its texts as they print, which its page has in the same words", async () => {
    const unescaped = (text: string) => text.replaceAll("&#39;", "'").replaceAll("&amp;", "&");
    for (const { id, number } of [row(0), row(2), row(3)]) {
      const { status, json } = await get(`/${id}/document`);
      const page = unescaped((await get(`/${id}/html`)).text);
      expect([status, json.number]).toEqual([200, number]);
      const texts = [
        json.title,
        json.words.value,
        ...[json.supplier, json.recipient].flatMap(({ heading, name, lines }) => [heading, name, ...lines]),
        ...json.facts.flatMap(({ name, value }: { name: string; value: string }) => [name, value]),
        ...json.columns.map(({ title }: { title: string }) => title),
        ...json.rows.flat(),
        ...json.totals.flatMap(({ name, value }: { name: string; value: string }) => [name, value]),
        ...json.notes,
        ...json.signature,
      ];
      expect(texts.filter((text) => !page.includes(text))).toEqual([]);
      expect(json.rows.every((cells: string[]) => cells.length === json.columns.length)).toBe(true);
      expect(json.totals.filter(({ is_strong: isStrong }: { is_strong: boolean }) => isStrong)).toHaveLength(
        1,
      );
    }
    expect(refusal(await get("/inv_none/document"))).toEqual([404, "not_found"]);
  });

  test("is shown to keys with read:billing and to people of billing, not to members", async () => {
    const made = await gateway.call("POST", "/v1/keys", { body: { name: "k", scopes: ["read:billing"] } });
    const key = made.json.secret;
    expect((await gateway.call("GET", "/v1/invoices", { key })).status).toBe(200);
    const resend = `/v1/invoices/${row(0).id}/resend`;
    const body = { to: "a@example.com" };
    expect(refusal(await gateway.call("POST", resend, { key, body }))).toEqual([403, "scope"]);
    await owner.call("POST", "/v1/orgs/first/members", {
      body: { email: "member@example.com", role: "member" },
    });
    const member = await joinAt(gateway.url, { email: "member@example.com" });
    expect(refusal(await member.call("GET", "/v1/invoices"))).toEqual([403, "role"]);
  });
});

test("B2B and exports are registered at the simulated portal, and then mailed with the PDF", async () => {
  const ids = [row(2).id, row(3).id];
  for (const id of ids) {
    const isDone = async () => (await get(`/${id}`)).json.irn_status === "generated";
    await until(`${id} is registered`, isDone);
  }
  expect((await operate("GET", "/invoices")).json.data).toEqual([]);
  expect((await get(`/${row(2).id}/html`)).text).toContain((await get(`/${row(2).id}`)).json.irn);
  const subject = `Tax Invoice TI/${fy}/0000003 from Weir Example Private Limited`;
  await until("it is mailed", async () => (await page("/dev/mail")).text.includes(subject));
  const { text } = await page("/dev/mail");
  const [, path = ""] = new RegExp(`href="(/dev/mail/job_\\w+)"><bdi>${subject}`).exec(text) ?? [];
  const mail = await page(path);
  expect(mail.text).toContain("₹1,180.00");
  const eml = readFileSync(
    join(gateway.folder, `data/mail/${path.slice("/dev/mail/".length)}.eml`),
    "latin1",
  );
  expect(eml).toContain(`filename=TI-${fy}-0000003.pdf`);
  const [, encoded = ""] = /application\/pdf[\s\S]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+)/.exec(eml) ?? [];
  expect(Buffer.from(encoded, "base64").subarray(0, 5).toString()).toBe("%PDF-");
});

describe("sent again", () => {
  const resend = (to: string) => gateway.call("POST", `/v1/invoices/${row(0).id}/resend`, { body: { to } });

  test("it goes to members by a key, elsewhere only from a session, ten times a day", async () => {
    expect((await resend("OWNER@example.com")).json).toEqual({ queued: true, to: "OWNER@example.com" });
    expect(refusal(await resend("accountant@elsewhere.example"))).toEqual([403, "scope"]);
    const body = { to: "accountant@elsewhere.example" };
    const path = `/v1/invoices/${row(0).id}/resend`;
    expect((await owner.call("POST", path, { body })).json).toEqual({ queued: true, ...body });
    const answers = await Promise.all(Array.from({ length: 12 }, () => resend("owner@example.com")));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(8);
    expect(refusal(await resend("owner@example.com"))).toEqual([403, "plan_limit"]);
    const mailed = async () => (await page("/dev/mail")).text.includes("to accountant@elsewhere.example");
    await until("it is mailed", mailed);
    // The address may be a stranger's: the mail says neither that its reader owns the org nor that they are billed.
    const listed = (await page("/dev/mail")).text.split("<li>");
    const line = listed.find((each) => each.includes("to accountant@elsewhere.example")) ?? "";
    const [, copy = ""] = /href="(\/dev\/mail\/job_\w+)"/.exec(line) ?? [];
    const sent = (await page(copy)).text;
    expect(sent).toContain("had this document sent to this address");
    expect(sent).not.toMatch(/because you|billing address/);
  });

  test.each(["", "nobody", "a@b", "a@example.com\r\nbcc: x@example.com", 5])("not to %j", async (to) => {
    expect(refusal(await resend(to as string))).toEqual([400, "invalid_value"]);
  });
});

describe("a correction", () => {
  const ask = (id: string, body: object) => gateway.call("POST", `/v1/invoices/${id}/correction`, { body });
  const right = { gstin: "33aaccn4455m1za", reason: "We registered in March." };

  test("is a ticket, once, whose approval writes a credit note and a new invoice", async () => {
    const asked = await ask(row(1).id, right);
    expect(asked.status).toBe(201);
    expect(asked.json).toMatchObject({
      status: "ticket",
      ticket: {
        kind: "invoice_correction",
        status: "open",
        body: { invoice_id: row(1).id, gstin: "33AACCN4455M1ZA", reason: right.reason },
      },
    });
    const { id } = asked.json.ticket;
    expect((await ask(row(1).id, right)).json.ticket.id).toBe(id);
    const decided = await operate("POST", `/tickets/${id}/decide`, { status: "approved", answer: "Done." });
    expect([decided.status, decided.json.status]).toEqual([200, "approved"]);
    const [invoice, note] = (await get("?limit=2")).json.data;
    expect(note).toMatchObject({ kind: "credit_note", number: `CN/${fy}/0000001`, original_id: row(1).id });
    expect(invoice).toMatchObject({ number: `TI/${fy}/0000005`, recipient_gstin: "33AACCN4455M1ZA" });
    expect((await get(`/${row(1).id}`)).json).toMatchObject({
      status: "credited",
      credited_minor: 118_000,
      credit_note_ids: [note.id],
      replaced_by_id: invoice.id,
    });
    expect((await get(`/${invoice.id}`)).json.replaces_id).toBe(row(1).id);
    expect(refusal(await ask(row(1).id, right))).toEqual([409, "state"]);
  });

  test.each([
    [{ gstin: "33AACCN4455M1ZB", reason: "x" }, "/gstin"],
    [{ gstin: "", reason: "x" }, "/gstin"],
    [{ gstin: "27AAPFU0939F1ZV", reason: "x" }, "/gstin"],
    [{ gstin: "33AACCN4455M1ZA", reason: "" }, "/reason"],
    [{ gstin: 1, reason: "x" }, "/gstin"],
    [{ gstin: "33AACCN4455M1ZA", reason: "x".repeat(2001) }, "/reason"],
  ])("of %j is refused", async (body, param) => {
    const answer = await ask(row(0).id, body);
    expect([...refusal(answer), answer.json.error.param]).toEqual([400, "invalid_value", param]);
  });

  test("of an export is refused", async () => {
    expect(refusal(await ask(row(3).id, right))).toEqual([409, "state"]);
  });
});

describe("a month for the accountant", () => {
  test("is a table", async () => {
    const { text, headers } = await get(`/export?month=${month}`);
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const [head = "", ...lines] = text.trimEnd().split("\r\n");
    const columns = head.split(",");
    const cell = (at: number, name: string) => lines[at]?.split(",")[columns.indexOf(name)];
    expect(cell(0, "number")).toBe(`TI/${fy}/0000001`);
    expect(["taxable", "igst", "total"].map((name) => cell(0, name))).toEqual([
      "1000.00",
      "180.00",
      "1180.00",
    ]);
    expect(["currency", "total", "total_inr"].map((name) => cell(3, name))).toEqual([
      "USD",
      "50.00",
      "4406.17",
    ]);
  });

  test("is JSON as the list has it, and empty where nothing was billed", async () => {
    const { json } = await get(`/export?month=${month}&format=json`);
    expect(json.data[0]).toEqual((await get(`/${row(0).id}`)).json);
    expect((await get("/export?month=2020-01&format=json")).json.data).toEqual([]);
    expect((await get("/export?month=2020-01")).text.split("\r\n")).toHaveLength(2);
    expect((await get("/export?month=2020-13")).status).toBe(400);
  });

  test("is the supplier's return for the operator", async () => {
    const { json } = await operate("GET", `/invoices/export?month=${month}&format=gstr1`);
    expect(json).toMatchObject({ gstin: "29AAWCE1234F1ZG", fp: `${month.slice(5)}${month.slice(0, 4)}` });
    const numbers = json.b2b.flatMap((of: { inv: { inum: string }[] }) => of.inv.map(({ inum }) => inum));
    expect(numbers).toContain(`TI/${fy}/0000003`);
    expect(json.exp[0].inv[0]).toMatchObject({ val: 4406.17, itms: [{ txval: 4406.17, rt: 0, iamt: 0 }] });
    expect(json.doc_issue.doc_det[0].docs[0]).toMatchObject({ from: `TI/${fy}/0000001`, cancel: 0 });
    expect(refusal(await gateway.call("GET", "/v1/operator/invoices"))).toEqual([403, "role"]);
  });
});
