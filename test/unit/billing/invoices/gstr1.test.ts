/** A month in the shape of the return: each document in its table, amounts in rupees. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { indianMonth } from "../../../../src/billing/invoices/financial-year.ts";
import { Gstr1 } from "../../../../src/billing/invoices/gstr1.ts";
import { monthAnswer } from "../../../../src/billing/invoices/month-export.ts";
import { ABROAD, AT_MS, INTER, INTRA, orderOf, SEZ, UNREGISTERED } from "../../../support/invoices/rows.ts";
import { noteOf, openRoom, type Room } from "./fixtures.ts";

let room: Room;
beforeEach(() => {
  room = openRoom();
});
afterEach(() => room.dispose());

const month = indianMonth(AT_MS);
const invoice = (recipient: typeof INTRA, taxableMinor: number) =>
  room.issue(orderOf({ recipient, taxableMinor }));

/** Fields of the return; no schema of it is here. */
interface Return {
  readonly [table: string]: unknown;
}

function resultOf(): Return {
  const gstr1 = new Gstr1(room.invoices.tables);
  for (const row of room.invoices.tables.ofMonth(month)) gstr1.add(row);
  return gstr1.result(month) as Return;
}

const tax = (txval: number, amounts: object) => [
  { num: 1, itm_det: { txval, rt: 18, ...amounts, csamt: 0 } },
];

test("registered recipients and zones are in b2b, with their own heads", async () => {
  await invoice(INTRA, 100_000);
  await invoice(INTER, 100_000);
  await invoice(SEZ, 100_000);
  const common = { idt: "04-05-2026", rchrg: "N" };
  expect(resultOf().b2b).toEqual([
    {
      ctin: INTRA.gstin,
      inv: [
        {
          ...common,
          inum: "TI/26-27/0000001",
          val: 1180,
          pos: "29",
          inv_typ: "R",
          itms: tax(1000, { camt: 90, samt: 90 }),
        },
      ],
    },
    {
      ctin: INTER.gstin,
      inv: [
        {
          ...common,
          inum: "TI/26-27/0000002",
          val: 1180,
          pos: "27",
          inv_typ: "R",
          itms: tax(1000, { iamt: 180 }),
        },
      ],
    },
    {
      ctin: SEZ.gstin,
      inv: [
        {
          ...common,
          inum: "TI/26-27/0000003",
          val: 1000,
          pos: "24",
          inv_typ: "SEWOP",
          itms: [{ num: 1, itm_det: { txval: 1000, rt: 0, iamt: 0, csamt: 0 } }],
        },
      ],
    },
  ]);
});

test("people are summed by place, less their credit notes; large sales between States stand alone", async () => {
  const first = await invoice(UNREGISTERED, 100_000);
  await invoice(UNREGISTERED, 50_000);
  await room.issue(noteOf(room, first, 30_000, "rfd_1"));
  const large = await invoice(UNREGISTERED, 8_500_000);
  await room.issue(noteOf(room, large, 100_000, "rfd_2"));
  const { b2cs, b2cl, cdnur } = resultOf();
  expect(b2cs).toEqual([
    { sply_ty: "INTER", pos: "33", typ: "OE", rt: 18, txval: 1200, iamt: 216, csamt: 0 },
  ]);
  expect(b2cl).toMatchObject([{ pos: "33", inv: [{ inum: large.number, val: 100_300 }] }]);
  expect(cdnur).toMatchObject([{ typ: "B2CL", ntty: "C", nt_num: "CN/26-27/0000002", val: 1180, pos: "33" }]);
});

test("exports are in rupees, notes to the registered in cdnr, statements nowhere", async () => {
  const abroad = await invoice(ABROAD, 10_000);
  await room.issue(noteOf(room, abroad, 4000, "rfd_1"));
  const local = await invoice(INTRA, 100_000);
  await room.issue(noteOf(room, local, 100_000, "rfd_2"));
  const heads = { cgstMinor: 0, sgstMinor: 0, igstMinor: 0 };
  await room.issue({
    ...orderOf(),
    kind: "statement",
    heads,
    reference: { type: "subscription", id: "sub_1" },
  });
  const { exp, cdnr, cdnur, hsn, doc_issue } = resultOf();
  expect(exp).toMatchObject([
    { exp_typ: "WOPAY", inv: [{ val: 8812.35, itms: [{ txval: 8812.35, rt: 0 }] }] },
  ]);
  expect(cdnur).toMatchObject([{ typ: "EXPWOP", val: 3524.94 }]);
  expect(cdnr).toMatchObject([{ ctin: INTRA.gstin, nt: [{ nt_num: "CN/26-27/0000002", val: 1180 }] }]);
  expect(hsn).toMatchObject({
    hsn_b2b: [{ hsn_sc: "998319", txval: 0, camt: 0, samt: 0 }],
    hsn_b2c: [{ hsn_sc: "998319", rt: 0, txval: 5287.41 }],
  });
  expect(doc_issue).toEqual({
    doc_det: [
      {
        doc_num: 1,
        doc_typ: "Invoices for outward supply",
        docs: [
          { num: 1, from: "TI/26-27/0000001", to: "TI/26-27/0000002", totnum: 2, cancel: 0, net_issue: 2 },
        ],
      },
      {
        doc_num: 5,
        doc_typ: "Credit Note",
        docs: [
          { num: 1, from: "CN/26-27/0000001", to: "CN/26-27/0000002", totnum: 2, cancel: 0, net_issue: 2 },
        ],
      },
    ],
  });
});

test("a month ends at midnight in India, is one org's unless all are asked for, and is read in slices", async () => {
  for (let n = 0; n < 120; n++) await room.issue({ ...orderOf(), orgId: n % 2 === 0 ? "org_a" : "org_b" });
  room.clock.set("2026-05-31T18:30:00Z");
  await invoice(INTRA, 100);
  const count = async (orgId?: string, of = month) => {
    const { content } = await monthAnswer(room.invoices.tables, { month: of, format: "json" }, AT_MS, orgId);
    return JSON.parse(String(content.bytes?.body)).data.length;
  };
  expect([await count("org_a"), await count("org_b"), await count()]).toEqual([60, 60, 120]);
  expect([await count(undefined, "2026-06"), await count("org_b", "2026-06")]).toEqual([1, 0]);
});

test("the return that is sent is the whole of it, though it is written in parts", async () => {
  for (const recipient of [INTRA, INTER, UNREGISTERED, ABROAD]) await invoice(recipient, 20_000_000);
  const { content } = await monthAnswer(room.invoices.tables, { month, format: "gstr1" }, AT_MS);
  expect(JSON.parse(String(content.bytes?.body))).toEqual(resultOf());
});

test("a cell that a spreadsheet would compute is made text, and quotes are doubled", async () => {
  await invoice({ ...UNREGISTERED, legalName: `=1+1,"x"` }, 100);
  const { content } = await monthAnswer(room.invoices.tables, { month, format: "csv" }, AT_MS);
  expect(String(content.bytes?.body)).toContain(`,"'=1+1,""x""",`);
});
