/** One model: what it can do, where it is served and at what price, how its endpoints did, and what changed. */
import { useAnswer } from "../../api/answers.ts";
import { mayCall } from "../../app/session.ts";
import { Copy } from "../../parts/copy.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { format } from "../../text/org-format.ts";
import { abilitiesOf, type Model } from "./catalog.ts";
import { EndpointTable } from "./endpoints.tsx";
import { markupText, price, time, tokens, uptime } from "./figures.tsx";
import { History } from "./history.tsx";
import { StatsChart } from "./stats-chart.tsx";

export function ModelPage({ id }: { readonly id: string }) {
  const [vendor = "", ...rest] = id.split("/");
  const params = { vendor, model: rest.join("/") };
  const model = useAnswer("getModel", { params });
  const endpoints = useAnswer("getModelEndpoints", { params });
  const stats = useAnswer("getModelStats", { params });
  const shown = model.value.value;
  const rows = endpoints.value.value?.data;
  const nameOf = (endpoint: string) => {
    const found = rows?.find((row) => row.id === endpoint);
    return found === undefined ? endpoint : `${found.provider_name}, ${found.region}`;
  };
  return (
    <Page
      title={shown?.name ?? id}
      actions={
        <>
          {mayCall("createKey") && shown?.task === "generate" && shown.endpoints > 0 && (
            <Link class="button" to={["playground"]} filters={{ model: id }}>
              Try in the playground
            </Link>
          )}
          <Link class="button" to={["models"]}>
            All models
          </Link>
        </>
      }
      about={<Copy text={shown?.id ?? id} what="model id" />}
    >
      <FaultNote fault={model.fault.value} onRetry={() => model.refresh()} />
      {shown === undefined ? model.fault.value === undefined && <Waiting /> : <About model={shown} />}
      {shown !== undefined && (
        <>
          <Panel title="Endpoints" isBusy={rows !== undefined && endpoints.isBusy.value}>
            <FaultNote fault={endpoints.fault.value} onRetry={() => endpoints.refresh()} />
            {rows === undefined ? (
              endpoints.fault.value === undefined && <Waiting />
            ) : (
              <EndpointTable rows={rows} />
            )}
          </Panel>
          <FaultNote fault={stats.fault.value} onRetry={() => stats.refresh()} />
          {stats.value.value === undefined ? (
            stats.fault.value === undefined && <Waiting />
          ) : (
            <>
              <StatsChart stats={stats.value.value} nameOf={nameOf} />
              <History stats={stats.value.value} nameOf={nameOf} />
            </>
          )}
        </>
      )}
    </Page>
  );
}

function About({ model }: { readonly model: Model }) {
  const { pricing_from: from, modalities, aliases = [], status, endpoints, created, markup_bps: bps } = model;
  const { search_unit: unit } = from;
  return (
    <>
      {status === "deprecated" && (
        <Note tone="warn">Deprecated: it is still served. Choose another model for what is new.</Note>
      )}
      {endpoints === 0 && (
        <Note tone="warn">This gateway has no key for any provider of it, so it takes no calls.</Note>
      )}
      <Panel title="About" actions={<Badge>{model.vendor}</Badge>}>
        <Facts
          rows={[
            [
              "Price from",
              `${price(from.input)} in, ${price(from.output)} out, ${price(from.cache_read)} read from a cache; per million tokens`,
            ],
            ["Per 1,000 searches", unit === undefined ? undefined : price(unit)],
            ["Markup", markupText(bps)],
            [
              "Context",
              `${tokens(model.context_length)} tokens, the answer ${tokens(model.max_output)} at most`,
            ],
            ["Reads", modalities.in.join(", ")],
            ["Writes", modalities.out.join(", ")],
            ["Can", abilitiesOf(model) || "nothing of the list"],
            ["Also called", aliases.length === 0 ? undefined : aliases.join(", ")],
            ["Uptime, 30 days", uptime(model)],
            ["First token, median", time(model.ttft_p50_ms)],
            ["Calls, 7 days", format.value.count(model.requests_7d)],
            [
              "Released",
              created === 0 ? undefined : format.value.day(new Date(created * 1000).toISOString()),
            ],
          ]}
        />
      </Panel>
    </>
  );
}
