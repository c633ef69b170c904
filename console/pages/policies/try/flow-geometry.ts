/**
 * Where the bars and bands of a replay's flow stand: a row for each endpoint, with a bar of its calls before on the left and one of
 * those after on the right, and bands between them. All thicknesses are in proportion to calls. Pure.
 */

/** One side of a flow, as the report has it. */
export interface FlowEnd {
  readonly outcome: "served" | "failed" | "refused" | "other";
  readonly endpoint_id: string;
}

export interface Flow {
  readonly from: FlowEnd;
  readonly to: FlowEnd;
  readonly changed: boolean;
  readonly requests: number;
  readonly recorded_micro: number;
  readonly replayed_micro: number;
  readonly compared: number;
  readonly recorded_ttft_p50_ms: number | null;
  readonly expected_ttft_p50_ms: number | null;
}

type RowKind = "endpoint" | "others" | "failed" | "refused";

export interface FlowRow {
  readonly kind: RowKind;
  /** The endpoint, of a row that is of one; empty otherwise. */
  readonly endpointId: string;
  /** Endpoints of a row that has several. */
  readonly count: number;
  readonly before: number;
  readonly after: number;
}

/** A part of the window: from the top, and how thick. */
export interface Extent {
  readonly top: number;
  readonly height: number;
}

export interface DrawnRow extends FlowRow {
  readonly slot: Extent;
  readonly left: Extent;
  readonly right: Extent;
}

export interface Band {
  readonly from: FlowRow;
  readonly to: FlowRow;
  readonly kind: "stays" | "moves" | "refused" | "failed";
  readonly requests: number;
  readonly recordedMicro: number;
  readonly replayedMicro: number;
  /** Outline, as an SVG path has it. */
  readonly path: string;
}

export interface Drawing {
  readonly rows: readonly DrawnRow[];
  /** The thickest first, so that thin ones lie over them. */
  readonly bands: readonly Band[];
  readonly height: number;
}

export interface Frame {
  /** Where bands begin and end, from the left. */
  readonly x0: number;
  readonly x1: number;
  /** How thick all calls together are. */
  readonly thickness: number;
  /** The least height of a row: its label has a place. */
  readonly rowHeight: number;
}

/** Endpoints that have a row of their own. */
export const MOST_ROWS = 12;
/** Between two rows. */
const GAP = 10;
/** What is there is seen. */
const LEAST = 1;

const ORDER: readonly RowKind[] = ["endpoint", "others", "failed", "refused"];

/** The rows, those with the most calls first; small ones are one row, and what no endpoint serves is at the end. */
export function rowsOf(flows: readonly Flow[]): FlowRow[] {
  const sums = new Map<string, { end: FlowEnd; before: number; after: number }>();
  const add = (end: FlowEnd, side: "before" | "after", requests: number) => {
    const key = `${end.outcome} ${end.endpoint_id}`;
    const sum = sums.get(key) ?? { end, before: 0, after: 0 };
    sum[side] += requests;
    sums.set(key, sum);
  };
  for (const { from, to, requests } of flows) {
    add(from, "before", requests);
    add(to, "after", requests);
  }
  const most = (sum: { before: number; after: number }) => Math.max(sum.before, sum.after);
  const served = [...sums.values()]
    .filter(({ end }) => end.outcome === "served")
    .sort((a, b) => most(b) - most(a) || (a.end.endpoint_id < b.end.endpoint_id ? -1 : 1));
  const isAll = served.length <= MOST_ROWS;
  const own = isAll ? served : served.slice(0, MOST_ROWS - 1);
  const small = served.slice(own.length);
  const others = [...sums.values()].filter(({ end }) => end.outcome === "other");
  const rest = small.concat(others);
  const single = (kind: "failed" | "refused"): FlowRow[] => {
    const sum = sums.get(`${kind} `);
    return sum === undefined
      ? []
      : [{ kind, endpointId: "", count: 0, before: sum.before, after: sum.after }];
  };
  return [
    ...own.map(
      ({ end, before, after }): FlowRow => ({
        kind: "endpoint",
        endpointId: end.endpoint_id,
        count: 1,
        before,
        after,
      }),
    ),
    ...(rest.length === 0
      ? []
      : [
          {
            kind: "others" as const,
            endpointId: "",
            // How many a sum of the report has is not known.
            count: rest.length === small.length ? small.length : 0,
            before: rest.reduce((sum, { before }) => sum + before, 0),
            after: rest.reduce((sum, { after }) => sum + after, 0),
          },
        ]),
    ...single("failed"),
    ...single("refused"),
  ];
}

/** Where everything stands. Nothing where there are no flows. */
export function drawingOf(flows: readonly Flow[], frame: Frame): Drawing {
  const total = flows.reduce((sum, { requests }) => sum + requests, 0);
  const rows = rowsOf(flows);
  const scale = total === 0 ? 0 : frame.thickness / total;
  const drawn: DrawnRow[] = [];
  let top = 0;
  for (const row of rows) {
    const [left, right] = [row.before * scale, row.after * scale];
    const height = Math.max(frame.rowHeight, left, right);
    const middle = (thickness: number): Extent => ({
      top: top + (height - thickness) / 2,
      height: thickness,
    });
    drawn.push({ ...row, slot: { top, height }, left: middle(left), right: middle(right) });
    top += height + GAP;
  }
  return { rows: drawn, bands: bandsOf(flows, drawn, scale, frame), height: Math.max(0, top - GAP) };
}

