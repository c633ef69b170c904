/** One provider: what it is configured by, its keys, its endpoints, and what it refused. No value of a credential is anywhere. */
import { useAnswer } from "../../../api/answers.ts";
import { useWhileSeen } from "../../../api/timing.ts";
import { Facts } from "../../../parts/facts.tsx";
import { Link } from "../../../parts/link.tsx";
import { Badge, FaultNote, Note, Waiting } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { type Column, Table } from "../../../parts/table.tsx";
import { When } from "../../../parts/when.tsx";
import { format } from "../../../text/org-format.ts";
import {
  type Detail,
  type Endpoint,
  isUnmatched,
  KEY_TONES,
  meaningOf,
  type Refusal,
  reachOf,
  stateOf,
  whyOf,
} from "./provider-words.ts";

const AGAIN_MS = 15_000;

export function ProviderPage({ id }: { readonly id: string }) {
  const answer = useAnswer("operatorGetProvider", { params: { id } });
  const provider = answer.value.value;
  useWhileSeen(answer.refresh, provider === undefined ? undefined : AGAIN_MS);
  return (
    <Page title={provider?.name ?? "Provider"} about={<Link to={["providers"]}>All providers</Link>}>
      <FaultNote fault={answer.fault.value} onRetry={answer.refresh} />
      {provider === undefined && answer.fault.value === undefined && <Waiting />}
      {provider !== undefined && (
        <>
          <div class="columns">
            <FactsPanel provider={provider} />
            <Configured provider={provider} />
          </div>
          <Refusals provider={provider} />
          <Endpoints endpoints={provider.all_endpoints} />
        </>
      )}
    </Page>
  );
}

interface OfProvider {
  readonly provider: Detail;
}

function FactsPanel({ provider }: OfProvider) {
  const [tone, word] = reachOf(provider);
  const { count } = format.value;
  const lacks = provider.configured_endpoints - provider.endpoints;
  return (
    <Panel
      title="Facts"
      actions={
        <Link to={["usage"]} filters={{ provider: provider.id, range: "30d" }}>
          Its usage
        </Link>
      }
    >
      <Facts
        rows={[
          ["Calls", <Badge tone={tone}>{word}</Badge>],
          ["Id", <code>{provider.id}</code>],
          ["Formats", provider.dialects.join(", ")],
          ["Regions", provider.regions.join(", ")],
          ["Models", count(provider.models)],
          [
            "Endpoints",
            lacks === 0
              ? count(provider.endpoints)
              : `${count(provider.endpoints)}; ${count(lacks)} more are not reached`,
          ],
          ["Keys of organisations", count(provider.org_keys)],
          ["Seen by", provider.cell || undefined],
        ]}
      />
    </Panel>
  );
}

/** Which variables are set, and how the keys in them do. */
function Configured({ provider: { variables, keys, missing } }: OfProvider) {
  return (
    <Panel title="Credentials">
      {missing.length > 0 && (
        <Note tone="warn">
          It serves nothing until this is set: {missing.join("; ")}. Set it, and reload the catalog (
          <code>kill -HUP</code>) or start again.
        </Note>
      )}
      {variables.length === 0 ? (
        <p class="quiet">It needs none.</p>
      ) : (
        <Table
          label="Variables"
          rows={variables}
          keyOf={({ name, use }) => `${name} ${use}`}
          columns={[
            { head: "Variable", cell: ({ name }) => <code class="break">{name}</code> },
            { head: "For", cell: ({ use }) => (use === "credential" ? "credential" : "address") },
            {
              head: "State",
              cell: ({ is_set: isSet }) => (isSet ? <Badge tone="good">set</Badge> : <Badge>not set</Badge>),
            },
          ]}
        />
      )}
      {keys.length > 0 && (
        <Table
          label="Keys of the gateway's own"
          rows={keys}
          keyOf={({ id }) => id}
          columns={[
            { head: "Key", cell: ({ id }) => <code>{id}</code> },
            {
              head: "State",
              cell: ({ status, why, until, resting_at: at }) => (
                <>
                  <Badge tone={KEY_TONES[status]}>{status}</Badge>
                  {why !== null && (
                    <div class="small sentence">
                      Out at {format.value.count(at)} {at === 1 ? "endpoint" : "endpoints"}: {whyOf(why)}.
                      {until !== null && (
                        <>
                          {" "}
                          Tried again from <When at={until} as="clock" /> on.
                        </>
                      )}
                    </div>
                  )}
                </>
              ),
            },
          ]}
        />
      )}
    </Panel>
  );
}

