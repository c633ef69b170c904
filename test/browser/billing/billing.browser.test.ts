/**
 * Money in a real browser: a person signs in, asks what an amount costs, pays on the hosted page by clicks, comes back, sees credit and
 * invoice, and gets half of it back. The documents are drawn as a reader draws them, and each word of them is looked at.
 */
import { existsSync } from "node:fs";
import { type BrowserContext, type Browser as Chromium, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type TestGateway, testGateway } from "../../support/gateway.ts";
import { LIMIT_MS, until } from "../../support/wait.ts";
import { drawnPages, faultsOf, isPopplerThere, wordsOf } from "./pdf.fixtures.ts";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);

let browser: Chromium | undefined;
let gateway: TestGateway;
let context: BrowserContext;
/** The session's CSRF token, as `/auth/me` tells a console. */
let csrf: string;
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"], timeout: LIMIT_MS });
  gateway = await testGateway();
  context = await browser.newContext({ viewport: { width: 900, height: 700 } });
  context.setDefaultTimeout(LIMIT_MS);
  const page = await context.newPage();
  await page.goto(`${gateway.url}/auth/login?return_to=/auth/me`);
  await page.getByLabel("E-mail address").fill("ada@example.test");
  await page.getByLabel("Name").fill("Ada");
  await page
    .getByRole("button", { name: /sign in/i })
    .last()
    .click();
  await page.waitForURL("**/auth/me");
  csrf = JSON.parse((await page.textContent("body")) ?? "").csrf_token;
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

interface Fetched {
  readonly status: number;
  readonly json: Answer["json"];
  /** Where it is no JSON. */
  readonly base64: string;
}

/** A call of the console, with the browser's cookies. Not from the page that is shown: what a program reads may load nothing. */
async function call(page: Page, method: string, path: string, org = "", body?: object): Promise<Fetched> {
  const answer = await page.request.fetch(`${gateway.url}${path}`, {
    method,
    headers: { "x-svc-csrf": csrf, ...(org !== "" && { "svc-org": org }) },
    ...(body !== undefined && { data: body }),
  });
  const bytes = await answer.body();
  const isJson = answer.headers()["content-type"]?.includes("json") === true;
  const json = isJson ? JSON.parse(bytes.toString()) : undefined;
  return { status: answer.status(), json, base64: bytes.toString("base64") };
}

interface Journey {
  readonly slug: string;
  readonly name: string;
  readonly country: string;
  readonly profile: object;
  readonly amount: number;
  /** As the hosted page, the return page and the documents write it. */
  readonly total: string;
  readonly method: string;
  readonly quote: object;
  readonly invoice: object;
  /** Sums and names that the invoice prints, and its credit note. */
  readonly prints: readonly string[];
  readonly notePrints: readonly string[];
  /** micro-USD */
  readonly credit: number;
}

const address = (line1: string, city: string, state_code: string, postal_code: string, country = "IN") => ({
  billing_address: { line1, city, state_code, postal_code, country },
});

const JOURNEYS: readonly Journey[] = [
  {
    slug: "kaveri",
    name: "Kaveri Software LLP",
    country: "IN",
    method: "UPI",
    profile: {
      gstin: "29AABCT1332L1ZA",
      tax_status: "gst_registered",
      ...address("4 MG Road", "Bengaluru", "29", "560001"),
    },
    amount: 1_000_050,
    total: "₹11,800.60",
    credit: 110_784_313,
    quote: { currency: "INR", tax_minor: 180_010, total_minor: 1_180_060 },
    invoice: { kind: "tax_invoice", cgst_minor: 90_005, sgst_minor: 90_005, igst_minor: 0 },
    prints: [
      "29AABCT1332L1ZA",
      "Place of supply Karnataka (29)",
      "CGST at 9 % ₹900.05 SGST at 9 % ₹900.05",
      "₹11,800.60",
      "Rupees Eleven Thousand Eight Hundred and Paise Sixty Only",
    ],
    notePrints: [
      "Credit Note",
      "CGST at 9 % ₹450.03 SGST at 9 % ₹450.03",
      "₹5,900.31",
      "Rupees Five Thousand Nine Hundred and Paise Thirty One Only",
    ],
  },
  {
    slug: "mumbai",
    name: "Mumbai Models Private Limited",
    country: "IN",
    method: "Card from India",
    profile: {
      gstin: "27AAPFU0939F1ZV",
      tax_status: "gst_registered",
      ...address("8 Marine Drive", "Mumbai", "27", "400001"),
    },
    amount: 1_000_000,
    total: "₹11,800.00",
    credit: 0,
    quote: { currency: "INR", tax_minor: 180_000, total_minor: 1_180_000 },
    invoice: { kind: "tax_invoice", cgst_minor: 0, sgst_minor: 0, igst_minor: 180_000 },
    prints: [
      "27AAPFU0939F1ZV",
      "Place of supply Maharashtra (27)",
      "IGST at 18 % ₹1,800.00",
      "₹11,800.00",
      "Rupees Eleven Thousand Eight Hundred Only",
    ],
    notePrints: [
      "Credit Note",
      "IGST at 18 % ₹900.00",
      "₹5,900.00",
      "Rupees Five Thousand Nine Hundred Only",
    ],
  },
  {
    slug: "austin",
    name: "Acme & <Sons> Inc.",
    country: "US",
    method: "Card",
    profile: address("500 Main Street", "Austin", "TX", "78701", "US"),
    amount: 123_450,
    total: "$1,234.50",
    credit: 1_234_500_000,
    quote: { currency: "USD", tax_minor: 0, total_minor: 123_450 },
    invoice: { kind: "export_invoice", igst_minor: 0, total_minor: 123_450 },
    prints: [
      "Acme & <Sons> Inc.",
      "Place of supply United States (96)",
      "$1,234.50",
      "₹1,09,253.25",
      "US Dollars One Thousand Two Hundred Thirty Four and Cents Fifty Only",
      "LETTER OF UNDERTAKING",
    ],
    notePrints: [
      "Credit Note",
      "$617.25",
      "₹54,626.63",
      "US Dollars Six Hundred Seventeen and Cents Twenty Five Only",
    ],
  },
];

