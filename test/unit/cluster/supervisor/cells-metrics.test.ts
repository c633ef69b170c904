/** C8: what one scrape tells of several cells. */
import { expect, test } from "vitest";
import type { GatewayFigures, MetricFamily, Over } from "../../../../src/base/metrics/family.ts";
import { CellsMetrics, type MeasuredCell } from "../../../../src/cluster/supervisor/cells-metrics.ts";

const gauge = (name: string, over: Over, value: number): MetricFamily => ({
  name,
  help: "A gauge.",
  type: "gauge",
  over,
  samples: [{ name, labels: {}, value }],
});

const counter = (name: string, counts: Readonly<Record<string, number>>): MetricFamily => ({
  name,
  help: "A counter.",
  type: "counter",
  over: "sum",
  samples: Object.entries(counts).map(([outcome, value]) => ({ name, labels: { outcome }, value })),
});

/** One bucket, one above it, and their sum. */
const histogram = (name: string, within: number, count: number, sum: number): MetricFamily => ({
  name,
  help: "A histogram.",
  type: "histogram",
  over: "sum",
  samples: [
    { name: `${name}_bucket`, labels: { le: "1" }, value: within },
    { name: `${name}_bucket`, labels: { le: "+Inf" }, value: count },
    { name: `${name}_sum`, labels: {}, value: sum },
    { name: `${name}_count`, labels: {}, value: count },
  ],
});

/** Cells whose answers a test gives; one without is silent. */
function rig(count: number) {
  const told = new Map<number, Promise<GatewayFigures>>();
  const asked: number[] = [];
  const restarts = new Map<number, number>();
  const cells = Array.from({ length: count }, (_, i): MeasuredCell => {
    const number = i + 1;
    return {
      number,
      get restarts() {
        return restarts.get(number) ?? 0;
      },
      figures: async () => {
        asked.push(number);
        return await (told.get(number) ?? Promise.reject(new Error("no answer in time")));
      },
    };
  });
  const metrics = new CellsMetrics(
    () => cells,
    (cell) => `local-${cell}`,
  );
  return {
    metrics,
    asked,
    tells(cell: number, ...families: MetricFamily[]) {
      told.set(cell, Promise.resolve({ cell: `local-${cell}`, families }));
    },
    tellsWhen(cell: number, figures: Promise<GatewayFigures>) {
      told.set(cell, figures);
    },
    isSilent: (cell: number) => void told.delete(cell),
    /** Its process dies, and the next one counts from 0. */
    dies(cell: number) {
      metrics.ended(cell);
      restarts.set(cell, (restarts.get(cell) ?? 0) + 1);
      told.delete(cell);
    },
    /** The samples of a page, as its lines. */
    each: async () => samplesOf((await metrics.each()).body),
    sum: async () => samplesOf((await metrics.sum()).body),
  };
}

const samplesOf = (page: string): string[] =>
  page.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

const of = (lines: readonly string[], name: string): string[] =>
  lines.filter((line) => line.startsWith(name));

