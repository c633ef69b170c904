/** How an answer went: times, tokens, cost, and the way to its record. */
import { CostLines } from "../../parts/cost-lines.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge } from "../../parts/note.tsx";
import { format } from "../../text/org-format.ts";
import type { Result } from "./lane.ts";

const USUAL_STOPS = ["", "stop", "end_turn", "tool_call", "tool_calls", "tool_use"];

export function ResultView({ result }: { readonly result: Result }) {
  const { completed, requestId, isStopped, stop, cut } = result;
  return (
    <div class="play-result small">
      <p class="play-facts">
        {isStopped && <Badge tone="warn">stopped by you</Badge>}
        {!isStopped && completed === undefined && <Badge tone="bad">not whole</Badge>}
        {!USUAL_STOPS.includes(stop) && <Badge tone="warn">stopped: {stop.replaceAll("_", " ")}</Badge>}
        {facts(result).map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
        {requestId !== "" && <Link to={["requests", requestId]}>Details of the request</Link>}
      </p>
      {completed === undefined && requestId !== "" && (
        <p class="quiet">What it cost is in its details, some seconds after it ended.</p>
      )}
      {cut > 0 && (
        <p class="quiet">{format.value.count(cut)} more characters are not shown: they are in its details.</p>
      )}
      {completed?.warnings.map((warning) => (
        <p key={warning} class="quiet break">
          {warning}
        </p>
      ))}
      {completed !== undefined && completed.cost.lines.length > 0 && (
        <details>
          <summary>Cost, line by line</summary>
          <CostLines lines={completed.cost.lines} />
        </details>
      )}
    </div>
  );
}

function facts({ completed, firstMs, wholeMs }: Result): readonly string[] {
  const { money, count, duration } = format.value;
  return [
    ...(firstMs === undefined ? [] : [`first token ${duration(firstMs)}`]),
    `whole ${duration(wholeMs)}`,
    ...(completed === undefined
      ? []
      : [
          `${count(completed.usage.input_tokens)} tokens in`,
          `${count(completed.usage.output_tokens)} out`,
          `cost ${money(completed.cost.total_micro_usd)}`,
          `by ${completed.provider_meta.endpoint_id}`,
        ]),
  ];
}
