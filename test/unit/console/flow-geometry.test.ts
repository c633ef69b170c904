/** The drawing of a replay: bars and bands in proportion to calls, stacked without gaps, and what is small as one row. */
import { describe, expect, test } from "vitest";
import {
  drawingOf,
  type Flow,
  type FlowEnd,
  type Frame,
  labelLines,
  MOST_ROWS,
  rowsOf,
} from "../../../console/pages/policies/try/flow-geometry.ts";

const served = (endpoint_id: string): FlowEnd => ({ outcome: "served", endpoint_id });
const none = (outcome: "failed" | "refused" | "other"): FlowEnd => ({ outcome, endpoint_id: "" });

const flow = (from: FlowEnd, to: FlowEnd, requests: number, more: Partial<Flow> = {}): Flow => ({
  from,
  to,
  changed: from.outcome !== to.outcome || from.endpoint_id !== to.endpoint_id,
  requests,
  recorded_micro: requests * 10,
  replayed_micro: requests * 4,
  compared: requests,
  recorded_ttft_p50_ms: 300,
  expected_ttft_p50_ms: 200,
  ...more,
});

const FRAME: Frame = { x0: 100, x1: 300, thickness: 200, rowHeight: 40 };

const FLOWS = [
  flow(served("ep_a"), served("ep_b"), 50),
  flow(served("ep_a"), served("ep_a"), 30),
  flow(served("ep_b"), none("refused"), 15),
  flow(none("failed"), none("failed"), 5),
];

describe("rows", () => {
  test("one for each endpoint, the busiest first; what no endpoint serves is at the end", () => {
    expect(rowsOf(FLOWS)).toEqual([
      { kind: "endpoint", endpointId: "ep_a", count: 1, before: 80, after: 30 },
      { kind: "endpoint", endpointId: "ep_b", count: 1, before: 15, after: 50 },
      { kind: "failed", endpointId: "", count: 0, before: 5, after: 5 },
      { kind: "refused", endpointId: "", count: 0, before: 0, after: 15 },
    ]);
    expect(rowsOf([])).toEqual([]);
  });

  test("endpoints beyond a dozen are one row, with the sums of the report", () => {
    const many = Array.from({ length: MOST_ROWS + 3 }, (_, i) =>
      flow(served(`ep_${i}`), served(`ep_${i}`), 100 - i),
    );
    const rows = rowsOf(many);
    expect(rows).toHaveLength(MOST_ROWS);
    expect(rows.at(-1)).toMatchObject({ kind: "others", count: 4, before: 89 + 88 + 87 + 86 });
    const withRest = rowsOf([...many, flow(none("other"), none("other"), 7, { changed: true })]);
    expect(withRest.at(-1)).toMatchObject({ kind: "others", count: 0, before: 350 + 7 });
    // A dozen have a row each.
    expect(rowsOf(many.slice(0, MOST_ROWS)).every(({ kind }) => kind === "endpoint")).toBe(true);
  });
});

describe("the drawing", () => {
  const { rows, bands, height } = drawingOf(FLOWS, FRAME);
  const band = (from: string, to: string) =>
    bands.find((each) => name(each.from) === from && name(each.to) === to);
  const name = ({ kind, endpointId }: { kind: string; endpointId: string }) => endpointId || kind;

  test("bars are in proportion to calls, and each is in the middle of its row", () => {
    const thick = (key: "left" | "right") => rows.map((row) => row[key].height);
    expect(thick("left")).toEqual([160, 30, 10, 0]);
    expect(thick("right")).toEqual([60, 100, 10, 30]);
    // 160, 100, 40 and 40 high, with gaps.
    expect(rows.map(({ slot }) => slot)).toEqual([
      { top: 0, height: 160 },
      { top: 170, height: 100 },
      { top: 280, height: 40 },
      { top: 330, height: 40 },
    ]);
    expect(height).toBe(370);
    expect(rows[0]?.right.top).toBe(50);
    expect(rows[2]?.left.top).toBe(295);
  });

  test("bands fill their bars from the top without a gap, and say what becomes of calls", () => {
    // From ep_a: those that stay first, since their row is above.
    expect(band("ep_a", "ep_a")?.path).toBe("M100 0C200 0 200 50 300 50V110C200 110 200 60 100 60Z");
    expect(band("ep_a", "ep_b")?.path).toBe("M100 60C200 60 200 170 300 170V270C200 270 200 160 100 160Z");
    expect(bands.map(({ kind, requests }) => [kind, requests])).toEqual([
      ["moves", 50],
      ["stays", 30],
      ["refused", 15],
      ["stays", 5],
    ]);
    expect(band("ep_a", "ep_b")).toMatchObject({ recordedMicro: 500, replayedMicro: 200 });
  });

  test("what is little is seen, though it is thinner than a pixel", () => {
    const drawn = drawingOf(
      [flow(served("a"), served("a"), 999_999), flow(served("a"), served("b"), 1)],
      FRAME,
    );
    const [, thin] = drawn.bands;
    const [, top = "", bottom = ""] = /^M100 ([\d.]+)C.* ([\d.]+)Z$/.exec(thin?.path ?? "") ?? [];
    expect(Number(bottom) - Number(top)).toBeCloseTo(1, 1);
    expect(drawn.rows[1]?.slot.height).toBe(40);
  });

  test("of flows within the row of the others, those that stay and those that move are apart", () => {
    const other = none("other");
    const drawn = drawingOf([flow(other, other, 4), flow(other, other, 6, { changed: true })], FRAME);
    expect(drawn.bands.map(({ kind, requests }) => [kind, requests])).toEqual([
      ["moves", 6],
      ["stays", 4],
    ]);
  });

  test("nothing is drawn of nothing", () => {
    expect(drawingOf([], FRAME)).toEqual({ rows: [], bands: [], height: 0 });
  });
});

test.each([
  ["ep_openai_gpt", 20, 2, ["ep_openai_gpt"]],
  ["ep_openai_gpt-5.4-mini_us", 16, 3, ["ep_openai_gpt-5.", "4-mini_us"]],
  ["ep_simulator_deepseek-v4-flash_us", 14, 3, ["ep_simulator_", "deepseek-v4-", "flash_us"]],
  ["aaaaaaaaaaaaaaaaaaaa", 8, 2, ["aaaaaaaa", "aaaaaaa…"]],
  ["", 8, 2, [""]],
])("%j in lines of %i letters, at most %i", (text, letters, most, lines) => {
  expect(labelLines(text, letters, most)).toEqual(lines);
});