test("C8: each cell's series have its name as label, under one head, and the sum has none", async () => {
  const cells = rig(2);
  cells.tells(1, counter("calls_total", { ok: 5, failed: 1 }), gauge("live", "sum", 2));
  cells.tells(2, counter("calls_total", { ok: 7 }), gauge("live", "sum", 3));
  expect(await cells.each()).toEqual([
    'weir_cell_up{cell="local-1"} 1',
    'weir_cell_up{cell="local-2"} 1',
    'weir_cell_restarts_total{cell="local-1"} 0',
    'weir_cell_restarts_total{cell="local-2"} 0',
    'calls_total{cell="local-1",outcome="ok"} 5',
    'calls_total{cell="local-1",outcome="failed"} 1',
    'calls_total{cell="local-2",outcome="ok"} 7',
    'live{cell="local-1"} 2',
    'live{cell="local-2"} 3',
  ]);
  expect((await cells.metrics.each()).body.match(/^# TYPE calls_total counter$/gm)).toHaveLength(1);
  expect(await cells.sum()).toEqual([
    "weir_cell_up 2",
    "weir_cell_restarts_total 0",
    'calls_total{outcome="ok"} 12',
    'calls_total{outcome="failed"} 1',
    "live 5",
  ]);
});

test("C8: what is no sum is not added up, and buckets of histograms are", async () => {
  const cells = rig(2);
  const families = (at: number) => [
    gauge("in_touch", "min", at - 1),
    gauge("age_seconds", "max", at),
    gauge("lag", "average", at),
    gauge("started_seconds", "none", at),
    histogram("took_seconds", at, 2 * at, at / 2),
  ];
  cells.tells(1, ...families(1));
  cells.tells(2, ...families(2));
  expect((await cells.sum()).slice(2)).toEqual([
    "in_touch 0",
    "age_seconds 2",
    "lag 1.5",
    'took_seconds_bucket{le="1"} 3',
    'took_seconds_bucket{le="+Inf"} 6',
    "took_seconds_sum 1.5",
    "took_seconds_count 6",
  ]);
});

test("C8: no count of the sum goes backwards when a cell dies, is silent or starts again", async () => {
  const cells = rig(2);
  const ok = async () => of(await cells.sum(), "calls_total");
  const buckets = async () => of(await cells.sum(), "took_seconds_count");
  cells.tells(1, counter("calls_total", { ok: 5 }), histogram("took_seconds", 1, 5, 9));
  cells.tells(
    2,
    counter("calls_total", { ok: 7 }),
    histogram("took_seconds", 1, 7, 9),
    gauge("live", "sum", 4),
  );
  expect([await ok(), await buckets()]).toEqual([
    ['calls_total{outcome="ok"} 12'],
    ["took_seconds_count 12"],
  ]);
  cells.isSilent(2);
  expect([await ok(), of(await cells.sum(), "live")]).toEqual([['calls_total{outcome="ok"} 12'], []]);
  cells.dies(2);
  expect([await ok(), await buckets()]).toEqual([
    ['calls_total{outcome="ok"} 12'],
    ["took_seconds_count 12"],
  ]);
  cells.tells(2, counter("calls_total", { ok: 1 }), histogram("took_seconds", 0, 1, 9));
  expect([await ok(), await buckets()]).toEqual([
    ['calls_total{outcome="ok"} 13'],
    ["took_seconds_count 13"],
  ]);
  cells.dies(2);
  cells.tells(2, counter("calls_total", { ok: 2, failed: 1 }));
  expect(await ok()).toEqual(['calls_total{outcome="ok"} 15', 'calls_total{outcome="failed"} 1']);
  expect(of(await cells.sum(), "weir_cell_restarts_total")).toEqual(["weir_cell_restarts_total 2"]);
});

test("C8: a cell that does not answer is left out and said to be, also one that never has", async () => {
  const cells = rig(3);
  cells.tells(1, gauge("live", "sum", 2));
  cells.tells(2, gauge("live", "sum", 3));
  await cells.each();
  cells.isSilent(2);
  const page = await cells.each();
  expect(of(page, "weir_cell_up")).toEqual([
    'weir_cell_up{cell="local-1"} 1',
    'weir_cell_up{cell="local-2"} 0',
    'weir_cell_up{cell="local-3"} 0',
  ]);
  expect(of(page, "live")).toEqual(['live{cell="local-1"} 2']);
  expect(of(await cells.sum(), "weir_cell_up")).toEqual(["weir_cell_up 1"]);
});

test("C8: scrapes that come while cells are asked wait for the same answers", async () => {
  const cells = rig(1);
  const late = Promise.withResolvers<GatewayFigures>();
  cells.tellsWhen(1, late.promise);
  const pages = [cells.each(), cells.sum(), cells.each()];
  late.resolve({ cell: "local-1", families: [gauge("live", "sum", 2)] });
  expect((await Promise.all(pages)).map((page) => of(page, "live"))).toEqual([
    ['live{cell="local-1"} 2'],
    ["live 2"],
    ['live{cell="local-1"} 2'],
  ]);
  expect(cells.asked).toEqual([1]);
});

test("C8: a name that a cell gave itself is its label, and what is no number is left out", async () => {
  const cells = rig(1);
  const families = [gauge("age_seconds", "max", Number.NaN), gauge("live", "sum", 1)];
  cells.tellsWhen(1, Promise.resolve({ cell: "local-1.2", families }));
  expect(await cells.each()).toEqual([
    'weir_cell_up{cell="local-1.2"} 1',
    'weir_cell_restarts_total{cell="local-1.2"} 0',
    'live{cell="local-1.2"} 1',
  ]);
});
