/** Registration of documents: payloads at the simulated portal, its faults, and what waits for it. */
import { createHash } from "node:crypto";
import { decodeJwt } from "jose";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type InvoicePortal,
  startInvoicePortal,
} from "../../../../../simulator/invoice-portal/invoice-portal.ts";
import { systemClock } from "../../../../../src/base/clock.ts";
import type { InvoiceRow } from "../../../../../src/billing/invoices/invoice.ts";
import { eInvoicePayload } from "../../../../../src/billing/invoices/portal/e-invoice.ts";
import { httpPortal } from "../../../../../src/billing/invoices/portal/http.ts";
import { GOLDEN } from "../../../../support/invoices/golden.ts";
import {
  ABROAD,
  INTER,
  INTRA,
  orderOf,
  rowOf,
  SEZ,
  UNREGISTERED,
} from "../../../../support/invoices/rows.ts";
import { until } from "../../../../support/wait.ts";
import { noteOf, openRoom, type Room } from "../fixtures.ts";

let portal: InvoicePortal;
beforeEach(async () => {
  portal = await startInvoicePortal({ clock: systemClock });
});
afterEach(() => portal.close());

const NEVER = new AbortController().signal;
const register = (row: InvoiceRow) => httpPortal(portal.url).register(eInvoicePayload(row), NEVER);

describe("the payload", () => {
  test("of an invoice within the State", () => {
    expect(eInvoicePayload(rowOf({ taxableMinor: 123_456 }))).toEqual({
      Version: "1.1",
      TranDtls: { TaxSch: "GST", SupTyp: "B2B", RegRev: "N", IgstOnIntra: "N" },
      DocDtls: { Typ: "INV", No: "TI/26-27/0000001", Dt: "04/05/2026" },
      SellerDtls: {
        Gstin: "29AAWCE1234F1ZG",
        LglNm: "Weir Example Private Limited",
        Addr1: "12 Residency Road",
        Loc: "Bengaluru",
        Pin: 560_025,
        Stcd: "29",
      },
      BuyerDtls: {
        Gstin: INTRA.gstin,
        LglNm: "Kaveri Software LLP",
        Pos: "29",
        Addr1: "4 MG Road",
        Loc: "Bengaluru",
        Pin: 560_001,
        Stcd: "29",
      },
      ItemList: [
        {
          SlNo: "1",
          PrdDesc: "Prepaid credit for model calls",
          IsServc: "Y",
          HsnCd: "998319",
          Qty: 1,
          Unit: "OTH",
          UnitPrice: 1234.56,
          TotAmt: 1234.56,
          Discount: 0,
          AssAmt: 1234.56,
          GstRt: 18,
          IgstAmt: 0,
          CgstAmt: 111.11,
          SgstAmt: 111.11,
          TotItemVal: 1456.78,
        },
      ],
      ValDtls: {
        AssVal: 1234.56,
        CgstVal: 111.11,
        SgstVal: 111.11,
        IgstVal: 0,
        CesVal: 0,
        StCesVal: 0,
        TotInvVal: 1456.78,
      },
    });
  });

  test("of an export names no GSTIN, no Indian place, the currency and the country", () => {
    const payload = eInvoicePayload(rowOf({ recipient: ABROAD, taxableMinor: 10_000 }));
    expect(payload.TranDtls.SupTyp).toBe("EXPWOP");
    expect(payload.BuyerDtls).toMatchObject({ Gstin: "URP", Pos: "96", Pin: 999_999, Stcd: "96" });
    expect(payload.ExpDtls).toEqual({ RefClm: "N", ForCur: "USD", CntCode: "US" });
    expect(payload.ValDtls).toMatchObject({ AssVal: 8812.35, TotInvVal: 8812.35, TotInvValFc: 100 });
  });

  test.each([
    [ABROAD, "2025-05-04", "EXPWP"],
    [SEZ, "2025-05-04", "SEZWP"],
    [SEZ, "2026-05-04", "SEZWOP"],
    [INTER, "2026-05-04", "B2B"],
  ] as const)("says how it is supplied: %#", (recipient, day, type) => {
    const row = rowOf({ recipient, atMs: Date.parse(day) });
    expect(eInvoicePayload(row).TranDtls.SupTyp).toBe(type);
  });

  test("cuts and cleans what people wrote", () => {
    const recipient = {
      ...INTER,
      legalName: `"${"x".repeat(150)}`,
      address: { ...INTER.address, city: "A" },
    };
    const { BuyerDtls } = eInvoicePayload(rowOf({ recipient }));
    expect(BuyerDtls.LglNm).toBe(`'${"x".repeat(99)}`);
    expect(BuyerDtls.Loc).toBe("Maharashtra");
  });

  test("is one item where a line is negative, and splits the tax over the lines otherwise", () => {
    const line = (amountMinor: number) => ({
      description: "Credit",
      kind: "credits" as const,
      quantity: 1,
      unitMinor: amountMinor,
      amountMinor,
    });
    const three = rowOf({ recipient: INTER, taxableMinor: 100, order: { lines: [33, 33, 34].map(line) } });
    expect(eInvoicePayload(three).ItemList.map(({ IgstAmt }) => IgstAmt)).toEqual([0.06, 0.06, 0.06]);
    const negative = rowOf({ recipient: INTER, taxableMinor: 100, order: { lines: [150, -50].map(line) } });
    expect(eInvoicePayload(negative).ItemList).toMatchObject([{ AssAmt: 1, IgstAmt: 0.18 }]);
  });
});

