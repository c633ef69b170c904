/** C8: one scrape of the supervisor tells of all cells; its log has each word once. */
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { place } from "../../../support/process.fixtures.ts";
import {
  hasRedis,
  processesOf,
  type Running,
  startAt,
  startCells,
  why,
} from "../../../support/supervisor/fixtures.ts";
import { until } from "../../../support/wait.ts";

const it = test.skipIf(!hasRedis);

const TOKEN = "scrape-token-of-forty-characters-0123456";

/** Makes a call at whichever cell has the connection. */
const call = async ({ where }: Running): Promise<void> => {
  const answer = await fetch(`${where.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${where.key()}`,
      "content-type": "application/json",
      connection: "close",
    },
    body: JSON.stringify({ model: "weir/sim-small", messages: [{ role: "user", content: "Hello" }] }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
};

/** Values by cell, "" for a series without the label. */
function valuesOf(page: string, name: string, more = ""): Record<string, number> {
  const found = page.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, "gm"));
  return Object.fromEntries(
    [...found]
      .filter(([, labels = ""]) => labels.includes(more))
      .map(([, labels = "", value]) => [/cell="([^"]+)"/.exec(labels)?.[1] ?? "", Number(value)]),
  );
}

const okCalls = (page: string) => valuesOf(page, "weir_calls_total", 'outcome="whole"');
const total = (values: Record<string, number>): number =>
  Object.values(values).reduce((sum, value) => sum + value, 0);

/** Words that a line of JSON has more than once, which readers of logs read differently. */
function doubledIn(output: string): string[] {
  const lines = output.split("\n").filter((line) => line.startsWith("{"));
  return lines.filter((line) => {
    const flat = line.replace(/:(\{.*?\}|\[.*?\])(?=[,}])/g, ":0");
    const words = [...flat.matchAll(/"(\w+)":/g)].map(([, word]) => word);
    return new Set(words).size < words.length;
  });
}

it(`C8: the supervisor tells each cell by its label and their sum, which a killed cell does not lower${why}`, async () => {
  const cells = await startCells(2);
  await cells.allReady();
  for (let i = 0; i < 6; i++) await call(cells);
  const page = await cells.metrics();
  expect(Object.keys(valuesOf(page, "weir_cell_up"))).toEqual(["local-1", "local-2"]);
  expect(total(okCalls(page))).toBe(6);
  const sum = await cells.metrics("/sum");
  expect(okCalls(sum)).toEqual({ "": 6 });
  expect(valuesOf(sum, "weir_cell_in_touch")).toEqual({ "": 1 });
  expect(valuesOf(sum, "weir_request_duration_seconds_count", 'outcome="whole"')).toEqual({ "": 6 });
  const [first = 0] = await cells.pids();
  process.kill(first, "SIGKILL");
  await until("another process of the cell tells", async () => {
    const meanwhile = await cells.metrics("/sum");
    expect(okCalls(meanwhile)).toEqual({ "": 6 });
    return (
      valuesOf(meanwhile, "weir_cell_up")[""] === 2 &&
      valuesOf(meanwhile, "weir_cell_restarts_total")[""] === 1
    );
  });
  await call(cells);
  expect(okCalls(await cells.metrics("/sum"))).toEqual({ "": 7 });
  expect(valuesOf(await cells.metrics(), "weir_cell_restarts_total")).toEqual({ "local-1": 1, "local-2": 0 });
  cells.child.kill("SIGTERM");
  expect((await cells.ended).code).toBe(0);
  const said = cells.output();
  expect(said).toMatch(/"by":"supervisor",.*"cell":1,"cellPid":\d+,.*"a cell ended; it is started again"/);
  expect(doubledIn(said)).toEqual([]);
});

it(`C8: a cell that stands still holds up no scrape${why}`, async () => {
  const cells = await startCells(2);
  await cells.allReady();
  const [, second = 0] = await cells.pids();
  process.kill(second, "SIGSTOP");
  expect(valuesOf(await cells.metrics(), "weir_cell_up")).toEqual({ "local-1": 1, "local-2": 0 });
  process.kill(second, "SIGCONT");
  await until("it tells again", async () => valuesOf(await cells.metrics(), "weir_cell_up")["local-2"] === 1);
});

it(`C8: at the port that cells share, none tells its own: it says where all are, to those who may know${why}`, async () => {
  const cells = await startCells(2, { METRICS_TOKEN: TOKEN });
  await cells.allReady();
  const metricsUrl = (await cells.status())?.metricsUrl;
  const authorization = `Bearer ${TOKEN}`;
  for (const url of [`${metricsUrl}`, `${metricsUrl}/sum`, `${cells.where.url}/metrics`])
    expect([url, (await fetch(url)).status]).toEqual([url, 401]);
  for (const url of [`${metricsUrl}`, `${metricsUrl}/sum`])
    expect((await fetch(url, { headers: { authorization } })).status).toBe(200);
  const refused = await fetch(`${cells.where.url}/metrics`, { headers: { authorization } });
  expect(refused.status).toBe(404);
  const { error } = (await refused.json()) as { error: { message: string } };
  expect(error.message).toMatch(/^This is cell local-[12], one of several at this port/);
  expect(error.message).toContain(`${metricsUrl}`);
  expect((await fetch(`${metricsUrl}`.replace("/metrics", "/healthz"))).status).toBe(404);
});

it(`C8: a port of metrics that is taken refuses the start by its name, and leaves nothing${why}`, async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen({ host: "127.0.0.1", port: 0 }, resolve));
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as { port: number };
  const where = await place({ METRICS_PORT: String(port) });
  const cells = startAt(where, 2);
  expect((await cells.ended).code).toBe(1);
  expect(cells.output()).toContain(
    `port ${port} is in use on 127.0.0.1: stop what listens there, or set METRICS_PORT`,
  );
  expect(processesOf(where.dataDir)).toEqual([]);
});

it(`C8: where no port is set and the usual one is taken, cells start without metrics, and a warning says so${why}`, async () => {
  const taken = createServer();
  // Where something else has the port it is taken all the same.
  await new Promise<void>((resolve) => {
    taken.once("error", () => resolve());
    taken.listen({ host: "127.0.0.1", port: 9464 }, resolve);
  });
  onTestFinished(() => void taken.close());
  const cells = await startCells(2, { METRICS_PORT: "" });
  await cells.allReady();
  expect((await cells.status())?.metricsUrl).toBe("");
  const refused = await fetch(`${cells.where.url}/metrics`);
  expect(refused.status).toBe(404);
  const { error } = (await refused.json()) as { error: { message: string } };
  expect(error.message).toMatch(/^This is cell local-[12], one of several at this port.*METRICS_PORT/);
  cells.child.kill("SIGTERM");
  expect((await cells.ended).code).toBe(0);
  expect(cells.output()).toMatch(/"level":40,.*port 9464 is in use on 127\.0\.0\.1.*METRICS_PORT/);
});
