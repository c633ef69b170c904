/** The tables of a budget. */
import { FIGURE_TITLES, type FigureName } from "../instructions/kept.ts";
import { STEPS } from "./steps.ts";
import type { SystemCallCase, SystemCalls, ThreadCalls } from "./system-calls.ts";
import { type Amounts, type Group, type Measure, sumOf, type Tally } from "./tally.ts";

/** What one call, or one event of a stream, takes. */
export interface FigureBudget {
  readonly figure: FigureName;
  readonly tally: Tally;
  /** Exact: of windows in which nothing but the calls' own work ran. */
  readonly heapBytes: number;
  /** Memory of ArrayBuffers. */
  readonly bufferBytes: number;
  /** Blocks outside of the heap, those of ArrayBuffers among them, and their bytes. */
  readonly blocks: number;
  readonly blockBytes: number;
  /** Bytes of a block, and how many there are of that size; the largest sums first. */
  readonly blockSizes: readonly (readonly [size: number, blocks: number])[];
}

export interface Budget {
  readonly figures: readonly FigureBudget[];
  /** Or why they are not counted. */
  readonly systemCalls: ReadonlyMap<SystemCallCase, ThreadCalls> | string;
}

const MOST_SIZES = 12;
const INSTRUCTIONS: readonly Measure[] = ["javascript", "builtins", "runtime", "libraries"];

interface Column {
  readonly title: string;
  readonly measures: readonly Measure[];
  readonly digits: number;
}

const COLUMNS: readonly Column[] = [
  { title: "instructions", measures: INSTRUCTIONS, digits: 0 },
  { title: "JavaScript", measures: ["javascript"], digits: 0 },
  { title: "built-ins", measures: ["builtins"], digits: 0 },
  { title: "V8, Node", measures: ["runtime"], digits: 0 },
  { title: "libraries", measures: ["libraries"], digits: 0 },
  { title: "heap bytes", measures: ["heapBytes"], digits: 0 },
  { title: "objects", measures: ["objects"], digits: 1 },
  { title: "blocks outside", measures: ["blocks"], digits: 2 },
  { title: "entries", measures: ["entries"], digits: 2 },
];

interface List {
  readonly title: string;
  readonly group: Group;
  readonly by: readonly Measure[];
  readonly columns: readonly Column[];
}

const columnsOf = (...titles: readonly string[]): Column[] =>
  COLUMNS.filter(({ title }) => titles.includes(title));

const LISTS: readonly List[] = [
  {
    title: "instructions by function, with what each had V8, Node and libraries do",
    group: "place",
    by: INSTRUCTIONS,
    columns: columnsOf("instructions", "JavaScript", "built-ins", "V8, Node", "libraries"),
  },
  {
    title: "functions of V8, Node and libraries, own instructions",
    group: "function",
    by: ["runtime"],
    columns: [{ title: "instructions", measures: ["runtime"], digits: 0 }],
  },
  {
    title: "bytes in V8's heap by function",
    group: "place",
    by: ["heapBytes"],
    columns: columnsOf("heap bytes", "objects"),
  },
  {
    title: "blocks outside of V8's heap: what allocated, ← who asked for it",
    group: "allocated",
    by: ["blocks"],
    columns: columnsOf("blocks outside"),
  },
  {
    title: "entries into V8's runtime and Node's functions, ← who entered",
    group: "entry",
    by: ["entries"],
    columns: columnsOf("entries"),
  },
];

/** Below half of what the digits can show. */
const isNothing = (amounts: Amounts, columns: readonly Column[]): boolean =>
  columns.every(({ measures, digits }) => Math.abs(sumOf(amounts, measures)) < 0.5 * 10 ** -digits);