const REGISTRABLE = GOLDEN.filter(
  ({ row }) =>
    row.supplier.gstin !== "" &&
    row.kind !== "statement" &&
    (row.recipient.gstin !== "" || row.recipient.address.country !== "IN"),
);

test.each(REGISTRABLE.map(({ name, row }) => [name, row] as const))(
  "the portal takes: %s",
  async (_, row) => {
    const { irn, signedQr, ackNumber } = await register(row);
    const { supplier, fy, kind, number } = row;
    const type = kind === "credit_note" ? "CRN" : "INV";
    const hashed = createHash("sha256").update(`${supplier.gstin}${fy}${type}${number}`).digest("hex");
    expect(irn).toBe(hashed);
    expect(JSON.parse(String(decodeJwt(signedQr).data))).toMatchObject({ DocNo: number, Irn: irn });
    expect(ackNumber).toMatch(/^\d{15}$/);
  },
);

describe("the portal", () => {
  const changed = (change: (payload: Record<string, Record<string, unknown>>) => void, row = rowOf()) => {
    const payload = structuredClone(eInvoicePayload(row));
    change(payload as never);
    return httpPortal(portal.url).register(payload, NEVER);
  };

  test.each([
    ["2189", (p) => Object.assign(p.ValDtls ?? {}, { TotInvVal: 1 })],
    ["3028", (p) => Object.assign(p.BuyerDtls ?? {}, { Gstin: "29AABCT1332L1ZB" })],
    ["5002", (p) => Object.assign(p.DocDtls ?? {}, { No: "0TI/26-27/000001" })],
    ["5002", (p) => Object.assign(p, { Extra: 1 })],
    ["2172", (p) => Object.assign((p.ItemList as never)[0] ?? {}, { CgstAmt: 1000 })],
    ["2265", (p) => Object.assign(p.BuyerDtls ?? {}, { Stcd: "27" })],
    ["2266", (p) => Object.assign(p, { ExpDtls: { RefClm: "N", ForCur: "USD", CntCode: "US" } })],
  ] as readonly [string, (payload: Record<string, Record<string, unknown>>) => void][])(
    "refuses with %s what breaks its rules: %#",
    async (code, change) => {
      await expect(changed(change)).rejects.toMatchObject({
        kind: "invalid",
        message: expect.stringContaining(code),
      });
    },
  );

  test("knows the number that a published example has", async () => {
    const text = "29AAFCC9980M1ZR2019-20INV2019-20/KA/1";
    const known = "23f498ee41441ecad30f72ba5b9907506c3df70a17b0e0dff46b76a786400662";
    expect(createHash("sha256").update(text).digest("hex")).toBe(known);
  });

  test("asked again, or after an answer that was lost, tells the first registration", async () => {
    const row = rowOf();
    portal.faults.push("dropped_after");
    await expect(register(row)).rejects.toMatchObject({ kind: "unclear" });
    const first = await register(row);
    expect(await register(row)).toEqual(first);
    expect(portal.numbers).toEqual([row.number]);
  });

  test("never registers a number again whose registration was cancelled there", async () => {
    const row = rowOf();
    const { irn } = await register(row);
    const body = JSON.stringify({ Irn: irn, CnlRsn: "2", CnlRem: "Data entry mistake" });
    const cancel = () => fetch(`${portal.url}/eicore/v1.03/Invoice/Cancel`, { method: "POST", body });
    expect(await (await cancel()).json()).toMatchObject({ Status: 1 });
    await expect(register(row)).rejects.toMatchObject({ kind: "invalid" });
    expect(await (await cancel()).json()).toMatchObject({ Status: 0 });
  });

  test.each([
    ["error_before", "unclear"],
    ["error_after", "unclear"],
    ["unauthorized", "refused"],
  ] as const)("that fails by %s is %s", async (fault, kind) => {
    portal.faults.push(fault);
    await expect(register(rowOf())).rejects.toMatchObject({ kind });
  });

  test("that nobody reaches is unclear", async () => {
    await portal.close();
    await expect(register(rowOf())).rejects.toMatchObject({ kind: "unclear" });
  });
});

