/** What a compared bill shows: sums, and days and models one by one. */
import type { ComponentChildren } from "preact";
import { Figure } from "../../../parts/figure.tsx";
import { Badge, Note } from "../../../parts/note.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { type Column, Table } from "../../../parts/table.tsx";
import { When } from "../../../parts/when.tsx";
import { format } from "../../../text/org-format.ts";
import { type Bill, KINDS, type Line, tokensOf } from "./bill-words.ts";

const NONE = <span class="quiet">–</span>;

export function Compared({ bill }: { readonly bill: Bill }) {
  const { counts, totals, data } = bill;
  const { count, shortMoney } = format.value;
  const cost = (micro: number | null) => (micro === null ? "–" : shortMoney(micro));
  const isFine = counts.drift === 0 && counts.unbilled === 0 && counts.unrecorded === 0;
  return (
    <Panel title="Compared">
      <div role="status">
        {isFine ? (
          <Note tone="good">The bill agrees with the records: {count(counts.matched)} days and models.</Note>
        ) : (
          <Note tone="warn">
            The bill differs: {count(counts.drift)} with other tokens, {count(counts.unbilled)} not billed,{" "}
            {count(counts.unrecorded)} not recorded, {count(counts.matched)} agree.
          </Note>
        )}
      </div>
      {bill.incomplete_since !== undefined && (
        <Note tone="warn">
          Calls since <When at={bill.incomplete_since} /> are not all counted yet.
        </Note>
      )}
      <div class="figures">
        <Figure label="Billed" value={cost(totals.billed.cost_micro)} />
        <Figure label="Charged to organisations" value={cost(totals.recorded.cost_micro)} />
        <Figure label="Difference" value={cost(totals.drift.cost_micro)} about="Billed less charged" />
        <Figure
          label="Calls without a price"
          value={count(bill.unpriced_requests)}
          about="They used tokens and cost nothing."
        />
      </div>
      {data.length === 0 ? (
        <p class="quiet">The bill has no line, and nothing was recorded on its days.</p>
      ) : (
        <Table
          label="Days and models"
          rows={data}
          keyOf={({ day, model }) => `${day} ${model}`}
          columns={COLUMNS}
        />
      )}
      {!bill.complete && <p class="small quiet">Only the largest differences are listed.</p>}
    </Panel>
  );
}

const number = (value: number | null): ComponentChildren =>
  value === null ? NONE : format.value.count(value);
const money = (micro: number | null): ComponentChildren =>
  micro === null ? NONE : format.value.money(micro);

const COLUMNS: readonly Column<Line>[] = [
  { head: "Day, UTC", cell: ({ day }) => <span class="nowrap">{day}</span> },
  { head: "Model", cell: ({ model }) => <span class="break">{model === "" ? "(none)" : model}</span> },
  {
    head: "Result",
    cell: ({ kind, estimated_requests: estimated, unpriced_requests: unpriced }) => (
      <>
        <Badge tone={KINDS[kind][0]}>{KINDS[kind][1]}</Badge>
        {estimated > 0 && <div class="small quiet nowrap">{format.value.count(estimated)} estimated</div>}
        {unpriced > 0 && <div class="small quiet nowrap">{format.value.count(unpriced)} without a price</div>}
      </>
    ),
  },
  { head: "Tokens billed", isNumber: true, cell: ({ billed }) => number(tokensOf(billed)) },
  { head: "Recorded", isNumber: true, cell: ({ recorded }) => number(tokensOf(recorded)) },
  { head: "Calls billed", isNumber: true, cell: ({ billed }) => number(billed.requests) },
  { head: "Made", isNumber: true, cell: ({ recorded }) => number(recorded.requests) },
  { head: "Cost billed", isNumber: true, cell: ({ billed }) => money(billed.cost_micro) },
  { head: "Charged", isNumber: true, cell: ({ recorded }) => money(recorded.cost_micro) },
];