interface Joined {
  readonly from: DrawnRow;
  readonly to: DrawnRow;
  readonly changed: boolean;
  requests: number;
  recordedMicro: number;
  replayedMicro: number;
}

function bandsOf(
  flows: readonly Flow[],
  rows: readonly DrawnRow[],
  scale: number,
  { x0, x1 }: Frame,
): Band[] {
  const joined = joinedFlows(flows, rows);
  const at = (row: DrawnRow) => rows.indexOf(row);
  // Stacked in the order of the other side's rows, so that bands of one bar do not cross each other.
  const lefts = tops(
    [...joined].sort((a, b) => at(a.from) - at(b.from) || at(a.to) - at(b.to) || unchangedFirst(a, b)),
    ({ from }) => from.left,
    scale,
  );
  const rights = tops(
    [...joined].sort((a, b) => at(a.to) - at(b.to) || at(a.from) - at(b.from) || unchangedFirst(a, b)),
    ({ to }) => to.right,
    scale,
  );
  return joined
    .map((flow): Band => {
      const { from, to, requests, recordedMicro, replayedMicro } = flow;
      const thick = Math.max(LEAST, requests * scale);
      const path = bandPath(x0, lefts.get(flow) ?? 0, x1, rights.get(flow) ?? 0, thick);
      return { from, to, kind: kindOf(flow), requests, recordedMicro, replayedMicro, path };
    })
    .sort((a, b) => b.requests - a.requests || ORDER.indexOf(a.to.kind) - ORDER.indexOf(b.to.kind));
}

/** Flows between the same two rows are one band, but what stays within a row of several endpoints and what moves there are two. */
function joinedFlows(flows: readonly Flow[], rows: readonly DrawnRow[]): Joined[] {
  const byEnd = (end: FlowEnd): DrawnRow | undefined =>
    rows.find(({ kind, endpointId }) =>
      end.outcome === "served"
        ? kind === "endpoint" && endpointId === end.endpoint_id
        : kind === (end.outcome === "other" ? "others" : end.outcome),
    ) ?? rows.find(({ kind }) => kind === "others");
  const found = new Map<string, Joined>();
  for (const flow of flows) {
    const [from, to] = [byEnd(flow.from), byEnd(flow.to)];
    if (from === undefined || to === undefined) continue;
    const key = `${rows.indexOf(from)} ${rows.indexOf(to)} ${flow.changed}`;
    const sum = found.get(key) ?? {
      from,
      to,
      changed: flow.changed,
      requests: 0,
      recordedMicro: 0,
      replayedMicro: 0,
    };
    sum.requests += flow.requests;
    sum.recordedMicro += flow.recorded_micro;
    sum.replayedMicro += flow.replayed_micro;
    found.set(key, sum);
  }
  return [...found.values()];
}

const unchangedFirst = (a: Joined, b: Joined): number => Number(a.changed) - Number(b.changed);

/** Where each band begins: below the one before it at the same bar. */
function tops(
  sorted: readonly Joined[],
  barOf: (flow: Joined) => Extent,
  scale: number,
): ReadonlyMap<Joined, number> {
  const used = new Map<Extent, number>();
  const found = new Map<Joined, number>();
  for (const flow of sorted) {
    const bar = barOf(flow);
    const above = used.get(bar) ?? 0;
    found.set(flow, bar.top + above);
    used.set(bar, above + flow.requests * scale);
  }
  return found;
}

function kindOf({ to, changed }: Joined): Band["kind"] {
  if (!changed) return "stays";
  return to.kind === "refused" || to.kind === "failed" ? to.kind : "moves";
}

function bandPath(x0: number, y0: number, x1: number, y1: number, thick: number): string {
  const middle = digits((x0 + x1) / 2);
  const [a, b, c, d] = [y0, y1, y1 + thick, y0 + thick].map(digits);
  const [left, right] = [x0, x1].map(digits);
  return `M${left} ${a}C${middle} ${a} ${middle} ${b} ${right} ${b}V${c}C${middle} ${c} ${middle} ${d} ${left} ${d}Z`;
}

/** Hundredths of a pixel. */
const digits = (n: number): number => Math.round(n * 100) / 100;

/**
 * A name in lines of at most so many letters, broken behind a sign where there is one. What is too long for the lines is cut, and
 * says so by an ellipsis.
 */
export function labelLines(name: string, letters: number, most: number): string[] {
  const lines: string[] = [];
  let rest = name;
  while (rest.length > letters && lines.length < most - 1) {
    const at = breakAt(rest, letters);
    lines.push(rest.slice(0, at));
    rest = rest.slice(at);
  }
  lines.push(rest.length > letters ? `${rest.slice(0, letters - 1)}…` : rest);
  return lines;
}

const SIGNS = /[_\-./ ]/;

function breakAt(text: string, letters: number): number {
  for (let at = letters; at > letters / 2; at--) if (SIGNS.test(text[at - 1] ?? "")) return at;
  return letters;
}
