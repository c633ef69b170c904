/** Calls as they run: what began, what has had its first token, what ended. */

import { useLive } from "../../api/live.ts";
import type { EndedCall, RunningCall } from "../../api/live-state.ts";
import { filter, segments, setFilters } from "../../app/router.ts";
import { mayCall, mayReadPayloads, org } from "../../app/session.ts";
import { TextField } from "../../parts/field.tsx";
import { Figure } from "../../parts/figure.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote, Note } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { CallStatus } from "../requests/call-status.tsx";
import { Elapsed } from "./elapsed.tsx";
import { WatchedCall } from "./watched-call.tsx";

const wanted = filter("q");

/** A call has the words of the filter in its model, endpoint, key, app or id. */
const has = (call: RunningCall | EndedCall, words: string): boolean =>
  [call.model, call.endpoint_id, call.key_id, call.app_id, call.request_id, call.project_id]
    .join(" ")
    .toLowerCase()
    .includes(words.toLowerCase());

const model: Column<RunningCall | EndedCall> = {
  head: "Model",
  cell: (call) => <span class="break">{call.model}</span>,
};
const endpoint: Column<RunningCall | EndedCall> = {
  head: "Endpoint",
  cell: (call) => <code class="break">{call.endpoint_id || "–"}</code>,
};

const RUNNING: readonly Column<RunningCall>[] = [
  { head: "Began", cell: ({ started_at: at }) => <When at={at} as="clock" /> },
  model,
  endpoint,
  { head: "Key", cell: ({ key_id: key }) => <KeyLink id={key} /> },
  {
    head: "First token",
    isNumber: true,
    cell: ({ ttft_ms: ms }) => (ms === undefined || ms === 0 ? "–" : format.value.duration(ms)),
  },
  { head: "Running", isNumber: true, cell: ({ started_at: at }) => <Elapsed since={at} /> },
  { head: "Request", cell: (call) => <RunningId call={call} /> },
];

const ENDED: readonly Column<EndedCall>[] = [
  { head: "Began", cell: ({ ts }) => <When at={ts} as="clock" /> },
  { head: "Status", cell: (call) => <CallStatus status={call.status} code={call.error_code} /> },
  model,
  endpoint,
  { head: "Key", cell: ({ key_id: key }) => <KeyLink id={key} /> },
  {
    head: "Tokens",
    isNumber: true,
    cell: (call) => format.value.count(call.input_tokens + call.output_tokens),
  },
  {
    head: "First token",
    isNumber: true,
    cell: ({ ttft_ms: ms }) => (ms === 0 ? "–" : format.value.duration(ms)),
  },
  { head: "Whole", isNumber: true, cell: ({ duration_ms: ms }) => format.value.duration(ms) },
  { head: "Cost", isNumber: true, cell: ({ cost_micro: micro }) => format.value.money(micro) },
  {
    head: "Request",
    cell: ({ request_id: id }) => (
      <Link to={["requests", id]}>
        <code>{id}</code>
      </Link>
    ),
  },
];

const KeyLink = ({ id }: { readonly id: string }) =>
  mayCall("listKeys") ? (
    <Link to={["keys", id]}>
      <code>{id.slice(-6)}</code>
    </Link>
  ) : (
    <code>{id.slice(-6)}</code>
  );

/** What a detached call says can be watched, by whoever may read it. */
function RunningId({ call: { request_id: id, detached } }: { readonly call: RunningCall }) {
  if (!detached || !mayReadPayloads()) return <code>{id}</code>;
  return (
    <Link to={["live", id]}>
      Watch <code>{id}</code>
    </Link>
  );
}

/** All calls, or one whose id is in the address, as it runs. */
export function Live() {
  const id = segments.value[2];
  return id === undefined ? <AllCalls /> : <WatchedCall key={id} id={id} />;
}

function AllCalls() {
  const { state, fault } = useLive(org.value?.id ?? "");
  const { running, ended, endedCount, credit, missed, position } = state.value;
  const runs = [...running.values()].toReversed().filter((call) => has(call, wanted.value));
  const ends = ended.filter((call) => has(call, wanted.value));
  return (
    <Page
      title="Live"
      about={`Calls of all gateways of this installation as they run. Times are in ${format.value.place.zone}.`}
    >
      <FaultNote fault={fault.value} />
      {missed > 0 && (
        <Note tone="warn">
          {format.value.count(missed)} events were too many for this page and were left out. Requests has all
          calls.
        </Note>
      )}
      <Panel title="Now">
        <div class="figures">
          <Figure label="Running" value={format.value.count(running.size)} />
          <Figure label="Ended since this page is open" value={format.value.count(endedCount)} />
          {credit !== undefined && (
            <>
              <Figure label="Available" value={format.value.money(credit.available_micro_usd)} />
              <Figure label="Held by running calls" value={format.value.shortMoney(credit.held_micro_usd)} />
              <Figure label="Spent today" value={format.value.shortMoney(credit.spent_today_micro_usd)} />
            </>
          )}
        </div>
      </Panel>
      <TextField
        label="Show only"
        type="search"
        placeholder="Model, endpoint, key, app, or request id"
        value={wanted.value}
        onValue={(q) => setFilters({ q })}
      />
      <Panel title="Running" isBusy={position === "" && fault.value === undefined}>
        {runs.length > 0 ? (
          <Table label="Running calls" columns={RUNNING} rows={runs} keyOf={(call) => call.request_id} />
        ) : (
          <p class="quiet">No call runs now.</p>
        )}
      </Panel>
      <Panel title="Ended">
        {ends.length > 0 ? (
          <Table label="Ended calls" columns={ENDED} rows={ends} keyOf={(call) => call.request_id} />
        ) : (
          <div class="empty">
            <p>Nothing has ended since this page is open.</p>
            <p>
              {mayCall("createPlaygroundKey") && (
                <>
                  <Link to={["playground"]}>Make a call</Link>, or look{" "}
                </>
              )}
              {!mayCall("createPlaygroundKey") && "Look "}
              at the calls before in <Link to={["requests"]}>Requests</Link>.
            </p>
          </div>
        )}
      </Panel>
    </Page>
  );
}
