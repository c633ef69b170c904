/** What records and payloads take of the disk, by organisation, and the tables they are in. */
import { useAnswer } from "../../../api/answers.ts";
import type { Answer } from "../../../api/call.ts";
import { FaultNote, Waiting } from "../../../parts/note.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { ShareBar } from "../../../parts/share-bar.tsx";
import { type Column, Table } from "../../../parts/table.tsx";
import { format } from "../../../text/org-format.ts";
import { OrgLink } from "../shared/org-link.tsx";
import { bytesText, storageQuery } from "./asked.ts";

type Usage = Answer<"operatorGetUsage">;

export function Storage() {
  const answer = useAnswer("operatorGetUsage", { query: storageQuery() });
  const shown = answer.value.value;
  if (shown === undefined) {
    return (
      <>
        <FaultNote fault={answer.fault.value} onRetry={answer.refresh} />
        {answer.fault.value === undefined && <Waiting />}
      </>
    );
  }
  return (
    <>
      <FaultNote fault={answer.fault.value} onRetry={answer.refresh} />
      <Panel title="By organisation" isBusy={answer.isBusy.value}>
        <p class="quiet small">
          What is kept of their calls, whenever they were; the 100 with the most. Bytes are shares of the
          tables on the disk, compressed: of records by their number, of prompts and answers by the size of
          the calls.
        </p>
        {shown.orgs.length === 0 ? (
          <p class="quiet">No call is recorded yet.</p>
        ) : (
          <Table
            label="Storage by organisation"
            rows={shown.orgs}
            keyOf={({ org_id: id }) => id}
            columns={columnsOf(shown)}
          />
        )}
      </Panel>
      <Panel title="Tables" isBusy={answer.isBusy.value}>
        <Table
          label="Tables of the analytics database"
          rows={shown.tables}
          keyOf={({ name }) => name}
          columns={TABLES}
        />
      </Panel>
    </>
  );
}

type Stored = Usage["orgs"][number]["stored"];
const bytesOf = ({ record_bytes: records, payload_bytes: payloads }: Stored): number => records + payloads;

function columnsOf({ orgs }: Usage): readonly Column<Usage["orgs"][number]>[] {
  const all = orgs.reduce((sum, { stored }) => sum + bytesOf(stored), 0);
  return [
    { head: "Organisation", cell: ({ org_id: id }) => <OrgLink id={id} /> },
    { head: "Share", cell: ({ stored }) => <ShareBar share={all === 0 ? 0 : bytesOf(stored) / all} /> },
    { head: "On the disk", isNumber: true, cell: ({ stored }) => bytesText(bytesOf(stored)) },
    { head: "Records", isNumber: true, cell: ({ stored }) => format.value.count(stored.records) },
    {
      head: "Prompts and answers",
      isNumber: true,
      cell: ({ stored }) => format.value.count(stored.payloads),
    },
  ];
}

const TABLES: readonly Column<Usage["tables"][number]>[] = [
  { head: "Table", cell: ({ name }) => <code>{name}</code> },
  { head: "Rows", isNumber: true, cell: ({ rows }) => format.value.count(rows) },
  { head: "On the disk", isNumber: true, cell: ({ bytes }) => bytesText(bytes) },
];
