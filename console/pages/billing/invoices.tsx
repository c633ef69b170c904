/** Invoices, statements and credit notes, newest first, with their files; and a month of them for an accountant. */
import { useState } from "preact/hooks";
import { useAct } from "../../api/act.ts";
import { type Row, usePages } from "../../api/answers.ts";
import { download, fileNameOf, save } from "../../api/download.ts";
import { mayCall, orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { type Column, ListTable } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { monthsBefore } from "../../text/months.ts";
import { format } from "../../text/org-format.ts";
import { DOCUMENTS, documentStatus } from "./document-words.ts";
import { DocumentFiles } from "./documents.tsx";

const PAGE = 25;

export function Invoices() {
  const list = usePages("listInvoices", { query: { limit: PAGE } });
  return (
    <>
      <Panel title="Invoices">
        <ListTable
          label="Invoices"
          list={list}
          keyOf={({ id }) => id}
          columns={COLUMNS}
          empty={
            <p>There is no invoice yet. Each paid top-up makes one, and each fee of a plan a statement.</p>
          }
        />
      </Panel>
      {mayCall("exportInvoices") && <Month />}
    </>
  );
}

type InvoiceRow = Row<"listInvoices">;

const COLUMNS: readonly Column<InvoiceRow>[] = [
  {
    head: "Number",
    cell: ({ id, number }) => (
      <Link to={["billing", "invoices", id]} class="nowrap">
        {number}
      </Link>
    ),
  },
  { head: "What", cell: (row) => <What of={row} /> },
  { head: "Issued", cell: ({ issued_at: at }) => <When at={at} as="day" /> },
  {
    head: "Total, tax included",
    isNumber: true,
    cell: ({ total_minor: total, currency }) => format.value.minor(total, currency),
  },
  {
    head: "Status",
    cell: (row) => <Badge tone={row.status === "paid" ? "good" : "plain"}>{documentStatus(row)}</Badge>,
  },
  { head: "Files", cell: ({ id, number }) => <DocumentFiles id={id} number={number} /> },
];

function What({ of: row }: { readonly of: InvoiceRow }) {
  const { kind, plan_id: plan, period_start: from, period_end: to, original_id: original } = row;
  return (
    <span class="sentence">
      {DOCUMENTS[kind]}
      {plan !== undefined && from !== undefined && to !== undefined && (
        <span class="quiet small">
          {" "}
          of the plan {plan}, <When at={from} as="day" /> to <When at={to} as="day" />
        </span>
      )}
      {original !== undefined && (
        <>
          {" of an "}
          <Link to={["billing", "invoices", original]}>invoice</Link>
        </>
      )}
    </span>
  );
}

const FORMATS = [
  ["csv", "Table (CSV)"],
  ["json", "JSON"],
  ["gstr1", "GSTR-1 (JSON)"],
] as const;

const ABOUT: Readonly<Record<(typeof FORMATS)[number][0], string>> = {
  csv: "A row for each document, for spreadsheets and accounting programs; in rupees too, where the currency is another.",
  json: "Each document with its lines, as programs read it.",
  gstr1:
    "In the shape of the return of outward supplies. What the seller files: use it to compare with your GSTR-2B.",
};

function Month() {
  const months = monthsBefore(new Date(), 24);
  const [month, setMonth] = useState(months[0] ?? "");
  const [kind, setKind] = useState<(typeof FORMATS)[number][0]>("csv");
  const act = useAct();
  const run = () =>
    act.run(async () => {
      const answer = await download("exportInvoices", { query: { month, format: kind } });
      const ending = kind === "csv" ? "csv" : "json";
      save(await answer.blob(), fileNameOf(answer) ?? `invoices-${orgSlug.value}-${month}.${ending}`);
    });
  return (
    <Panel title="A month for an accountant">
      <div class="filters">
        <Choice
          label="Month"
          value={month}
          onValue={setMonth}
          options={months.map((each) => [each, each] as const)}
        />
        <Choice
          label="As"
          value={kind}
          onValue={(value) => setKind(FORMATS.find(([each]) => each === value)?.[0] ?? "csv")}
          options={FORMATS}
        />
        <div class="beside-fields">
          <Button isBusy={act.isBusy} onClick={run}>
            Save documents of the month
          </Button>
        </div>
      </div>
      <p class="quiet small">{ABOUT[kind]} Months are those of India's clock, as the books are kept.</p>
      <FaultNote fault={act.fault} />
    </Panel>
  );
}
