import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fail } from "../../../../src/base/errors.ts";
import { requestId } from "../../../../src/base/ids.ts";
import { FullAnswer } from "../../../../src/base/operation/answer.ts";
import { cursors } from "../../../../src/base/operation/cursor.ts";
import type { Caller } from "../../../../src/base/operation/operation.ts";
import type { CallEnd } from "../../../../src/credits/ledger/entries-of-request.ts";
import type { LedgerPage } from "../../../../src/credits/ledger/ledger.ts";
import { creditOperations } from "../../../../src/credits/ledger/operations.ts";
import { GAP_REF, type ShownEntry } from "../../../../src/credits/ledger/shown-list.ts";
import { ManualClock, openCredits, tempStore } from "../../../support/credits/fixtures.ts";
import { NO_HEAD } from "../../../support/http-head.fixtures.ts";

const folder = tempStore();
afterAll(() => folder.dispose());
const clock = new ManualClock("2026-03-01T10:00:00Z");
const credits = openCredits({ store: folder.store, clock });
const IN_USD = {
  currency: "USD",
  fxRate: "1.00000000",
  midRate: "1.00000000",
  spreadBps: 0,
  fxDay: "",
} as const;
const IN_INR = { midRate: "86.00000000", spreadBps: 131, fxDay: "2026-03-01" };
const rates = new Map([["org_in", { currency: "INR" as const, fxRate: "87.12345678", ...IN_INR }]]);
/** What records say of calls: nothing, unless a test says something. */
const ends: { of(requestId: string): Promise<CallEnd | undefined> } = { of: async () => undefined };
const { getCredits, listLedger } = creditOperations({
  ...credits,
  cursors: cursors(Buffer.from("a secret of this test")),
  orgMoney: (orgId) => rates.get(orgId) ?? IN_USD,
  callEnd: (_, requestId) => ends.of(requestId),
});
const as = (orgId: string) => ({ orgId }) as Caller;

/** As the edge calls it: the query through its schema, the answer through its own. */
async function ledger(query: Record<string, string>, orgId = "org_us") {
  const input = { params: undefined, query: listLedger.query?.parse(query), body: undefined };
  const answer = await listLedger.run(input as never, as(orgId), NO_HEAD);
  return answer instanceof FullAnswer ? answer : listLedger.output.parse(answer);
}
async function page(query: Record<string, string>, orgId?: string) {
  const answer = await ledger(query, orgId);
  if (answer instanceof FullAnswer) throw new Error("not JSON");
  return answer;
}
async function balance(orgId: string) {
  const input = { params: undefined, query: undefined, body: undefined };
  return getCredits.output.parse(await getCredits.run(input, as(orgId), NO_HEAD));
}
async function call(orgId: string, requestId: string, amountMicroUsd: number) {
  const hold = credits.hold(orgId, amountMicroUsd);
  if (hold === undefined) throw new Error("no credit");
  await credits.settle(hold, { requestId, amountMicroUsd, atMs: clock.now() });
}

beforeAll(async () => {
  for (const org of ["org_us", "org_in"]) {
    await credits.post(org, {
      kind: "grant",
      amountMicroUsd: 25_000_000,
      refType: "grant",
      refId: 'first, "free"',
    });
  }
  for (let i = 1; i <= 5; i++) {
    clock.advance(1);
    await call("org_us", `0000000000000000000000000${i}`, i);
  }
});

describe("GET /v1/credits", () => {
  test("in USD: what is available, held and granted, and its display, rounded down", async () => {
    const hold = credits.hold("org_us", 1_000_000);
    expect(await balance("org_us")).toEqual({
      available_micro_usd: 23_999_985,
      held_micro_usd: 1_000_000,
      granted_micro_usd: 25_000_000,
      display: { currency: "USD", amount: "23.99" },
      currency: "USD",
      fx_rate: "1.00000000",
      mid_rate: "1.00000000",
      spread_bps: 0,
      fx_day: "",
    });
    if (hold) credits.release(hold);
  });

  test("in INR: the same credits at the org's rate", async () => {
    expect(await balance("org_in")).toMatchObject({
      available_micro_usd: 25_000_000,
      display: { currency: "INR", amount: "2178.08" },
      fx_rate: "87.12345678",
      mid_rate: "86.00000000",
      spread_bps: 131,
      fx_day: "2026-03-01",
    });
  });

  test.each([
    [0, "0.00"],
    [5_000, "0.00"],
    [10_000, "0.01"],
    [-1, "-0.01"],
    [-1_500_000, "-1.50"],
  ])("%i micro-USD displays as %s", async (microUsd, shown) => {
    const org = `org_shows_${microUsd}`;
    if (microUsd !== 0) {
      await credits.post(org, {
        kind: "topup",
        amountMicroUsd: Math.max(microUsd, 1),
        refType: "t",
        refId: "1",
      });
    }
    const hold = credits.hold(org, 0);
    if (hold && microUsd < 0) {
      await credits.settle(hold, { requestId: "R", amountMicroUsd: 1 - microUsd, atMs: clock.now() });
    }
    expect((await balance(org)).display.amount).toBe(shown);
  });
});

