/** Documents as they are issued: numbers, rows, events, credit notes, corrections. */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newTicket } from "../../../../src/account/tickets/ticket.ts";
import { financialYear, indianDate, indianMonth } from "../../../../src/billing/invoices/financial-year.ts";
import { numberText } from "../../../../src/billing/invoices/series.ts";
import { ABROAD, INTER, INTRA, orderOf, SEZ, UNREGISTERED } from "../../../support/invoices/rows.ts";
import { noteOf, openRoom, type Room } from "./fixtures.ts";

let room: Room;
beforeEach(() => {
  room = openRoom();
});
afterEach(() => room.dispose());

const numbersOf = () => Array.from(room.invoices.tables.of("org_a"), ({ number }) => number).reverse();

describe("numbers", () => {
  test("are 16 characters at most, and each series counts by itself in each financial year", async () => {
    const first = await room.issue();
    await room.issue(noteOf(room, first, 100, "rfd_1"));
    await room.issue();
    room.clock.set("2027-03-31T18:29:59Z");
    await room.issue();
    room.clock.set("2027-03-31T18:30:00Z");
    await room.issue();
    expect(numbersOf()).toEqual([
      "TI/26-27/0000001",
      "CN/26-27/0000001",
      "TI/26-27/0000002",
      "TI/26-27/0000003",
      "TI/27-28/0000001",
    ]);
  });

  test("begin anew on 1 April by Indian time", () => {
    expect(financialYear(Date.parse("2026-03-31T18:29:59.999Z"))).toBe("2025-26");
    expect(financialYear(Date.parse("2026-03-31T18:30:00Z"))).toBe("2026-27");
    expect(financialYear(Date.parse("2099-12-31T00:00:00Z"))).toBe("2099-00");
    expect(indianMonth(Date.parse("2026-04-30T18:30:00Z"))).toBe("2026-05");
    expect(indianDate(Date.parse("2026-04-30T18:30:00Z"))).toBe("01/05/2026");
  });

  test("have the characters of the rule for every prefix", () => {
    for (const prefix of ["A", "TI", "INV", "WXYZ"]) {
      const text = numberText(prefix, "2026-27", 1);
      expect(text).toMatch(/^[A-Z1-9][A-Z0-9/-]{0,15}$/);
      expect(text.endsWith("1")).toBe(true);
    }
  });

  test("that are used up stop the posting before anything is put", async () => {
    const last = room.store.table<number>("invoices.series");
    await room.store.act(() => last.put(["TI", "2026-27"], 9_999_999));
    await expect(room.issue()).rejects.toThrow("the series TI/26-27/ has no number after 9999999");
    expect([numbersOf(), room.trail.eventsOf("org_a"), last.get(["TI", "2026-27"])]).toEqual([
      [],
      [],
      9_999_999,
    ]);
    expect(() => numberText("WXYZ", "2026-27", 1_000_000)).toThrow("set another prefix in supplier.yaml");
  });

  test("are consecutive over concurrent acts and acts that are dropped", async () => {
    const step = fc.record({ isDropped: fc.boolean(), isNote: fc.boolean(), isPaused: fc.boolean() });
    const original = await room.issue(orderOf({ taxableMinor: 10_000_000 }));
    let made = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
        const acts: Promise<unknown>[] = [];
        for (const { isDropped, isNote, isPaused } of steps) {
          const act = room.store.act(() => {
            const order = isNote ? noteOf(room, original, 1, `rfd_${++made}`) : orderOf();
            room.invoices.issuer.issue(order);
            if (isDropped) throw new Error("dropped");
          });
          acts.push(act.catch(() => undefined));
          if (isPaused) await act.catch(() => undefined);
        }
        await Promise.all(acts);
        for (const prefix of ["TI", "CN"]) {
          const numbers = numbersOf().filter((number) => number.startsWith(prefix));
          expect(numbers).toEqual(numbers.map((_, at) => numberText(prefix, "2026-27", at + 1)));
          expect(room.store.table("invoices.series").get([prefix, "2026-27"]) ?? 0).toBe(numbers.length);
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe("an invoice", () => {
  test("is issued once for what it documents, whoever asks again", async () => {
    const order = orderOf();
    const first = await room.issue(order);
    const [second] = await Promise.all([room.issue(order), room.issue({ ...order, lines: [] })]);
    expect(second).toEqual(first);
    expect(room.trail.eventsOf("org_a")).toHaveLength(1);
    expect(room.invoices.issuer.idOfTopup("org_a", order.topupId ?? "")).toBe(first.id);
  });

  test("of the same reference in another org is another", async () => {
    const order = orderOf();
    const rows = [await room.issue(order), await room.issue({ ...order, orgId: "org_b" })];
    expect(rows.map(({ number }) => number)).toEqual(["TI/26-27/0000001", "TI/26-27/0000002"]);
    expect(room.invoices.tables.get("org_b", rows[0]?.id ?? "")).toBeUndefined();
  });

  test("is told of as the API shows it", async () => {
    const row = await room.issue(orderOf({ taxableMinor: 100_000 }));
    const [event] = room.trail.eventsOf("org_a");
    expect(event).toMatchObject({ type: "invoice.issued", orgId: "org_a" });
    expect(event?.data).toEqual({
      id: row.id,
      org_id: "org_a",
      number: "TI/26-27/0000001",
      fy: "2026-27",
      kind: "tax_invoice",
      currency: "INR",
      place_of_supply: "29",
      supplier_gstin: "29AAWCE1234F1ZG",
      recipient_gstin: INTRA.gstin,
      recipient: { legal_name: INTRA.legalName, gstin: INTRA.gstin, tax_id: "", country: "IN" },
      lines: [
        {
          description: "Prepaid credit for model calls",
          kind: "credits",
          sac: "998319",
          quantity: 1,
          unit_minor: 100_000,
          amount_minor: 100_000,
        },
      ],
      taxable_minor: 100_000,
      cgst_minor: 9000,
      sgst_minor: 9000,
      igst_minor: 0,
      total_minor: 118_000,
      hsn_sac: "998319",
      irn_status: "pending",
      irn: "",
      topup_id: row.topupId,
      fx_rate: "88.12345678",
      issued_at: "2026-05-04T10:00:00.000Z",
      status: "paid",
      credited_minor: 0,
    });
  });

  test.each([
    ["the lines are 1 in sum, not 2", { taxableMinor: 2 }],
    ["an invoice has 1 to 200 lines", { lines: [] }],
    ["the tax is not that of the treatment", { heads: { cgstMinor: 1, sgstMinor: 1, igstMinor: 0 } }],
    [
      "a statement has no tax",
      { kind: "statement" as const, heads: { cgstMinor: 1, sgstMinor: 0, igstMinor: 0 } },
    ],
  ])("is refused where %s", async (message, wrong) => {
    const order = { ...orderOf({ taxableMinor: 1 }), ...wrong };
    await expect(room.issue(order)).rejects.toThrow(message);
    expect(numbersOf()).toEqual([]);
  });

  test("becomes what its treatment says, and is registered where it must be", async () => {
    const kinds = [INTRA, INTER, UNREGISTERED, SEZ, ABROAD].map(async (recipient) => {
      const { kind, irnStatus } = await room.issue(orderOf({ recipient }));
      return `${kind} ${irnStatus}`;
    });
    expect(await Promise.all(kinds)).toEqual([
      "tax_invoice pending",
      "tax_invoice pending",
      "tax_invoice not_required",
      "tax_invoice pending",
      "export_invoice pending",
    ]);
  });

  test("is mailed at once where nobody registers it", async () => {
    const row = await room.issue(orderOf({ recipient: UNREGISTERED }));
    await room.issue(orderOf({ recipient: INTER }));
    expect(room.mailed()).toEqual([{ id: row.id, to: "org" }]);
  });
});

test("without a supplier nothing is issued", async () => {
  const none = openRoom({ hasSupplier: false });
  await expect(none.issue()).rejects.toThrow("there is no supplier.yaml");
  await none.dispose();
});

describe("a credit note", () => {
  test("updates the invoice in its act, until nothing is left", async () => {
    const original = await room.issue(orderOf({ taxableMinor: 1001 }));
    const seen = [];
    for (const [at, part] of [333, 333, 335].entries()) {
      const note = await room.issue(noteOf(room, original, part, `rfd_${at}`));
      const { status, creditedMinor, credited } = room.invoices.tables.get("org_a", original.id) ?? original;
      seen.push([note.number, note.totalMinor, status, creditedMinor, credited.taxableMinor]);
    }
    // 9 % of 1001 is 90.09: 90 a head, of which the parts take 30, 30 and 30.
    expect(seen).toEqual([
      ["CN/26-27/0000001", 393, "partially_credited", 393, 333],
      ["CN/26-27/0000002", 393, "partially_credited", 786, 666],
      ["CN/26-27/0000003", 395, "credited", 1181, 1001],
    ]);
    expect(() => noteOf(room, original, 1, "rfd_9")).toThrow("of which 0 is left");
  });

  test("over more than is left, in another currency or of no invoice is refused", async () => {
    const original = await room.issue(orderOf({ taxableMinor: 1000 }));
    const note = noteOf(room, original, 600, "rfd_1");
    await room.issue(note);
    const again = { ...note, reference: { type: "refund", id: "rfd_2" } as const };
    await expect(room.issue(again)).rejects.toThrow("more is credited than is left of TI/26-27/0000001");
    const dollars = { ...noteOf(room, original, 1, "rfd_3"), currency: "USD" as const };
    await expect(room.issue(dollars)).rejects.toThrow("TI/26-27/0000001 is in INR");
    await expect(room.issue({ ...again, originalId: "inv_none" })).rejects.toThrow(
      "there is no such invoice",
    );
    expect(room.invoices.tables.get("org_a", original.id)?.creditedMinor).toBe(708);
  });
});

describe("a correction", () => {
  const ticket = (invoiceId: string, gstin: string) =>
    newTicket(
      {
        orgId: "org_a",
        kind: "invoice_correction",
        subject: "GSTIN",
        createdBy: "",
        body: { invoice_id: invoiceId, gstin, reason: "wrong" },
      },
      room.clock.now(),
    );

  test("writes a credit note over the rest and a new invoice, and later refunds are of that", async () => {
    const original = await room.issue(orderOf({ recipient: UNREGISTERED, taxableMinor: 10_000 }));
    await room.issue(noteOf(room, original, 4000, "rfd_1"));
    const asked = ticket(original.id, "33AACCN4455M1ZA");
    const { creditNote, invoice } = await room.store.act(() => room.invoices.approveCorrection(asked));
    expect(creditNote).toMatchObject({
      taxableMinor: 6000,
      originalId: original.id,
      irnStatus: "not_required",
    });
    expect(invoice).toMatchObject({ taxableMinor: 6000, kind: "tax_invoice", irnStatus: "pending" });
    expect(invoice.recipient).toMatchObject({ gstin: "33AACCN4455M1ZA", taxStatus: "gst_registered" });
    const old = room.invoices.tables.get("org_a", original.id);
    expect(old).toMatchObject({
      status: "credited",
      creditedMinor: original.totalMinor,
      replacedById: invoice.id,
    });
    expect(room.invoices.issuer.idOfTopup("org_a", original.topupId ?? "")).toBe(invoice.id);
    const note = await room.issue(noteOf(room, original, 6000, "rfd_2"));
    expect(note.originalId).toBe(invoice.id);
    expect(room.invoices.tables.get("org_a", invoice.id)?.status).toBe("credited");
    const twice = room.store.act(() => room.invoices.approveCorrection(asked));
    await expect(twice).rejects.toThrow("Nothing is left of it");
  });

  test("to the supplier's own GSTIN is refused, and so is a quote: no portal registers such a document", async () => {
    const original = await room.issue(orderOf({ recipient: UNREGISTERED, taxableMinor: 10_000 }));
    const asked = ticket(original.id, original.supplier.gstin);
    await expect(room.store.act(() => room.invoices.approveCorrection(asked))).rejects.toThrow(
      "This GSTIN is that of the supplier.",
    );
    const own = { ...INTRA, gstin: original.supplier.gstin };
    expect(() => room.invoices.issuer.treatmentOf(own, room.clock.now())).toThrow("that of the supplier");
  });

  test("to another State needs an address there, and changes the heads", async () => {
    const original = await room.issue(orderOf({ recipient: INTRA, taxableMinor: 10_000 }));
    const asked = ticket(original.id, INTER.gstin);
    await expect(room.store.act(() => room.invoices.approveCorrection(asked))).rejects.toThrow(
      "The GSTIN is of Maharashtra (27), and neither the invoice nor the org has an address there",
    );
    await room.addOrg("org_a", { billingAddress: INTER.address });
    const { creditNote, invoice } = await room.store.act(() => room.invoices.approveCorrection(asked));
    expect(creditNote.heads).toEqual({ cgstMinor: 900, sgstMinor: 900, igstMinor: 0 });
    expect(invoice).toMatchObject({
      heads: { cgstMinor: 0, sgstMinor: 0, igstMinor: 1800 },
      totalMinor: 11_800,
    });
    expect(invoice.recipient.address.city).toBe("Mumbai");
  });
});
