/** What a replay found: sums, the flow of calls, what would be refused, what was left out, and what the figures take for granted. */

import { mayCall } from "../../../app/session.ts";
import { Figure } from "../../../parts/figure.tsx";
import { Link } from "../../../parts/link.tsx";
import { Badge, Note } from "../../../parts/note.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { Table } from "../../../parts/table.tsx";
import { When } from "../../../parts/when.tsx";
import { format } from "../../../text/org-format.ts";
import { FlowDiagram } from "./flow.tsx";
import { FlowTable } from "./flow-table.tsx";
import type { DoneReplay, Report } from "./replay-state.ts";
import { rangeText } from "./replay-words.ts";

export function ReplayReport({
  done,
  project,
}: {
  readonly done: DoneReplay;
  readonly project: string | undefined;
}) {
  const { report, endedAt } = done;
  return (
    <>
      <Panel
        title={`Version ${report.version} over ${rangeText(report.hours)}${project === undefined ? "" : ` of ${project}`}`}
      >
        <Totals report={report} />
        <p class="small quiet">
          As of <When at={endedAt} />. Nothing was called, nothing is billed.
        </p>
        {report.truncated && (
          <Note tone="warn">
            There were more calls than are replayed: the newest {format.value.count(report.requests)} were
            taken.
          </Note>
        )}
        {report.incomplete_since !== undefined && (
          <Note tone="warn">
            Calls since <When at={report.incomplete_since} /> may be missing.
          </Note>
        )}
      </Panel>
      {report.replayed > 0 && <Flows report={report} />}
      <Refused report={report} />
      <div class="columns">
        <Rules report={report} />
        <LeftOut report={report} />
      </div>
      <Panel title="What the figures take for granted">
        <ul class="stack small">
          {report.assumptions.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </Panel>
    </>
  );
}

const signed = (value: number, text: (absolute: number) => string): string =>
  value === 0 ? "no change" : `${value > 0 ? "+" : "−"}${text(Math.abs(value))}`;

const ms = (value: number | null): string => (value === null ? "–" : format.value.duration(value));

/** A sign stays with its number. */
const Before = ({ before, change }: { readonly before: string; readonly change: string }) => (
  <>
    {before} before: <span class="nowrap">{change}</span>
  </>
);

function Totals({ report }: { readonly report: Report }) {
  const { money, count, share, duration } = format.value;
  const { cost_micro: cost, ttft_ms: ttft, refusals, failures } = report;
  const refusedBefore = refusals.recorded.denied_by_policy + refusals.recorded.no_endpoint;
  const refusedAfter = refusals.replayed.denied_by_policy + refusals.replayed.no_endpoint;
  return (
    <div class="figures">
      <Figure
        label="Calls replayed"
        value={count(report.replayed)}
        about={`of ${count(report.requests)} recorded`}
      />
      <Figure
        label="Another endpoint"
        value={count(report.moved)}
        about={`${share(report.moved_share)} of those replayed`}
      />
      <Figure
        label="Cost"
        value={money(cost.replayed)}
        about={<Before before={money(cost.recorded)} change={signed(cost.delta, money)} />}
      />
      <Figure
        label="First token, median"
        value={ms(ttft.expected_p50)}
        about={
          ttft.recorded_p50 === null ? (
            "not measured on both sides"
          ) : (
            <Before before={ms(ttft.recorded_p50)} change={signed(ttft.delta_p50 ?? 0, duration)} />
          )
        }
      />
      <Figure
        label="First token, 95 of 100"
        value={ms(ttft.expected_p95)}
        about={ttft.recorded_p95 === null ? "not measured on both sides" : `${ms(ttft.recorded_p95)} before`}
      />
      <Figure
        label="Refused by policy"
        value={count(refusedAfter)}
        about={`${count(refusedBefore)} before, ${count(refusals.newly)} newly`}
      />
      <Figure label="Failed" value={count(failures.replayed)} about={`${count(failures.recorded)} before`} />
    </div>
  );
}

function Flows({ report: { flows, cost_micro: cost, ttft_ms: ttft } }: { readonly report: Report }) {
  const { count } = format.value;
  return (
    <Panel title="Where calls went, and where they would go">
      <FlowDiagram flows={flows} />
      <details class="small">
        <summary>As a table, with cost and first token</summary>
        <FlowTable flows={flows} />
      </details>
      {cost.repriced > 0 && (
        <p class="small">
          Prices have changed: {count(cost.repriced)} {cost.repriced === 1 ? "call stays" : "calls stay"}{" "}
          where they were and cost something else by today's prices.
        </p>
      )}
      {ttft.unknown > 0 && (
        <p class="small">
          No first token can be expected of {count(ttft.unknown)} {ttft.unknown === 1 ? "call" : "calls"}:
          their new endpoint was never measured.
        </p>
      )}
    </Panel>
  );
}

function Refused({ report: { refusals, examples } }: { readonly report: Report }) {
  const { count } = format.value;
  const { denied_by_policy: denied, no_endpoint: none } = refusals.replayed;
  if (denied + none === 0)
    return (
      <Panel title="What would be refused">
        <p class="quiet">No call. Each has a rule that lets it through, and an endpoint.</p>
      </Panel>
    );
  return (
    <Panel title="What would be refused">
      <p>
        {count(denied + none)} {denied + none === 1 ? "call" : "calls"}, of which {count(refusals.newly)} were
        not refused then: {count(denied)} by a rule of the policy, {count(none)} for want of an endpoint.
      </p>
      <Table
        label="Examples of calls that would be refused"
        rows={examples}
        keyOf={({ request_id: id }) => id}
        columns={[
          { head: "Request", cell: ({ request_id: id }) => <RequestLink id={id} /> },
          {
            head: "",
            cell: ({ is_new: isNew }) => (isNew ? <Badge tone="bad">newly</Badge> : <Badge>as before</Badge>),
          },
          { head: "Why", cell: ({ reason }) => <span class="sentence break">{reason}</span> },
        ]}
      />
    </Panel>
  );
}

const RequestLink = ({ id }: { readonly id: string }) =>
  mayCall("getRequest") ? (
    <Link to={["requests", id]}>
      <code>{id}</code>
    </Link>
  ) : (
    <code>{id}</code>
  );

function Rules({ report: { by_rule: rules } }: { readonly report: Report }) {
  return (
    <Panel title="Which rule applied">
      <Table
        label="Calls by the rule that applies"
        rows={rules}
        keyOf={({ rule }) => rule}
        columns={[
          {
            head: "Rule",
            cell: ({ rule }) =>
              rule === "" ? <span class="quiet">none: the defaults</span> : <span class="break">{rule}</span>,
          },
          { head: "Calls", isNumber: true, cell: ({ requests }) => format.value.count(requests) },
        ]}
      />
    </Panel>
  );
}

function LeftOut({ report: { skipped } }: { readonly report: Report }) {
  const rows = [
    ["Refused for what no policy changes: a limit, no credit, a body that cannot be read", skipped.rejected],
    ["The catalog has no such model, or no longer", skipped.unknown_model],
    ["The record cannot be planned again", skipped.unreadable],
  ] as const;
  const shown = rows.filter(([, calls]) => calls > 0);
  return (
    <Panel title="Not replayed">
      {shown.length === 0 ? (
        <p class="quiet">Every recorded call was replayed.</p>
      ) : (
        <Table
          label="Calls that were not replayed, and why"
          rows={shown}
          keyOf={([why]) => why}
          columns={[
            { head: "Why", cell: ([why]) => <span class="sentence">{why}</span> },
            { head: "Calls", isNumber: true, cell: ([, calls]) => format.value.count(calls) },
          ]}
        />
      )}
    </Panel>
  );
}
