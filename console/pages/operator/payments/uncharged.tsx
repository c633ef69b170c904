/** Calls of retired cells, which nobody was charged for. */
import { type Row, usePages } from "../../../api/answers.ts";
import { Copy } from "../../../parts/copy.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { type Column, ListTable } from "../../../parts/table.tsx";
import { Money, When } from "../../../parts/when.tsx";
import { OrgLink } from "../shared/org-link.tsx";

const PAGE = 50;

export function Uncharged() {
  const list = usePages("operatorListUncharged", { query: { limit: PAGE } });
  return (
    <Panel title="Uncharged calls">
      <p class="quiet small">
        A cell was retired before it had sent their charges. They are never charged later: where it matters,
        adjust the credit of the organisation.
      </p>
      <ListTable
        label="Uncharged calls"
        list={list}
        keyOf={({ org_id: org, request_id: request }) => `${org} ${request}`}
        columns={COLUMNS}
        empty={<p>Every call was charged.</p>}
      />
    </Panel>
  );
}

const COLUMNS: readonly Column<Row<"operatorListUncharged">>[] = [
  { head: "Answered", cell: ({ settled_at: at }) => <When at={at} /> },
  { head: "Organisation", cell: ({ org_id: id }) => <OrgLink id={id} /> },
  { head: "Request", cell: ({ request_id: id }) => <Copy text={id} what="request id" /> },
  {
    head: "Would have cost",
    isNumber: true,
    cell: ({ amount_micro_usd: micro }) => <Money micro={micro} />,
  },
];
