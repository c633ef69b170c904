/** Documents that the portal of e-invoices has not registered, and the documents of a month as a file for the supplier's return. */
import { useState } from "preact/hooks";
import { useAct } from "../../../api/act.ts";
import { type Row, usePages } from "../../../api/answers.ts";
import { download, fileNameOf, save } from "../../../api/download.ts";
import { Button } from "../../../parts/button.tsx";
import { Copy } from "../../../parts/copy.tsx";
import { Choice } from "../../../parts/field.tsx";
import { Link } from "../../../parts/link.tsx";
import { Badge, FaultNote } from "../../../parts/note.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { type Column, ListTable } from "../../../parts/table.tsx";
import { When } from "../../../parts/when.tsx";
import { monthsBefore } from "../../../text/months.ts";
import { OrgLink } from "../shared/org-link.tsx";

const PAGE = 50;

export function Unregistered() {
  const list = usePages("operatorListUnregistered", { query: { limit: PAGE } });
  return (
    <>
      <Panel title="Not registered" actions={<Link to={["jobs"]}>Jobs given up</Link>}>
        <p class="quiet small">
          Documents that need a number of India's portal of e-invoices (IRN) and have none yet, oldest first.
          One that was refused is tried again as the job <code>invoices.register</code>, once what it says is
          mended.
        </p>
        <ListTable
          label="Documents that are not registered"
          list={list}
          keyOf={({ id }) => id}
          columns={COLUMNS}
          empty={<p>The portal has every document that it must have.</p>}
        />
      </Panel>
      <Export />
    </>
  );
}

const COLUMNS: readonly Column<Row<"operatorListUnregistered">>[] = [
  { head: "Issued", cell: ({ issued_at: at }) => <When at={at} /> },
  { head: "Number", cell: ({ number }) => <span class="nowrap">{number}</span> },
  {
    head: "Status",
    cell: ({ irn_status: status, overdue }) => (
      <span class="row">
        <Badge tone={status === "failed" ? "bad" : "plain"}>
          {status === "failed" ? "refused" : "waits"}
        </Badge>
        {overdue && <Badge tone="warn">more than three days</Badge>}
      </span>
    ),
  },
  { head: "Organisation", cell: ({ org_id: id }) => <OrgLink id={id} /> },
  { head: "Id", cell: ({ id }) => <Copy text={id} what="id of the document" /> },
];

type Format = "csv" | "json" | "gstr1";

const FORMATS: readonly (readonly [Format, string])[] = [
  ["csv", "CSV: a line a document"],
  ["json", "JSON: all that documents say"],
  ["gstr1", "GSTR-1: the supplier's return"],
];

/** The last months of a year, as the calendar of India has them. */
const MONTHS = 12;

function Export() {
  const months = monthsBefore(new Date(), MONTHS);
  const [month, setMonth] = useState(months[0] ?? "");
  const [format, setFormat] = useState<Format>("csv");
  const act = useAct();
  const run = () =>
    act.run(async () => {
      const answer = await download("operatorExportInvoices", { query: { month, format } });
      save(
        await answer.blob(),
        fileNameOf(answer) ?? `invoices-${month}.${format === "csv" ? "csv" : "json"}`,
      );
    });
  return (
    <Panel title="Documents of a month">
      <div class="filters">
        <Choice label="Month" value={month} onValue={setMonth} options={months.map((each) => [each, each])} />
        <Choice
          label="File"
          value={format}
          onValue={(value) => setFormat(value as Format)}
          options={FORMATS}
        />
      </div>
      <FaultNote fault={act.fault} />
      <div class="row">
        <Button isBusy={act.isBusy} onClick={run}>
          Save the file
        </Button>
        <span class="quiet small">All organisations, by the calendar of India.</span>
      </div>
    </Panel>
  );
}
