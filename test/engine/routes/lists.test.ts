/**
 * Paged lists over HTTP: a walk sees every row once though rows are added meanwhile, cursors that were never issued
 * read as the first page, bounds hold; and what is wrong with a query is said by its name.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { recorded } from "../../support/observations.ts";

const ROWS = 7;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({ engine: true });
  for (let i = 0; i < ROWS; i++) await Promise.all([addKey(), gateway.chat()]);
});
// A page of requests shows what has arrived: late rows would move between two looks at it.
beforeEach(() => recorded(gateway));
afterAll(() => gateway.stop());

const addKey = () => gateway.call("POST", "/v1/keys", { body: { name: "row" } });

type Row = Record<string, string | number>;
interface Page {
  readonly object: string;
  readonly data: Row[];
  readonly next_cursor: string;
}

async function page(path: string, query: Record<string, string | number> = {}): Promise<Page> {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)] as [string, string]),
  );
  const { status, json } = await gateway.call("GET", `${path}?${search}`);
  expect(status).toBe(200);
  return json;
}

const LISTS = [
  { path: "/v1/keys", id: "id", add: addKey, max: 200, otherwise: 100 },
  { path: "/v1/requests", id: "request_id", add: () => gateway.chat(), max: 500, otherwise: 50 },
  { path: "/v1/credits/ledger", id: "seq", add: () => gateway.chat(), max: 500, otherwise: 50 },
];

describe.each(LISTS)("$path", ({ path, id, add, max }) => {
  const ids = (rows: readonly Row[]) => rows.map((row) => row[id]);

  test("a walk sees each row once, though rows are added between its pages", async () => {
    const there = ids((await page(path)).data);
    expect(there.length).toBeGreaterThanOrEqual(ROWS);
    const seen: unknown[] = [];
    let cursor = "";
    do {
      const { object, data, next_cursor } = await page(path, { limit: 2, ...(cursor && { cursor }) });
      expect(object).toBe("list");
      seen.push(...ids(data));
      cursor = next_cursor;
      await add();
    } while (cursor !== "");
    expect(seen).toEqual(there);
    // What was added meanwhile is newer than where the walk began.
    expect(ids((await page(path)).data).slice(-there.length)).toEqual(there);
  });

  test("next_cursor is empty exactly on the last page", async () => {
    const { data } = await page(path);
    expect((await page(path, { limit: data.length })).next_cursor).toBe("");
    const short = await page(path, { limit: data.length - 1 });
    expect(short.data).toHaveLength(data.length - 1);
    const last = await page(path, { limit: 5, cursor: short.next_cursor });
    expect(ids(last.data)).toEqual(ids(data).slice(-1));
    expect(last.next_cursor).toBe("");
  });

  test("a cursor that was never issued here is the first page", async () => {
    const first = await page(path, { limit: 2 });
    const tampered = `${first.next_cursor.slice(0, -2)}AA`;
    const others = await Promise.all(
      LISTS.filter((list) => list.path !== path).map((list) => page(list.path, { limit: 1 })),
    );
    for (const cursor of ["x", "undefined", "💧", tampered, ...others.map((other) => other.next_cursor)]) {
      expect(cursor).not.toBe("");
      expect(ids((await page(path, { limit: 2, cursor })).data)).toEqual(ids(first.data));
    }
  });

  test("limit has bounds", async () => {
    expect((await page(path, { limit: 1 })).data).toHaveLength(1);
    await page(path, { limit: max });
    for (const limit of ["0", "-1", String(max + 1), "1.5", "many", ""]) {
      const { status, json } = await gateway.call("GET", `${path}?limit=${limit}`);
      expect([limit, status, json.error?.param]).toEqual([limit, 400, "/limit"]);
    }
  });
});

test.each(LISTS)("$path has $otherwise rows a page unless asked", async ({ path, otherwise }) => {
  const { json } = await gateway.call("GET", "/openapi.json", { key: null });
  const parameters: { name: string; schema: { default?: number } }[] = json.paths[path].get.parameters;
  expect(parameters.find((p) => p.name === "limit")?.schema.default).toBe(otherwise);
});

describe("a query that cannot be read names its parameter", () => {
  test.each([
    ["/v1/requests?since=yesterday", "/since"],
    ["/v1/requests?until=2026-13-01T00:00:00Z", "/until"],
    ["/v1/requests?status=fine", "/status"],
    ["/v1/requests?errors_only=maybe", "/errors_only"],
    ["/v1/requests?min_cost_micro=cheap", "/min_cost_micro"],
    ["/v1/requests?q=01M7WA3GF6J222A3RVVZPSRQVG0", "/q"],
    ["/v1/requests?limit=1&limit=2", "/limit"],
    ["/v1/usage?range=1y", "/range"],
    ["/v1/usage?range=custom", "/from"],
    ["/v1/usage?range=custom&from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z", "/from"],
    ["/v1/usage?granularity=minute", "/granularity"],
    ["/v1/usage?group_by=colour", "/group_by"],
    ["/v1/usage?group_by=tag", "/tag"],
    ["/v1/keys?status=tired", "/status"],
    ["/v1/credits/ledger?kind=bribe", "/kind"],
    ["/v1/credits/ledger?format=xml", "/format"],
    ["/v1/models?modality=smell", "/modality"],
    ["/v1/models?capability=tools&capability=flight", "/capability"],
    ["/v1/models?sort=luck", "/sort"],
    ["/v1/generation/short", "/id"],
    ["/v1/requests/01M7WA3GF6J222A3RVVZPSRQVI", "/id"],
  ])("%s", async (path, param) => {
    const { status, json } = await gateway.call("GET", path);
    expect([status, json.error.code]).toEqual([400, "invalid_value"]);
    expect(json.error.param.startsWith(param)).toBe(true);
    expect(json.error.message).toContain(param.slice(1));
  });
});

describe("the ledger", () => {
  test("as CSV holds the rows of the JSON page", async () => {
    const { data } = await page("/v1/credits/ledger", { limit: 500 });
    const csv = await gateway.call("GET", "/v1/credits/ledger?format=csv&limit=500");
    expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(csv.headers.get("x-svc-request-id")).toBeTruthy();
    const [header = "", ...lines] = csv.text.trimEnd().split("\r\n");
    const columns = header.split(",");
    expect(columns).toEqual([
      "seq",
      "kind",
      "amount_micro_usd",
      "request_id",
      "ref_type",
      "ref_id",
      "created_at",
    ]);
    expect(lines).toEqual(data.map((row) => columns.map((name) => row[name] ?? "").join(",")));
  });

  test("has no gaps, and its sum is the balance", async () => {
    const { data } = await page("/v1/credits/ledger", { limit: 500 });
    expect(data.map((row) => row.seq)).toEqual(data.map((_, i) => data.length - i));
    expect(data.at(-1)).toMatchObject({ kind: "grant", amount_micro_usd: 25_000_000 });
    const sum = data.reduce((total, row) => total + Number(row.amount_micro_usd), 0);
    expect(await gateway.balance()).toEqual({ available: sum, held: 0 });
  });

  test("by kind", async () => {
    const grants = await page("/v1/credits/ledger", { kind: "grant" });
    expect(grants.data.map((row) => row.kind)).toEqual(["grant"]);
    expect(grants.next_cursor).toBe("");
  });
});
