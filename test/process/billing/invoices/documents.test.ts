/** What stands on documents: the golden set held against CGST rule 46, and PDF, HTML and JSON against each other. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { decimalText, moneyText } from "../../../../src/base/currency.ts";
import type { InvoiceRow } from "../../../../src/billing/invoices/invoice.ts";
import { htmlOf } from "../../../../src/billing/invoices/pages/html.ts";
import { type PageModel, pageModel } from "../../../../src/billing/invoices/pages/model.ts";
import { pdfOf } from "../../../../src/billing/invoices/pages/pdf.ts";
import { invoiceShape, invoiceWire } from "../../../../src/billing/invoices/wire.ts";
import { GOLDEN, minorOf } from "../../../support/invoices/golden.ts";
import { ABROAD, INTRA, rowOf, SEZ } from "../../../support/invoices/rows.ts";
import { textsOf } from "../../../support/invoices/texts.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-invoices-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Debian's poppler-utils has `pdftotext`. */
const hasPdftotext = spawnSync("pdftotext", ["-v"]).error === undefined;

/** White space does not count: lines are broken where the page ends them. */
const dense = (text: string): string => text.replace(/\s+/g, "");

async function pdfText(model: PageModel): Promise<string> {
  const file = join(folder, "document.pdf");
  writeFileSync(file, await pdfOf(model));
  const { status, stdout } = spawnSync("pdftotext", ["-raw", "-enc", "UTF-8", file, "-"], {
    encoding: "utf8",
  });
  expect(status).toBe(0);
  return stdout;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const htmlText = (page: string): string =>
  page
    .replace(/<head>.*<\/head>/s, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/&(#?\w+);/g, (_, name: string) => ENTITIES[name] ?? "?");

test("the golden set has 40 documents at least", () => {
  expect(GOLDEN.length).toBeGreaterThanOrEqual(40);
});

describe.each(GOLDEN.map((golden) => [golden.name, golden] as const))("%s", (_, golden) => {
  const { row, title, place, figures } = golden;
  const model = pageModel(row);
  const texts = textsOf(model);
  const totals = new Map(model.totals.map(({ name, value }) => [name, value]));
  const facts = new Map(model.facts);
  const money = (digits = "") => moneyText(minorOf(digits), row.currency);
  const isTaxed = place !== "";

  test("has the figures of the table, in JSON and on the page", () => {
    const json = invoiceShape.parse(invoiceWire(row));
    const { taxable_minor, cgst_minor, sgst_minor, igst_minor, total_minor } = json;
    const shown = [taxable_minor, cgst_minor, sgst_minor, igst_minor, total_minor].map(decimalText);
    expect(shown).toEqual(figures);
    expect(totals.get("Total")).toBe(money(figures[4]));
    if (!isTaxed) return expect([...totals.keys()]).toEqual(["Total"]);
    expect(totals.get("Taxable value")).toBe(money(figures[0]));
    const { kind, isUnionTerritory, rateBps } = row.treatment;
    const half = isUnionTerritory ? "UTGST at 9 %" : "SGST at 9 %";
    const heads = kind === "intra" ? ["CGST at 9 %", half] : [`IGST at ${rateBps / 100} %`];
    const due = kind === "intra" ? figures.slice(1, 3) : figures.slice(3, 4);
    expect(heads.map((head) => totals.get(head))).toEqual(due.map(money));
    expect([...totals.keys()].filter((name) => / at /.test(name))).toEqual(heads);
  });

  test("says all that rule 46 asks for", () => {
    expect(model.title).toBe(title);
    expect(model.supplier.name).toBe(row.supplier.legalName);
    for (const line of row.supplier.address) expect(model.supplier.lines).toContain(line);
    expect([...facts.values()]).toContain(row.number);
    expect(facts.get("Date")).toMatch(/^\d\d\/\d\d\/20\d\d$/);
    expect(model.recipient.name).toBe(row.recipient.legalName);
    expect(model.recipient.lines).toContain(row.recipient.address.line1);
    expect(model.recipient.lines.join(" ")).toContain(row.recipient.address.postalCode);
    expect(model.words[1]).toMatch(/^(Rupees|US Dollars) .* Only$/);
    expect(model.signature.join(" ")).toMatch(/^For .* Digitally generated/);
    expect(facts.get("Place of supply") ?? "").toBe(place);
    expect(facts.get("Reverse charge")).toBe(isTaxed ? "No" : undefined);
    expect(texts.includes(row.supplier.sac)).toBe(row.supplier.gstin !== "");
    if (!isTaxed) return;
    expect(model.supplier.lines).toContain(`GSTIN: ${row.supplier.gstin}`);
    const { gstin, address } = row.recipient;
    if (address.country === "IN") {
      expect(model.recipient.lines).toContain(gstin === "" ? "GSTIN: unregistered" : `GSTIN: ${gstin}`);
      expect(model.recipient.lines.join(" ")).toContain(`(${address.stateCode}), India`);
    }
    const endorsement = {
      zero_lut: "UNDER BOND OR LETTER OF UNDERTAKING WITHOUT PAYMENT OF INTEGRATED TAX",
      zero_igst: "ON PAYMENT OF INTEGRATED TAX",
    };
    for (const [kind, words] of Object.entries(endorsement))
      expect(model.notes.some((note) => note.endsWith(words))).toBe(row.treatment.kind === kind);
    expect(model.notes.includes(`Letter of undertaking (ARN): ${row.supplier.lut}`)).toBe(
      row.treatment.kind === "zero_lut",
    );
    expect(model.notes.at(-1)).toBe("Rate of exchange: 1 USD = 88.12345678 INR on 30/04/2026 (FBIL)");
    if (row.kind === "credit_note") {
      expect([facts.get("Against invoice no."), facts.get("Dated")]).toEqual([
        row.original?.number,
        facts.get("Date"),
      ]);
    }
  });

  test("says at which rate credit was sold for INR", () => {
    const charged = "90.27000000";
    const { notes } = pageModel({ ...row, currency: "INR", rate: { ...row.rate, charged } });
    const isSaid = notes.at(-1)?.includes("1 USD of credit = 90.27 INR, ");
    expect(isSaid).toBe(row.kind !== "statement");
  });

  test("names no file, and no word that only its maker knows", () => {
    const charged = "90.27000000";
    const former = { ...row.rate, charged, spreadBps: 200, source: "config/fx.yaml" };
    const { notes } = pageModel({ ...row, rate: former });
    expect([...texts, ...notes].join(" ")).not.toMatch(/yaml|config\/|spread|bps|undefined/i);
    expect(notes.some((note) => note.includes("(set by the supplier)"))).toBe(
      row.kind !== "statement" &&
        row.rate.usdInr !== "" &&
        (isTaxed || row.supplier.gstin !== "" || row.currency === "INR"),
    );
  });

  test("reads the same as page", () => {
    expect(dense(htmlText(htmlOf(model)))).toBe(dense(texts.join(" ")));
  });

  // Letters of Indian scripts are drawn in another order than they are written: a reader of the PDF sees them right.
  test.skipIf(!hasPdftotext || /[\u0900-\u097f]/.test(row.recipient.legalName))(
    `reads the same as PDF${hasPdftotext ? "" : " (skipped: there is no pdftotext, of poppler-utils)"}`,
    async () => {
      expect(dense(await pdfText(model))).toBe(dense(texts.join(" ")));
    },
  );
});

const REGISTERED: Partial<InvoiceRow> = {
  irnStatus: "generated",
  irn: "23f498ee41441ecad30f72ba5b9907506c3df70a17b0e0dff46b76a786400662",

  signedQr: "a".repeat(1000),
  ackNumber: "112610000000001",
  ackAtMs: Date.parse("2026-05-04T19:00:00Z"),
};

describe("exports", () => {
  test.each([
    ["under LUT", 10_000, "2026-05-04", ["₹8,812.35", "₹0.00", "₹8,812.35"]],
    ["with IGST", 10_000, "2025-05-04", ["₹8,812.35", "₹1,586.22", "₹10,398.57"]],
    ["with IGST, odd", 3333, "2025-05-04", ["₹2,937.15", "₹528.74", "₹3,465.89"]],
  ])("%s state their value in rupees by the rate that stands on them", (_, taxableMinor, day, values) => {
    const row = rowOf({ recipient: ABROAD, taxableMinor, atMs: Date.parse(day) });
    expect(
      pageModel(row)
        .totals.slice(-3)
        .map(({ value }) => value),
    ).toEqual(values);
  });
});

describe("a registered document", () => {
  const model = pageModel(rowOf({ row: REGISTERED }));

  test("bears its number, its acknowledgement by Indian time and the signed code", async () => {
    expect(model.registration?.facts).toEqual([
      ["IRN", REGISTERED.irn],
      ["Ack. no.", "112610000000001"],
      ["Ack. date", "05/05/2026"],
    ]);
    expect(htmlOf(model)).toContain("<svg");
    expect((await pdfOf(model)).length).toBeGreaterThan((await pdfOf(pageModel(rowOf()))).length + 5000);
  });

  test("without registration says that it waits for it", () => {
    const notes = pageModel(rowOf({ recipient: SEZ, row: { irnStatus: "pending" } })).notes;
    expect(notes.at(-1)).toMatch(/^Registration as an e-invoice: pending/);
  });

  test("whose code is too long for a page is printed without it", async () => {
    const long = pageModel(rowOf({ row: { ...REGISTERED, signedQr: "a".repeat(5000) } }));
    expect(htmlOf(long)).not.toContain("<svg");
    expect((await pdfOf(long)).length).toBeGreaterThan(1000);
  });
});

test("the same row gives the same bytes", async () => {
  const row = rowOf({ row: REGISTERED });
  expect(Buffer.from(await pdfOf(pageModel(row)))).toEqual(
    Buffer.from(await pdfOf(pageModel(structuredClone(row)))),
  );
});

test.skipIf(!hasPdftotext)(
  "many lines run over pages that repeat the head of the table and bear the number",
  async () => {
    const lines = Array.from({ length: 100 }, (_, at) => ({
      description: `Line ${at} ${"word ".repeat(at % 40)}`.trim(),
      kind: "adjustment" as const,
      quantity: 1,
      unitMinor: 100,
      amountMinor: 100,
    }));
    const model = pageModel(rowOf({ recipient: INTRA, taxableMinor: 10_000, order: { lines } }));
    const pages = (await pdfText(model)).split("\f").slice(0, -1);
    expect(pages.length).toBeGreaterThan(3);
    for (const [at, page] of pages.entries())
      expect(page).toContain(`TI/26-27/0000001, page ${at + 1} of ${pages.length}`);
    const whole = dense(pages.join(""));
    for (const { description } of lines) expect(whole).toContain(dense(description));
  },
);

test("what people wrote adds no markup", () => {
  const recipient = { ...INTRA, legalName: `<img src=x onerror="alert(1)">&amp;` };
  const page = htmlOf(pageModel(rowOf({ recipient })));
  expect(page).not.toContain("<img");
  expect(page).toContain("&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;amp;");
});