function Refusals({ provider: { refusals, analytics } }: OfProvider) {
  return (
    <Panel title="Refused in the last 24 hours">
      {!analytics && <Note tone="warn">Refusals could not be read in time, and are not shown.</Note>}
      {analytics && refusals.length === 0 && <p class="quiet">It refused nothing.</p>}
      {refusals.length > 0 && (
        <Table
          label="Refusals, the most frequent first"
          rows={refusals}
          keyOf={(row) => `${row.meaning} ${row.http_status} ${row.error_class}`}
          columns={REFUSALS}
        />
      )}
      {refusals.some(isUnmatched) && (
        <p class="small quiet">
          No rule knows these words, so calls are failed over by their status alone. What a provider said is
          not kept, for it may quote a prompt: its own code and status say what to look for.
        </p>
      )}
    </Panel>
  );
}

const REFUSALS: readonly Column<Refusal>[] = [
  {
    head: "What it means",
    cell: (row) =>
      isUnmatched(row) ? <Badge tone="warn">{meaningOf(row.meaning)}</Badge> : meaningOf(row.meaning),
  },
  { head: "Rule", cell: ({ row }) => (row === "" ? <span class="quiet">–</span> : <code>{row}</code>) },
  {
    head: "Status",
    isNumber: true,
    cell: ({ http_status: status }) => (status === 0 ? "in a stream" : status),
  },
  { head: "Class", cell: ({ error_class: name }) => name },
  {
    head: "Its own code",
    cell: ({ last_code: code }) =>
      code === "" ? <span class="quiet">none</span> : <code class="break">{code}</code>,
  },
  {
    head: "Attempts",
    isNumber: true,
    cell: ({ attempts, own_key_attempts: own }) => (
      <>
        {format.value.count(attempts)}
        {own > 0 && <div class="small quiet">{format.value.count(own)} with keys of organisations</div>}
      </>
    ),
  },
  { head: "Last", cell: ({ last_at: at }) => <When at={at} /> },
];

const Endpoints = ({ endpoints }: { readonly endpoints: readonly Endpoint[] }) => (
  <Panel title="Endpoints">
    {endpoints.length === 0 ? (
      <p class="quiet">No model is served by it.</p>
    ) : (
      <Table label="Endpoints, the worst first" rows={endpoints} keyOf={({ id }) => id} columns={ENDPOINTS} />
    )}
  </Panel>
);

const ENDPOINTS: readonly Column<Endpoint>[] = [
  {
    head: "Model",
    cell: ({ model, region }) => (
      <>
        <span class="break">{model}</span>
        <div class="small quiet">{region}</div>
      </>
    ),
  },
  {
    head: "State",
    cell: ({ status, state, last_failure: failure, down_since: since }) => {
      const [tone, word] = stateOf(state);
      return (
        <>
          {status === "active" ? <Badge tone={tone}>{word}</Badge> : <Badge>not reached</Badge>}
          {since !== null && (
            <div class="small quiet">
              down since <When at={since} />
            </div>
          )}
          {failure !== "" && <div class="small quiet">last failure: {failure}</div>}
        </>
      );
    },
  },
  { head: "Fail", isNumber: true, cell: ({ error_rate: rate }) => format.value.share(rate) },
  {
    head: "First token",
    isNumber: true,
    cell: ({ ttft_ms: ms }) => (ms === null ? "–" : format.value.duration(ms)),
  },
  {
    head: "Tokens a second",
    isNumber: true,
    cell: ({ tokens_per_second: speed }) => (speed === null ? "–" : format.value.count(Math.round(speed))),
  },
  {
    head: "Keys that rest",
    cell: ({ resting_keys: keys }) =>
      keys.length === 0 ? (
        <span class="quiet">none</span>
      ) : (
        <span class="break">{keys.map(({ key_id: key }) => key).join(", ")}</span>
      ),
  },
];
