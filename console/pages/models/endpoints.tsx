/** Where a model is served: provider, region, price, what happens to data, and how it does. */
import type { Answer } from "../../api/call.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { Badge, type Tone } from "../../parts/note.tsx";
import { Table } from "../../parts/table.tsx";
import { format } from "../../text/org-format.ts";
import { dataPolicyText } from "./data-policy.ts";
import { price, time, tokens } from "./figures.tsx";

type Endpoint = Answer<"getModelEndpoints">["data"][number];

const STATES: Readonly<Record<Endpoint["health"]["state"], readonly [Tone, string]>> = {
  healthy: ["good", "healthy"],
  degraded: ["warn", "degraded"],
  failing: ["bad", "failing"],
  saturated: ["bad", "no key is usable"],
  unknown: ["plain", "not tried lately"],
};

export function EndpointTable({ rows }: { readonly rows: readonly Endpoint[] }) {
  if (rows.length === 0) return <p class="quiet">No provider with a key serves it here.</p>;
  return (
    <Table
      label="Endpoints"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { head: "Provider", cell: (row) => <Name row={row} /> },
        { head: "Now", cell: (row) => <State row={row} /> },
        { head: "Input", isNumber: true, cell: (row) => price(row.price.input) },
        { head: "Output", isNumber: true, cell: (row) => price(row.price.output) },
        { head: "Cache read", isNumber: true, cell: (row) => price(row.price.cache_read) },
        { head: "Beside tokens", cell: (row) => <Further row={row} /> },
        {
          head: "Data",
          cell: (row) => <div class="small models-data">{dataPolicyText(row.data_policy)}</div>,
        },
        {
          head: "Uptime, 30 days",
          isNumber: true,
          cell: ({ attempts_30d: attempts, uptime_30d: share }) =>
            attempts === 0 ? "–" : format.value.share(share),
        },
        { head: "First token", isNumber: true, cell: ({ latency }) => <FirstToken {...latency} /> },
        {
          head: "Tokens a second",
          isNumber: true,
          cell: ({ health }) =>
            health.tokens_per_second === null ? "–" : format.value.count(health.tokens_per_second),
        },
        {
          head: "Context",
          isNumber: true,
          cell: (row) => (
            <>
              {tokens(row.context_length)}
              <div class="small quiet">{tokens(row.max_output)} out</div>
            </>
          ),
        },
      ]}
    />
  );
}

const Name = ({
  row: { id, provider_name: name, region, upstream_model: upstream, status, quantization },
}: {
  readonly row: Endpoint;
}) => (
  <div class="models-name">
    {name} {status !== "active" && <Badge tone="warn">{status}</Badge>}
    <div class="small quiet break">
      {[region, upstream, quantization && `weights in ${quantization}`].filter(Boolean).join(", ")}{" "}
      <CopyButton text={id} what={`endpoint id of ${name}`} />
    </div>
  </div>
);

function FirstToken({ ttft_p50_ms: median, ttft_p95_ms: most }: Endpoint["latency"]) {
  if (median === 0) return <>–</>;
  return (
    <>
      {time(median)}
      <div class="small quiet">95 of 100: {time(most)}</div>
    </>
  );
}

function State({ row: { health } }: { readonly row: Endpoint }) {
  const [tone, text] = STATES[health.state];
  return (
    <>
      <Badge tone={tone}>{text}</Badge>
      {health.error_rate > 0 && (
        <div class="small quiet">{format.value.share(health.error_rate)} failed in the last minute</div>
      )}
      {health.out_for_ms > 0 && (
        <div class="small quiet">tried again in {format.value.duration(health.out_for_ms)}</div>
      )}
    </>
  );
}

/** Tiers, tools that the provider runs, and searches. */
function Further({ row: { price: prices } }: { readonly row: Endpoint }) {
  const { tiers = {}, server_tools: tools = {}, search_unit: unit } = prices;
  const lines = [
    ...Object.entries(tiers).map(
      ([name, tier]) => `${name}: ${price(tier.input)} in, ${price(tier.output)} out`,
    ),
    ...Object.entries(tools).map(([name, usd]) => `${name}: ${price(usd)} per 1,000`),
    ...(unit === undefined ? [] : [`searches: ${price(unit)} per 1,000`]),
  ];
  if (lines.length === 0) return <>–</>;
  return (
    <details class="small">
      <summary>{lines.length === 1 ? "1 price" : `${lines.length} prices`}</summary>
      {lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </details>
  );
}