describe("GET /v1/credits/ledger", () => {
  test("entries newest first, in the wire shape", async () => {
    const { data, next_cursor } = await page({});
    expect(next_cursor).toBe("");
    expect(data.map((e) => e.seq)).toEqual([6, 5, 4, 3, 2, 1]);
    expect(data[0]).toEqual({
      seq: 6,
      kind: "settle",
      amount_micro_usd: -5,
      request_id: "00000000000000000000000005",
      created_at: "2026-03-01T10:00:00.005Z",
    });
    expect(data[5]).toEqual({
      seq: 1,
      kind: "grant",
      amount_micro_usd: 25_000_000,
      ref_type: "grant",
      ref_id: 'first, "free"',
      created_at: "2026-03-01T10:00:00.000Z",
    });
  });

  test("a walk sees every row once, also while rows are added", async () => {
    const walk: number[] = [];
    let cursor = "";
    do {
      const { data, next_cursor } = await page({ limit: "2", cursor });
      walk.push(...data.map((e) => e.seq));
      cursor = next_cursor;
      await call("org_us", "0000000000000000000000000Z", 1);
    } while (cursor !== "");
    expect(walk).toEqual([6, 5, 4, 3, 2, 1]);
  });

  test("a cursor never issued, or issued to another org, is the first page", async () => {
    const first = await page({ limit: "2" });
    const mine = (await page({ limit: "2", cursor: first.next_cursor })).data;
    expect(mine).not.toEqual(first.data);
    for (const cursor of ["never issued", "AAAAAAAAAAAAAAAAAAAAAA", ""]) {
      expect(await page({ limit: "2", cursor })).toEqual(first);
    }
    const others = await page({ limit: "2" }, "org_in");
    expect(await page({ limit: "2", cursor: first.next_cursor }, "org_in")).toEqual(others);
  });

  test("a kind alone", async () => {
    expect((await page({ kind: "grant" })).data.map((e) => e.seq)).toEqual([1]);
    expect((await page({ kind: "refund" })).data).toEqual([]);
    expect((await page({ kind: "settle", limit: "1" })).next_cursor).not.toBe("");
  });

  test.each([{ limit: "0" }, { limit: "501" }, { limit: "ten" }, { kind: "gift" }, { format: "xml" }])(
    "%o is refused",
    (query) => {
      expect(listLedger.query?.safeParse(query).success).toBe(false);
    },
  );

  test("as CSV: a header row, then the page, quoted where a value needs it", async () => {
    const csv = await ledger({ format: "csv" }, "org_in");
    expect(csv).toMatchObject({
      content: {
        bytes: {
          type: "text/csv; charset=utf-8",
          body:
            "seq,kind,amount_micro_usd,request_id,ref_type,ref_id,created_at\r\n" +
            '1,grant,25000000,,grant,"first, ""free""",2026-03-01T10:00:00.000Z\r\n',
        },
      },
    });
  });

  test("CSV is paged as JSON is: a header asks for the page behind, and the last one has none", async () => {
    const bodies: unknown[] = [];
    for (let cursor: string | undefined = ""; cursor !== undefined; ) {
      const { content, parts } = (await ledger({ format: "csv", limit: "3", cursor })) as FullAnswer<never>;
      bodies.push(content);
      cursor = parts.headers?.["x-svc-next-cursor"];
    }
    const rows = JSON.stringify(bodies)
      .match(/\\r\\n\d+,/g)
      ?.map((row) => Number.parseInt(row.slice(4), 10));
    expect(rows).toEqual((await page({ limit: "500" })).data.map(({ seq }) => seq));
    expect(bodies.length).toBeGreaterThan(1);
  });
});

