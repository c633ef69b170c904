/** The flows of a replay as a table: what the drawing shows, with first tokens. */
import { Badge } from "../../../parts/note.tsx";
import { Table } from "../../../parts/table.tsx";
import { Money } from "../../../parts/when.tsx";
import { format } from "../../../text/org-format.ts";
import type { Flow, FlowEnd } from "./flow-geometry.ts";

const NAMES: Readonly<Record<Exclude<FlowEnd["outcome"], "served">, string>> = {
  failed: "failed",
  refused: "refused by policy",
  other: "all others",
};

const nameOf = ({ outcome, endpoint_id: id }: FlowEnd): string =>
  outcome === "served" ? id : NAMES[outcome];

const ms = (value: number | null): string => (value === null ? "–" : format.value.duration(value));

export function FlowTable({ flows }: { readonly flows: readonly Flow[] }) {
  return (
    <Table
      label="Calls by where they went and where they would go"
      rows={flows}
      keyOf={({ from, to, changed }) => `${nameOf(from)} ${nameOf(to)} ${changed}`}
      columns={[
        { head: "Before", cell: ({ from }) => <span class="break">{nameOf(from)}</span> },
        { head: "After", cell: ({ to }) => <span class="break">{nameOf(to)}</span> },
        { head: "", cell: (flow) => <Change flow={flow} /> },
        { head: "Calls", isNumber: true, cell: ({ requests }) => format.value.count(requests) },
        { head: "Cost before", isNumber: true, cell: (flow) => <Money micro={flow.recorded_micro} /> },
        { head: "after", isNumber: true, cell: (flow) => <Money micro={flow.replayed_micro} /> },
        { head: "First token before", isNumber: true, cell: (flow) => ms(flow.recorded_ttft_p50_ms) },
        { head: "expected", isNumber: true, cell: (flow) => ms(flow.expected_ttft_p50_ms) },
      ]}
    />
  );
}

function Change({ flow: { changed, to } }: { readonly flow: Flow }) {
  if (!changed) return <Badge>as it was</Badge>;
  if (to.outcome === "refused") return <Badge tone="bad">would be refused</Badge>;
  if (to.outcome === "failed") return <Badge tone="warn">would fail</Badge>;
  return <Badge tone="accent">moves</Badge>;
}