/** What was downloaded, by journey. */
const documents = new Map<string, { readonly invoice: Buffer; readonly note: Buffer }>();

async function registered(page: Page, slug: string, id: string) {
  const read = async () => (await call(page, "GET", `/v1/invoices/${id}`, slug)).json;
  await until("the document is registered", async () => (await read()).irn_status !== "pending");
  return await read();
}

async function download(page: Page, slug: string, id: string): Promise<Buffer> {
  const { status, base64 } = await call(page, "GET", `/v1/invoices/${id}/pdf`, slug);
  expect(status).toBe(200);
  return Buffer.from(base64, "base64");
}

describe("at the same time, each on a page of their own", () => {
  test.concurrent.for(JOURNEYS)(
    "$name asks a quote, pays by clicks, comes back, sees credit and invoice, and gets half back",
    async (journey, { skip }) => {
      skip(browser === undefined, "no Chromium was found on this machine");
      const { slug } = journey;
      const page = await context.newPage();
      await page.goto(`${gateway.url}/auth/me`);
      const org = { slug, name: journey.name, billing_country: journey.country };
      expect(await call(page, "POST", "/v1/orgs", "", org)).toMatchObject({ status: 201 });
      expect(await call(page, "PATCH", `/v1/orgs/${slug}`, "", journey.profile)).toMatchObject({
        status: 200,
      });

      const quote = await call(page, "GET", `/v1/credits/topups/quote?amount_minor=${journey.amount}`, slug);
      expect(quote).toMatchObject({ status: 200, json: journey.quote });
      const opened = await call(page, "POST", "/v1/credits/topups", slug, { amount_minor: journey.amount });
      expect(opened).toMatchObject({ status: 201, json: { quote: quote.json } });
      const { topup, checkout_url: checkout } = opened.json;

      await page.goto(checkout);
      expect(await page.textContent("body")).toContain(journey.name);
      await page.getByRole("button", { name: /^Fail/ }).click();
      await page.waitForURL(`**/billing/topups/${topup.id}`);
      await page.getByRole("heading", { name: "The payment was declined" }).waitFor();
      expect(await page.textContent("body")).not.toMatch(/Thank you|One moment/);
      await page.getByRole("link", { name: "Try again" }).click();
      await page.waitForURL(`**/credits/topups/${topup.id}`);
      // The console opens the page of payment in a tab of its own.
      const pay = page.getByRole("link", { name: `Pay ${journey.total}` });
      expect(await pay.getAttribute("href")).toBe(checkout);
      await page.goto(checkout);
      await page.getByRole("button", { name: /^Leave/ }).click();
      await page.waitForURL(`**/billing/topups/${topup.id}`);
      // The last try is told, until there is another one.
      await page.getByRole("heading", { name: "The payment was declined" }).waitFor();
      await page.goto(checkout);
      await page.getByLabel(journey.method, { exact: true }).check();
      await page.getByRole("button", { name: `Pay ${journey.total}` }).click();
      await page.waitForURL(`**/billing/topups/${topup.id}`);
      await page.getByRole("heading", { name: "Thank you" }).waitFor();
      expect(await page.textContent("body")).toContain("the credit is there");
      await page.getByRole("link", { name: /^Invoice / }).click();
      await page.waitForURL("**/billing/invoices/inv_*");
      await page.getByRole("button", { name: "Mail it again" }).waitFor();

      await page.goto(`${gateway.url}/auth/me`);
      const { json: paid } = await call(page, "GET", `/v1/credits/topups/${topup.id}`, slug);
      expect(paid).toMatchObject({ status: "paid", credits_micro: quote.json.credits_micro });
      expect((await call(page, "GET", "/v1/credits", slug)).json.available_micro_usd).toBe(
        paid.credits_micro,
      );
      const { json: list } = await call(page, "GET", "/v1/invoices", slug);
      expect(list.data).toMatchObject([{ id: paid.invoice_id, topup_id: topup.id }]);
      expect(await registered(page, slug, paid.invoice_id)).toMatchObject({
        ...journey.invoice,
        status: "paid",
      });
      const invoice = await download(page, slug, paid.invoice_id);

      const half = { amount_minor: Math.floor(journey.amount / 2), reason: "half", idempotency_key: "half" };
      const { json: back } = await call(page, "POST", `/v1/credits/topups/${topup.id}/refund`, slug, half);
      expect(back.refund).toMatchObject({ status: "refunded", amount_minor: half.amount_minor });
      const left = paid.credits_micro - back.refund.credits_micro;
      expect((await call(page, "GET", "/v1/credits", slug)).json.available_micro_usd).toBe(left);
      const note = await registered(page, slug, back.refund.credit_note_id);
      expect(note).toMatchObject({
        kind: "credit_note",
        total_minor: half.amount_minor + back.refund.tax_minor,
      });
      documents.set(slug, { invoice, note: await download(page, slug, note.id) });
    },
  );
});

