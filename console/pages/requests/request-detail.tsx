/** One request: what was decided, what was asked and answered, how long it took, and what it cost. */
import { useAnswer } from "../../api/answers.ts";
import type { Answer } from "../../api/call.ts";
import { mayCall, mayReadPayloads } from "../../app/session.ts";
import { Copy } from "../../parts/copy.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Figure } from "../../parts/figure.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote, Note, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { Attempts } from "./attempts.tsx";
import { CallStatus } from "./call-status.tsx";
import { Cost } from "./cost.tsx";
import { Payload } from "./payload.tsx";
import { Plan } from "./plan.tsx";
import { Why } from "./why.tsx";

type Detail = Answer<"getRequest">;

export function RequestDetail({ id }: { readonly id: string }) {
  const { value, fault, isBusy, refresh } = useAnswer("getRequest", { params: { id } });
  const detail = value.value;
  return (
    <Page
      title="Request"
      actions={
        <>
          {detail?.request !== undefined && mayCall("createPlaygroundKey") && (
            <Link to={["playground"]} filters={{ from: id }} class="button">
              Again in the playground
            </Link>
          )}
          <Link to={["requests"]} class="button">
            All requests
          </Link>
        </>
      }
      about={<Copy text={id} what="request id" />}
    >
      <FaultNote fault={fault.value} onRetry={refresh} />
      {fault.value?.status === 404 && (
        <Note>
          A request is found here some seconds after it has ended, and for as long as the org keeps records.
          {mayReadPayloads() && (
            <>
              {" "}
              One that is detached can be <Link to={["live", id]}>watched while it runs</Link>.
            </>
          )}
        </Note>
      )}
      {detail === undefined && (isBusy.value || fault.value === undefined) && <Waiting />}
      {detail !== undefined && <Shown detail={detail} />}
    </Page>
  );
}

function Shown({ detail }: { readonly detail: Detail }) {
  const { timing, usage, cost } = detail;
  return (
    <>
      <Panel title="In short">
        <div class="figures">
          <Figure label="Status" value={<CallStatus status={detail.status} code={detail.error_code} />} />
          <Figure label="Cost" value={format.value.money(cost.total_micro_usd)} />
          <Figure
            label="First byte"
            value={timing.ttft_ms === 0 ? "–" : format.value.duration(timing.ttft_ms)}
          />
          <Figure
            label="Whole"
            value={format.value.duration(timing.duration_ms)}
            about={`${format.value.duration(timing.gw_overhead_ms)} of it in the gateway`}
          />
          <Figure label="Tokens in" value={format.value.count(usage.normalised.input_tokens)} />
          <Figure
            label="Tokens out"
            value={format.value.count(usage.normalised.output_tokens)}
            about={detail.usage_source === "provider" ? "counted by the provider" : detail.usage_source}
          />
        </div>
      </Panel>
      <Why detail={detail} />
      <div class="columns request-ways">
        <Panel title="How it was routed">
          <Plan detail={detail} />
        </Panel>
        <Panel title="Attempts">
          <Attempts detail={detail} />
        </Panel>
      </div>
      <Payload detail={detail} />
      <div class="columns">
        <Panel title="Cost">
          <Cost detail={detail} />
        </Panel>
        <Panel title="Facts">
          <Origin detail={detail} />
        </Panel>
      </div>
    </>
  );
}

function Origin({ detail }: { readonly detail: Detail }) {
  const tags = Object.entries(detail.tags);
  return (
    <Facts
      rows={[
        ["Began", <When key="ts" at={detail.ts} />],
        ["Model", detail.model],
        ["Endpoint", detail.endpoint_id || undefined],
        ["Upstream model", detail.upstream_model || undefined],
        ["Region", detail.region || undefined],
        ["Format", `${detail.dialect_in}${detail.stream ? ", streamed" : ""}`],
        ["HTTP status", detail.http_status],
        ["Stopped because", detail.stop_reason || undefined],
        ["Key", <KeyName key="key" id={detail.key_id} />],
        ["Project", <Copy key="project" text={detail.project_id} />],
        ["App", detail.app_id || undefined],
        ["Tags", tags.length === 0 ? undefined : tags.map(([name, value]) => `${name}: ${value}`).join(", ")],
        ["Client", detail.user_agent || undefined],
        ["Network", detail.client_ip_prefix || undefined],
        ["Bytes", `${format.value.count(detail.bytes_in)} in, ${format.value.count(detail.bytes_out)} out`],
        ["Gateway", detail.cell],
        ["Own provider key", detail.byok ? "yes" : undefined],
        ["Zero retention", detail.zdr ? "yes" : undefined],
      ]}
    />
  );
}

const KeyName = ({ id }: { readonly id: string }) =>
  mayCall("getKey") ? (
    <Link to={["keys", id]}>
      <code>{id}</code>
    </Link>
  ) : (
    <Copy text={id} />
  );