describe("the job", () => {
  let room: Room;
  beforeEach(async () => {
    room = openRoom({ portal: httpPortal(portal.url) });
    await room.jobs.start();
  });
  afterEach(() => room.dispose());

  const now = (row: InvoiceRow) => room.invoices.tables.get(row.orgId, row.id);
  const registered = (row: InvoiceRow) =>
    until("it is registered", () => now(row)?.irnStatus === "generated");

  test("registers invoices and credit notes; their mails wait for it", async () => {
    const row = await room.issue(orderOf({ recipient: INTER }));
    expect(room.mailed()).toEqual([]);
    const note = await room.issue(noteOf(room, row, 1000, "rfd_1"));
    await registered(row);
    await registered(note);
    expect(now(row)).toMatchObject({
      irn: expect.stringMatching(/^[0-9a-f]{64}$/),
      status: "partially_credited",
    });
    expect(
      room
        .mailed()
        .map(({ id }) => id)
        .sort(),
    ).toEqual([note.id, row.id].sort());
    expect([...room.invoices.tables.unregistered()]).toEqual([]);
  });

  test("registers nothing for people without GSTIN", async () => {
    const row = await room.issue(orderOf({ recipient: UNREGISTERED }));
    expect([row.irnStatus, room.mailed().length, portal.numbers]).toEqual(["not_required", 1, []]);
  });

  test("tries again what is unclear, and raises an alarm after three days", async () => {
    portal.faults.push(...Array.from({ length: 3 }, () => "error_after" as const));
    const row = await room.issue(orderOf({ recipient: INTER }));
    const tried = (times: number) =>
      until("it was tried", () => (room.jobs.row("invoices.register", row.id)?.tries ?? 0) >= times);
    await tried(1);
    await until("it waits", () => room.jobs.row("invoices.register", row.id)?.state === "waiting");
    expect([room.overdue, room.invoices.unregistered()]).toEqual([[], { pending: 1, failed: 0, overdue: 0 }]);
    room.clock.advance(73 * 3_600_000);
    expect(room.invoices.unregistered()).toEqual({ pending: 1, failed: 0, overdue: 1 });
    await tried(2);
    await until("the alarm was raised", () => room.overdue.length > 0);
    expect(room.overdue[0]).toBe(row.number);
    const passes = async () => {
      room.clock.advance(7 * 3_600_000);
      return now(row)?.irnStatus === "generated";
    };
    await until("it is registered", passes);
    expect(room.invoices.unregistered()).toEqual({ pending: 0, failed: 0, overdue: 0 });
  });

  test("gives up what the portal refuses: it is failed and listed, until an operator retries", async () => {
    // The recipient's PIN code is none, so the portal takes it for a place abroad.
    const recipient = { ...INTER, address: { ...INTER.address, postalCode: "" } };
    const row = await room.issue(orderOf({ recipient }));
    await until("it failed", () => now(row)?.irnStatus === "failed");
    expect([...room.invoices.tables.unregistered()]).toMatchObject([{ id: row.id, irnStatus: "failed" }]);
    const [job] = room.jobs.givenUp();
    expect(job).toMatchObject({ key: row.id, orgId: "", error: expect.stringContaining("3039") });
    expect(room.mailed()).toEqual([]);
    await room.store.act(() => room.jobs.retry("invoices.register", row.id));
    await until("it failed again", () => [...room.jobs.givenUp()].length === 1);
    expect(now(row)?.irnStatus).toBe("failed");
  });
});