/** @param top rows of each list */
export function budgetText({ figures, systemCalls }: Budget, isMarkdown: boolean, top: number): string {
  const draw = isMarkdown ? markdownTable : plainTable;
  const parts = figures.flatMap((figure) => [
    heading(`${figure.figure}: ${FIGURE_TITLES[figure.figure]}`, isMarkdown),
    draw(["step", ...COLUMNS.map(({ title }) => title)], stepRows(figure.tally)),
    exactLine(figure),
    ...(top === 0 ? [] : LISTS.flatMap((list) => listOf(list, figure.tally, top, isMarkdown))),
  ]);
  if (typeof systemCalls === "string") return [...parts, systemCalls].join("\n\n");
  const lines = [...systemCalls].flatMap(([name, { main, others }]) => [
    `- ${name}, main thread: ${callsText(main)}`,
    `- ${name}, other threads: ${callsText(others)}`,
  ]);
  const title = "system calls of a call, with sockets; of streams-100 those of an event";
  return [...parts, heading(title, isMarkdown), lines.join("\n")].join("\n\n");
}

function stepRows(tally: Tally): string[][] {
  const rows = STEPS.map((step) => [step, tally.amounts("step", step)] as const);
  const all = COLUMNS.map(({ measures, digits }) =>
    rows.reduce((sum, [, amounts]) => sum + sumOf(amounts, measures), 0).toFixed(digits),
  );
  const shown = rows
    .filter(([, amounts]) => !isNothing(amounts, COLUMNS))
    .map(([step, amounts]) => [step, ...cells(amounts, COLUMNS)]);
  return [...shown, ["all", ...all]];
}

function exactLine({ heapBytes, bufferBytes, blocks, blockBytes, blockSizes, tally }: FigureBudget): string {
  const places = tally
    .largest("step", ["heapBytes"])
    .reduce((sum, [, amounts]) => sum + sumOf(amounts, ["heapBytes"]), 0);
  const difference = (100 * (places / heapBytes - 1)).toFixed(1);
  const shown = blockSizes.filter(([, count]) => count >= 0.005).slice(0, MOST_SIZES);
  const sizes = shown.map(([size, count]) => `${count.toFixed(2)} × ${size}`);
  return [
    `V8's heap: ${Math.round(heapBytes)} bytes by its own count; the sum of the places is ${difference} % from it.`,
    `Outside: ${blocks.toFixed(2)} blocks of ${Math.round(blockBytes)} bytes, ${Math.round(bufferBytes)} of them of ArrayBuffers; by size: ${sizes.join(", ")}.`,
  ].join("\n");
}

function listOf(
  { title, group, by, columns }: List,
  tally: Tally,
  top: number,
  isMarkdown: boolean,
): string[] {
  const rows = tally
    .largest(group, by)
    .filter(([, amounts]) => !isNothing(amounts, columns))
    .slice(0, top)
    .map(([key, amounts]) => [key, ...cells(amounts, columns)]);
  const head = ["where", ...columns.map((column) => column.title)];
  return [heading(title, isMarkdown), (isMarkdown ? markdownTable : plainTable)(head, rows)];
}

const cells = (amounts: Amounts, columns: readonly Column[]): string[] =>
  columns.map(({ measures, digits }) => sumOf(amounts, measures).toFixed(digits));

function callsText(calls: SystemCalls): string {
  const all = [...calls.values()].reduce((sum, count) => sum + count, 0);
  const each = [...calls].map(([name, count]) => `${name} ${count.toFixed(2)}`);
  return `${all.toFixed(2)} (${each.filter((text) => !text.endsWith(" 0.00")).join(", ")})`;
}

const heading = (title: string, isMarkdown: boolean): string => (isMarkdown ? `**${title}**` : `== ${title}`);

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (items: readonly string[]): string =>
    `| ${items.map((item) => item.replaceAll("|", "\\|")).join(" | ")} |`;
  const rule = head.map((_, i) => (i === 0 ? "---" : "---:"));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

/** Figures in columns, what they are of behind them. */
function plainTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, i) => Math.max(...all.map((row) => (row[i] ?? "").length)));
  return all
    .map(([first = "", ...others]) =>
      [...others.map((item, i) => item.padStart(widths[i + 1] ?? 0)), first].join("  "),
    )
    .join("\n");
}