test("who leaves the page of payment or of a mandate, or declines, reads that, and how to begin again", async ({
  skip,
}) => {
  skip(browser === undefined, "no Chromium was found on this machine");
  const page = await context.newPage();
  await page.goto(`${gateway.url}/auth/me`);
  const org = { slug: "leaver", name: "Leaver Inc.", billing_country: "US" };
  expect(await call(page, "POST", "/v1/orgs", "", org)).toMatchObject({ status: 201 });
  const profile = address("500 Main Street", "Austin", "TX", "78701", "US");
  expect(await call(page, "PATCH", "/v1/orgs/leaver", "", profile)).toMatchObject({ status: 200 });
  const { json } = await call(page, "POST", "/v1/credits/topups", "leaver", { amount_minor: 2_500 });
  await page.goto(json.checkout_url);
  await page.getByRole("button", { name: /^Leave/ }).click();
  await page.getByRole("heading", { name: "You left without paying" }).waitFor();
  await page.getByRole("link", { name: "Try again" }).click();
  await page.getByRole("link", { name: "Pay $25.00" }).waitFor();

  const onMandate = async (act: RegExp) => {
    const begun = await call(page, "POST", "/v1/credits/mandates", "leaver", { method: "card" });
    expect(begun.status).toBe(201);
    await page.goto(begun.json.url);
    await page.getByRole("button", { name: act }).click();
    await page.waitForURL("**/billing/mandates/*");
    return await page.textContent("main");
  };
  expect(await onMandate(/^Leave/)).toContain("You left without allowing payments");
  expect(await onMandate(/^Decline/)).toContain("Automatic payments were not allowed");
  expect(await onMandate(/^Approve/)).toContain("Automatic payments are allowed");
});

describe("documents", () => {
  const KINDS = JOURNEYS.flatMap((journey) => [["invoice", journey] as const, ["note", journey] as const]);
  test.for(KINDS.map(([kind, journey]) => ({ kind, journey, name: journey.name })))(
    "the $kind of $name has each sum and glyph, and nothing cut or over something else",
    async ({ kind, journey }, { skip }) => {
      skip(browser === undefined, "no Chromium was found on this machine");
      skip(!isPopplerThere, "no pdftoppm (poppler-utils) was found on this machine");
      const pdf = documents.get(journey.slug)?.[kind] ?? expect.unreachable("it was not downloaded");
      const words = await wordsOf(pdf);
      expect(faultsOf(words)).toEqual([]);
      const text = words.map((word) => word.text).join(" ");
      for (const printed of kind === "invoice" ? journey.prints : journey.notePrints)
        expect(text).toContain(printed);
      const pages = await drawnPages(pdf, `${journey.slug}-${kind}`);
      expect(pages).toHaveLength(1);
      for (const image of pages) expect(image.length).toBeGreaterThan(10_000);
    },
  );
});
