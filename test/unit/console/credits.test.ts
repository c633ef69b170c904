/** What the page "Credits" makes of amounts, entries and quotes, and how it asks for what must happen once. */
import { beforeEach, describe, expect, test } from "vitest";
import { INDIAN_STATES } from "../../../console/pages/billing/indian-states.ts";
import { profileBody, profileOf } from "../../../console/pages/billing/profile-values.ts";
import { forgetIntent, intentKey, intentOf } from "../../../console/pages/credits/intents.ts";
import { causeOf, type Entry, joinedCsv } from "../../../console/pages/credits/ledger-rows.ts";
import {
  isPage,
  partWord,
  refundableOf,
  shownParts,
  type Topup,
} from "../../../console/pages/credits/topup-words.ts";
import { monthsBefore } from "../../../console/text/months.ts";
import { GST_STATES, isIndianState } from "../../../src/account/fields/gst-states.ts";

/** As much of a browser's storage as is used. */
class Kept implements Storage {
  readonly #items = new Map<string, string>();
  get length(): number {
    return this.#items.size;
  }
  clear = (): void => this.#items.clear();
  key = (at: number): string | null => [...this.#items.keys()][at] ?? null;
  getItem = (name: string): string | null => this.#items.get(name) ?? null;
  setItem = (name: string, value: string): void => void this.#items.set(name, value);
  removeItem = (name: string): void => void this.#items.delete(name);
}

describe("T37: what must happen once", () => {
  let storage: Kept;
  let made = 0;
  const newKey = () => `key ${++made}`;
  beforeEach(() => {
    storage = new Kept();
    made = 0;
  });

  test("has one key, however often and from whichever page it is asked for", () => {
    expect(intentKey(storage, "topup org_1", "1000", newKey)).toBe("key 1");
    expect(intentKey(storage, "topup org_1", "1000", newKey)).toBe("key 1");
    expect(intentOf(storage, "topup org_1")).toEqual({ what: "1000", key: "key 1" });
  });

  test("has another key for another amount, another org, and after it has happened", () => {
    intentKey(storage, "topup org_1", "1000", newKey);
    expect(intentKey(storage, "topup org_2", "1000", newKey)).toBe("key 2");
    expect(intentKey(storage, "topup org_1", "2000", newKey)).toBe("key 3");
    forgetIntent(storage, "topup org_1");
    expect(intentKey(storage, "topup org_1", "2000", newKey)).toBe("key 4");
  });

  test("what else is stored there counts as none", () => {
    for (const text of ["{", "null", "1", '{"what": 1}', '{"key": "k"}']) {
      storage.setItem("weir.intent.x", text);
      expect(intentOf(storage, "x")).toBeUndefined();
    }
  });
});

describe("entries of the ledger", () => {
  const entry = (of: Partial<Entry>): Entry => ({
    seq: 1,
    kind: "settle",
    amount_micro_usd: -1,
    created_at: "2026-11-30T00:00:00.000Z",
    ...of,
  });

  test.each([
    [{ request_id: "01ABC" }, { to: ["requests", "01ABC"], text: "01ABC" }],
    [
      { kind: "topup", ref_type: "topup", ref_id: "tup_1" },
      { to: ["credits", "topups", "tup_1"], text: "tup_1" },
    ],
    [
      { kind: "refund", ref_type: "refund", ref_id: "rfd_1" },
      { to: ["credits", "topups"], text: "rfd_1" },
    ],
    [{ kind: "grant", ref_type: "grant", ref_id: "welcome" }, { text: "grant welcome" }],
    [
      { kind: "adjustment", details: { first_seq: 2, last_seq: 4, entries: 3 } },
      { text: "in place of 3 lost entries, 2 to 4" },
    ],
  ] as const)("%o leads to %o", (of, lead) => expect(causeOf(entry(of))).toEqual(lead));

  test("pages of CSV become one file with one head", () => {
    expect(joinedCsv(["a,b\r\n1,2\r\n", "a,b\r\n3,4\r\n", "a,b\r\n"])).toBe("a,b\r\n1,2\r\n3,4\r\n");
    expect(joinedCsv(["a,b\r\n"])).toBe("a,b\r\n");
  });
});

describe("top-ups", () => {
  const paid = { status: "paid", amount_minor: 1000, refunded_minor: 300 } as Topup;

  test("what can be refunded is what was not", () => {
    expect(refundableOf(paid)).toBe(700);
    expect(refundableOf({ ...paid, status: "partially_refunded" })).toBe(700);
    for (const status of ["pending", "failed", "expired", "refunded", "disputed"] as const)
      expect(refundableOf({ ...paid, status })).toBe(0);
  });

  test("a quote shows the parts that are something, with their rate", () => {
    const parts = [
      { kind: "credit", minor: 0 },
      { kind: "fees", minor: 0 },
      { kind: "igst", minor: 180, bps: 1800 },
    ] as const;
    const shown = shownParts({ parts } as unknown as Parameters<typeof shownParts>[0]);
    expect(shown.map(partWord)).toEqual(["Credit", "IGST, 18 %"]);
  });

  test("a checkout is a page, and nothing else", () => {
    expect(isPage("https://pay.example.com/1")).toBe(true);
    expect(isPage("javascript:alert(1)")).toBe(false);
    expect(isPage("data:text/html,x")).toBe(false);
  });
});

describe("who is billed", () => {
  const org = {
    legal_name: "",
    tax_status: "unregistered",
    gstin: "",
    tax_id: "",
    billing_email: "",
    billing_address: { line1: "", city: "", state_code: "", postal_code: "", country: "IN" },
  } as const;

  test("only what differs is sent, and a GSTIN only of those who have one", () => {
    const values = profileOf(org);
    expect(profileBody(org, values)).toBeUndefined();
    expect(profileBody(org, { ...values, gstin: "29AABCT1332L1ZA" })).toBeUndefined();
    expect(
      profileBody(org, {
        ...values,
        taxStatus: "gst_registered",
        gstin: " 29aabct1332l1za ",
        stateCode: "29",
      }),
    ).toEqual({
      tax_status: "gst_registered",
      gstin: "29AABCT1332L1ZA",
      billing_address: { state_code: "29" },
    });
  });

  test("the States that can be chosen are those that an invoice can name", () => {
    const known = Object.entries(GST_STATES).filter(([code]) => isIndianState(code));
    expect([...INDIAN_STATES].sort()).toEqual(known.sort());
  });
});

test("months go back from India's, over a year's end", () => {
  expect(monthsBefore(new Date("2026-01-31T20:00:00Z"), 3)).toEqual(["2026-02", "2026-01", "2025-12"]);
});