describe("GET /v1/credits/ledger?request_id=", () => {
  const ORG = "org_asks";
  const ids: string[] = [];
  beforeAll(async () => {
    const grant = { kind: "grant", amountMicroUsd: 1_000_000, refType: "grant", refId: "1" } as const;
    await credits.post(ORG, grant);
    for (let i = 0; i < 20; i++) {
      clock.advance(7);
      ids.push(requestId(clock.now()));
      await call(ORG, ids[i] ?? "", 100 + i);
    }
    const back = {
      kind: "adjustment",
      amountMicroUsd: 103,
      refType: "operator",
      refId: ids[3] ?? "",
    } as const;
    await credits.post(ORG, back);
  });
  const seqs = async (query: Record<string, string>, org = ORG) =>
    (await page(query, org)).data.map(({ seq }) => seq);

  test("has the charge of the request, and what an operator posted under its id; newest first", async () => {
    const { data, next_cursor } = await page({ request_id: ids[3] ?? "" }, ORG);
    expect(next_cursor).toBe("");
    expect(data).toMatchObject([
      { seq: 22, kind: "adjustment", amount_micro_usd: 103, ref_type: "operator", ref_id: ids[3] },
      { seq: 5, kind: "settle", amount_micro_usd: -103, request_id: ids[3] },
    ]);
    for (const [i, id] of ids.entries()) if (i !== 3) expect(await seqs({ request_id: id })).toEqual([i + 2]);
  });

  test("has pages, kinds and a file like the whole list; a cursor of that is none of this", async () => {
    const request_id = ids[3] ?? "";
    const first = await page({ request_id, limit: "1" }, ORG);
    expect(first.data.map(({ seq }) => seq)).toEqual([22]);
    const cursor = first.next_cursor;
    const last = await page({ request_id, limit: "1", cursor }, ORG);
    expect([last.data.map(({ seq }) => seq), last.next_cursor]).toEqual([[5], ""]);
    const other = (await page({ limit: "1" }, ORG)).next_cursor;
    expect(await page({ request_id, limit: "1", cursor: other }, ORG)).toEqual(first);
    expect(await seqs({ request_id, kind: "settle" })).toEqual([5]);
    expect(await seqs({ request_id, kind: "adjustment" })).toEqual([22]);
    expect(await seqs({ request_id, kind: "topup" })).toEqual([]);
    const csv = await ledger({ request_id, format: "csv" }, ORG);
    expect(csv).toMatchObject({
      content: { bytes: { body: expect.stringMatching(/^seq,.*\r\n22,.*\r\n5,.*\r\n$/) } },
    });
  });

  test("of another org's request, or of none, is empty", async () => {
    expect(await seqs({ request_id: ids[3] ?? "" }, "org_us")).toEqual([]);
    expect(await seqs({ request_id: requestId(clock.now()) })).toEqual([]);
    expect(await seqs({ request_id: "7ZZZZZZZZZZZZZZZZZZZZZZZZZ" })).toEqual([]);
  });

  test("goes by the record where there is one: a stream of hours is found at its end, a free call not searched for", async () => {
    const [early = "", late = ""] = [requestId(clock.now() - 10 * 3_600_000), ids[19]];
    await call(ORG, early, 7);
    ends.of = async (id) => ({ endedAtMs: clock.now(), isCharged: id === early });
    expect(await seqs({ request_id: early, kind: "settle" })).toEqual([23]);
    expect(await seqs({ request_id: late })).toEqual([]);
  });

  test("is found while records cannot be read, and what is not found then may be there", async () => {
    ends.of = async () => {
      throw fail("analytics_unavailable", "away");
    };
    expect(await seqs({ request_id: ids[19] ?? "" })).toEqual([21]);
    const unknown = page({ request_id: requestId(clock.now()) }, ORG);
    await expect(unknown).rejects.toMatchObject({ kind: "analytics_unavailable" });
    ends.of = async () => undefined;
  });

  test.each(["", "abc", "01ARZ3NDEKTSV4RRFFQ69G5FAI", "01arz3ndektsv4rrffq69g5fav", "*"])(
    "%o is no request id",
    (request_id) => {
      const { error } = listLedger.query?.safeParse({ request_id }) ?? {};
      expect(error?.issues.map(({ path }) => path)).toEqual([["request_id"]]);
    },
  );
});

describe("C2: GET /v1/credits/ledger, where entries are gone or not listed yet", () => {
  const gap: ShownEntry = {
    kind: "adjustment",
    seq: 9,
    firstSeq: 4,
    amountMicroUsd: -60,
    balanceMicroUsd: 40,
    createdAtMs: 0,
    refType: GAP_REF,
    refId: "org_us:4-9",
  };
  const pages: LedgerPage[] = [];
  const { listLedger: list } = creditOperations({
    ...credits,
    book: {
      ...credits.book,
      list(_, asked) {
        pages.push(asked);
        const older = { ...gap, seq: 3, firstSeq: 3 };
        return { entries: [gap, older].slice(0, asked.limit), missingSinceMs: 1000 };
      },
    },
    cursors: cursors(Buffer.from("a secret of this test")),
    orgMoney: () => IN_USD,
    callEnd: async () => undefined,
  });
  const ask = async (query: Record<string, string>) => {
    const input = { params: undefined, query: list.query?.parse(query), body: undefined };
    return await list.run(input as never, as("org_us"), NO_HEAD);
  };

  test("an entry that stands for others says which, and the next page begins below the first of them", async () => {
    const answer = list.output.parse(await ask({ limit: "1" }));
    expect(answer).toMatchObject({ incomplete_since: "1970-01-01T00:00:01.000Z" });
    expect(answer.data).toEqual([
      {
        seq: 9,
        kind: "adjustment",
        amount_micro_usd: -60,
        created_at: "1970-01-01T00:00:00.000Z",
        ref_type: "missing_entries",
        ref_id: "org_us:4-9",
        details: { first_seq: 4, last_seq: 9, entries: 6 },
      },
    ]);
    await ask({ limit: "1", cursor: answer.next_cursor });
    expect(pages.at(-1)).toMatchObject({ before: 4, limit: 2 });
  });

  test("a file says in a header since when calls may be missing", async () => {
    expect(await ask({ format: "csv" })).toMatchObject({
      parts: { headers: { "x-svc-incomplete-since": "1970-01-01T00:00:01.000Z" } },
    });
  });
});
