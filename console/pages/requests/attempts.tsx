/** The attempts of a call on one line of time, each with its outcome. */
import type { Answer } from "../../api/call.ts";
import { Table } from "../../parts/table.tsx";
import { instant } from "../../text/format.ts";
import { format } from "../../text/org-format.ts";
import { CallStatus } from "./call-status.tsx";

type Detail = Answer<"getRequest">;
type Attempt = Detail["attempt_rows"][number];

export function Attempts({ detail }: { readonly detail: Detail }) {
  const { attempt_rows: rows } = detail;
  if (rows.length === 0) return <p class="quiet">No endpoint was asked.</p>;
  const beganMs = instant(detail.ts).getTime();
  const wholeMs = Math.max(detail.timing.duration_ms, 1);
  return (
    <Table
      label="Attempts"
      rows={rows}
      keyOf={(each) => String(each.attempt)}
      columns={[
        { head: "", cell: (each) => each.attempt },
        { head: "Endpoint", cell: (each) => <span class="break">{each.endpoint_id}</span> },
        {
          head: `0 to ${format.value.duration(detail.timing.duration_ms)}`,
          cell: (each) => <Span attempt={each} beganMs={beganMs} wholeMs={wholeMs} />,
        },
        {
          head: "Outcome",
          cell: (each) => (
            <span class="row">
              <CallStatus status={each.outcome} code={each.refusal || each.error_class} />
              {each.http_status !== 0 && <span class="small quiet nowrap">HTTP {each.http_status}</span>}
            </span>
          ),
        },
        {
          head: "First token",
          isNumber: true,
          cell: ({ ttft_ms: ms }) => (ms === 0 ? "–" : format.value.duration(ms)),
        },
        { head: "Whole", isNumber: true, cell: ({ duration_ms: ms }) => format.value.duration(ms) },
      ]}
    />
  );
}

interface SpanProps {
  readonly attempt: Attempt;
  readonly beganMs: number;
  readonly wholeMs: number;
}

const WIDTH = 100;
/** An attempt that failed at once is still seen. */
const LEAST = 1;

function Span({ attempt, beganMs, wholeMs }: SpanProps) {
  const at = (ms: number) => Math.min(WIDTH, Math.max(0, (ms / wholeMs) * WIDTH));
  const from = at(instant(attempt.ts).getTime() - beganMs);
  const width = Math.max(LEAST, at(attempt.duration_ms));
  const waited = attempt.ttft_ms === 0 ? width : Math.min(width, at(attempt.ttft_ms));
  return (
    <svg
      class="span"
      viewBox={`0 0 ${WIDTH} 8`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`From ${format.value.duration(instant(attempt.ts).getTime() - beganMs)}, for ${format.value.duration(attempt.duration_ms)}`}
    >
      <rect x="0" width={WIDTH} height="8" class="span-whole" />
      <rect
        x={Math.min(from, WIDTH - LEAST)}
        width={width}
        height="8"
        class="span-answer"
        data-outcome={attempt.outcome}
      />
      <rect
        x={Math.min(from, WIDTH - LEAST)}
        width={waited}
        height="8"
        class="span-wait"
        data-outcome={attempt.outcome}
      />
    </svg>
  );
}
