/** The newest answers of two models beside each other. */
import { Panel } from "../../parts/panel.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { format } from "../../text/org-format.ts";
import type { Result } from "./lane.ts";
import { lanes } from "./state.ts";

interface Row {
  readonly name: string;
  readonly text: (result: Result) => string | undefined;
}

const ROWS: readonly Row[] = [
  {
    name: "First token",
    text: ({ firstMs }) => (firstMs === undefined ? undefined : format.value.duration(firstMs)),
  },
  { name: "Whole", text: ({ wholeMs }) => format.value.duration(wholeMs) },
  {
    name: "Tokens a second",
    text: ({ completed, firstMs = 0, wholeMs }) =>
      completed === undefined || wholeMs <= firstMs
        ? undefined
        : format.value.count(Math.round((completed.usage.output_tokens / (wholeMs - firstMs)) * 1000)),
  },
  {
    name: "Tokens in",
    text: ({ completed }) => completed && format.value.count(completed.usage.input_tokens),
  },
  {
    name: "Tokens out",
    text: ({ completed }) => completed && format.value.count(completed.usage.output_tokens),
  },
  {
    name: "Cost",
    text: ({ completed }) => completed && format.value.money(completed.cost.total_micro_usd),
  },
];

export function Compared() {
  const results = lanes.value.map(({ turns }) => turns.value.at(-1)?.result);
  const [first, second] = results;
  if (first === undefined || second === undefined) return null;
  const column = (result: Result, place: number): Column<Row> => ({
    head: first.model === second.model ? `${place}. ${result.model}` : result.model,
    isNumber: true,
    cell: ({ text }) => text(result) ?? "–",
  });
  return (
    <Panel title="The newest answers compared">
      <Table
        label="The newest answers compared"
        rows={ROWS}
        keyOf={({ name }) => name}
        columns={[{ head: "", cell: ({ name }) => name }, column(first, 1), column(second, 2)]}
      />
      <p class="small quiet">Times are as this browser saw them.</p>
    </Panel>
  );
}
