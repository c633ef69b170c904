/** Whether payment gateways, top-ups, refunds, ledger and invoices of a day tell the same; run again by hand where they did not. */
import { useState } from "preact/hooks";
import { useAct } from "../../../api/act.ts";
import { useAnswer } from "../../../api/answers.ts";
import { call } from "../../../api/call.ts";
import { filter, setFilters } from "../../../app/router.ts";
import { Button } from "../../../parts/button.tsx";
import { TextField } from "../../../parts/field.tsx";
import { Link } from "../../../parts/link.tsx";
import { Badge, FaultNote, Note, Waiting } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { type Column, Table } from "../../../parts/table.tsx";
import { When } from "../../../parts/when.tsx";
import { daysAfter, isDay } from "../../../text/days.ts";
import { format } from "../../../text/org-format.ts";
import { OrgLink } from "../shared/org-link.tsx";
import {
  type Finding,
  markOf,
  type Report,
  type TotalRow,
  totalRows,
  yesterdayInIndia,
} from "./report-words.ts";

const chosen = filter("day");

export function Reconciliation() {
  const newest = yesterdayInIndia(Date.now());
  const day = isDay(chosen.value) ? chosen.value : newest;
  const answer = useAnswer("operatorGetReconciliation", { query: { day } });
  const act = useAct();
  const [told, setTold] = useState("");
  const run = () =>
    act.run(async () => {
      setTold("");
      const report = await call("operatorRunReconciliation", { body: { day } });
      setTold(report.balanced ? `${day} was reconciled: it balances.` : `${day} was reconciled.`);
      answer.refresh();
    });
  const shown = answer.value.value;
  return (
    <Page
      title="Reconciliation"
      about="Days of India, as the books are kept. Each night the day before is reconciled by itself."
      actions={
        <Button kind="main" isBusy={act.isBusy} onClick={run}>
          Reconcile this day
        </Button>
      }
    >
      <DayChoice key={day} day={day} newest={newest} />
      <p role="status">{told}</p>
      <FaultNote fault={act.fault} />
      <FaultNote fault={answer.fault.value} onRetry={answer.refresh} />
      {shown === undefined && answer.fault.value === undefined && <Waiting />}
      {shown !== undefined && shown.day === day && <Day report={shown} isBusy={answer.isBusy.value} />}
    </Page>
  );
}

function DayChoice({ day, newest }: { readonly day: string; readonly newest: string }) {
  const [text, setText] = useState(day);
  const choose = (next: string) => {
    setText(next);
    if (isDay(next) && next <= newest) setFilters({ day: next });
  };
  return (
    <div class="filters">
      <TextField
        label="Day"
        type="date"
        value={text}
        onValue={choose}
        fault={text > newest ? "This day is not over." : undefined}
      />
      <div class="row beside-fields">
        <Button onClick={() => choose(daysAfter(day, -1))}>Day before</Button>
        <Button onClick={() => choose(daysAfter(day, 1))} disabled={day >= newest}>
          Day after
        </Button>
      </div>
    </div>
  );
}

function Day({ report, isBusy }: { readonly report: Report; readonly isBusy: boolean }) {
  const { count } = format.value;
  return (
    <>
      {report.balanced ? (
        <Note tone="good">The books of {report.day} tell the same.</Note>
      ) : (
        <Note tone="bad">The books of {report.day} do not match: see the findings.</Note>
      )}
      {!report.complete && (
        <Note tone="warn">
          Not everything could be looked at: there was too much, or a payment gateway is not configured any
          more.
        </Note>
      )}
      <Panel title="Findings" isBusy={isBusy} actions={<Link to={["payments"]}>Payments to look at</Link>}>
        <p class="quiet small">
          {report.stored ? "Kept from the run of " : "Compared just now, nothing was changed: "}
          <When at={report.ran_at} />. {count(report.ledger.entries)} entries of the ledger of{" "}
          {count(report.ledger.orgs)} {report.ledger.orgs === 1 ? "organisation" : "organisations"} were added
          up.
        </p>
        {report.findings.length === 0 ? (
          <p class="quiet">Nothing was found.</p>
        ) : (
          <Table
            label="Findings"
            rows={report.findings}
            keyOf={(finding) => `${finding.kind} ${finding.gateway} ${finding.ref} ${finding.detail}`}
            columns={FINDINGS}
          />
        )}
      </Panel>
      <Totals rows={totalRows(report)} isBusy={isBusy} />
    </>
  );
}

const FINDINGS: readonly Column<Finding>[] = [
  {
    head: "State",
    cell: (finding) => {
      const [tone, word] = markOf(finding);
      return <Badge tone={tone}>{word}</Badge>;
    },
  },
  {
    head: "What does not match",
    cell: ({ meaning, detail }) => (
      <>
        <span class="sentence">{meaning}.</span>
        <div class="small quiet break">{detail}</div>
      </>
    ),
  },
  {
    head: "Amount",
    isNumber: true,
    cell: ({ amount_minor: amount, currency }) =>
      currency === "" ? <span class="quiet">–</span> : format.value.minor(amount, currency),
  },
  {
    head: "Of",
    cell: ({ gateway, ref, subject_id: subject }) => (
      <>
        <code class="break">{ref}</code>
        <div class="small quiet break">{[gateway, subject].filter((part) => part !== "").join(", ")}</div>
      </>
    ),
  },
  { head: "Organisation", cell: ({ org_id: id }) => <OrgLink id={id} /> },
];

function Totals({ rows, isBusy }: { readonly rows: readonly TotalRow[]; readonly isBusy: boolean }) {
  return (
    <Panel title="Totals of the day" isBusy={isBusy}>
      {rows.length === 0 ? (
        <p class="quiet">No money moved, and no document was issued.</p>
      ) : (
        <Table
          label="Totals"
          rows={rows}
          keyOf={({ name, currency }) => `${name} ${currency}`}
          columns={[
            { head: "What", cell: ({ name }) => <span class="sentence">{name}</span> },
            { head: "How many", isNumber: true, cell: ({ count }) => format.value.count(count) },
            {
              head: "Amount, tax included",
              isNumber: true,
              cell: ({ amount, currency }) => format.value.minor(amount, currency),
            },
            {
              head: "Fees",
              isNumber: true,
              cell: ({ fee, currency }) =>
                fee === 0 ? <span class="quiet">–</span> : format.value.minor(fee, currency),
            },
          ]}
        />
      )}
    </Panel>
  );
}
