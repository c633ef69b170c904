/** Exports of requests and of usage, over HTTP. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { recorded } from "../../support/observations.ts";
import { until } from "../../support/wait.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({ engine: true });
  for (const user of ["=cmd|' /C calc'!A0", "plain"]) {
    await gateway.call("POST", "/v1/chat/completions", {
      headers: { "user-agent": user },
      body: { model: "weir/sim-small", messages: [{ role: "user", content: "Hello." }] },
    });
  }
  await recorded(gateway);
});
afterAll(() => gateway?.stop());

const get = (path: string, key = gateway.liveKey) =>
  fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${key}` } });

test("writes the org's requests as CSV, with formulas made texts", async () => {
  const answer = await get("/v1/requests/export");
  const text = await answer.text();
  expect([answer.status, text]).toEqual([200, expect.stringContaining('"time","request_id"')]);
  expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(answer.headers.get("content-disposition")).toBe('attachment; filename="requests.csv"');
  expect(text.trim().split("\n")).toHaveLength(1 + Number(answer.headers.get("x-svc-rows")));
  expect(text).toContain("\"'=cmd|' /C calc'!A0\"");
});

test("writes the same requests as JSON lines, newest first, by the feed's filters", async () => {
  const lines = (await (await get("/v1/requests/export?format=jsonl&status=ok")).text()).trim().split("\n");
  const rows = lines.map((line) => JSON.parse(line));
  const { json } = await gateway.call("GET", "/v1/requests?status=ok");
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.map((row) => row.request_id)).toEqual(
    json.data.map((row: { id?: string; request_id?: string }) => row.request_id ?? row.id),
  );
  expect(await (await get("/v1/requests/export?format=jsonl&status=rejected")).text()).toBe("");
});

test("writes Parquet, which begins and ends with its mark", async () => {
  const bytes = Buffer.from(await (await get("/v1/requests/export?format=parquet")).arrayBuffer());
  expect([bytes.subarray(0, 4).toString(), bytes.subarray(-4).toString()]).toEqual(["PAR1", "PAR1"]);
});

test("writes usage by bucket and group, which add up to the totals", async () => {
  const lines = (await (await get("/v1/usage/export?format=jsonl&group_by=model")).text()).trim().split("\n");
  const rows = lines.map((line) => JSON.parse(line));
  const { json } = await gateway.call("GET", "/v1/usage");
  expect(rows.reduce((sum, row) => sum + Number(row.requests), 0)).toBe(json.totals.requests);
  // Percentiles and shares do not add up: the export has sums alone.
  const { latency, cache_share, ...sums } = json.totals;
  expect([latency, cache_share]).toEqual([expect.any(Object), expect.anything()]);
  expect(Object.keys(rows[0])).toEqual(["bucket", "group", ...Object.keys(sums)]);
});

test("refuses a format that it does not write", async () => {
  expect((await get("/v1/requests/export?format=xlsx")).status).toBe(400);
});

test("shows calls of test keys to test keys, and to them only these", async () => {
  const call = await gateway.chat({}, { key: gateway.testKey });
  expect(call.status).toBe(200);
  const rows = async (key: string) => {
    const text = await (await get("/v1/requests/export?format=jsonl", key)).text();
    return text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).environment);
  };
  await until("the call is there", async () => (await rows(gateway.testKey)).length > 0);
  expect(new Set(await rows(gateway.testKey))).toEqual(new Set(["test"]));
  const usage = await get("/v1/usage/export?format=jsonl", gateway.testKey);
  expect(Number(JSON.parse((await usage.text()).trim()).requests)).toBe(1);
});
