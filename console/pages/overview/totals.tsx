/** The figures of the range, each with its change to the period before. */
import { Figure } from "../../parts/figure.tsx";
import { Link } from "../../parts/link.tsx";
import { format } from "../../text/org-format.ts";
import { tokensOf, type Usage } from "./metrics.ts";

type Totals = Usage["totals"];

interface TotalsProps {
  readonly usage: Usage;
  /** Filters of a link to the calls that failed; absent: nothing shows them one by one. */
  readonly failed?: Readonly<Record<string, string | undefined>>;
}

export function TotalFigures({ usage, failed }: TotalsProps) {
  const { totals, compare } = usage;
  const before = compare?.totals;
  const shown = format.value;
  const change = (of: (sums: Totals) => number | null) => {
    const [now, then] = [of(totals), before === undefined ? null : of(before)];
    return now === null || then === null ? undefined : { now, before: then };
  };
  const ms = (value: number | null) => (value === null ? "–" : shown.duration(value));
  const { latency, errors, requests } = totals;
  return (
    <div class="figures">
      <Figure
        label="Spend"
        value={shown.shortMoney(totals.cost_micro)}
        change={change((sums) => sums.cost_micro)}
      />
      <Figure label="Calls" value={shown.shortCount(requests)} change={change((sums) => sums.requests)} />
      <Figure
        label="Errors"
        value={
          errors === 0 || failed === undefined ? (
            shown.shortCount(errors)
          ) : (
            <Link to={["requests"]} filters={failed}>
              {shown.shortCount(errors)}
            </Link>
          )
        }
        change={change((sums) => sums.errors)}
        about={requests > 0 && errors > 0 ? <div>{shown.share(errors / requests)} of calls</div> : undefined}
      />
      <Figure
        label="First token, median"
        value={ms(latency.ttft_p50_ms)}
        change={change((sums) => sums.latency.ttft_p50_ms)}
        about={<Slow ms={latency.ttft_p95_ms} />}
      />
      <Figure
        label="Whole call, median"
        value={ms(latency.duration_p50_ms)}
        change={change((sums) => sums.latency.duration_p50_ms)}
        about={<Slow ms={latency.duration_p95_ms} />}
      />
      <Figure
        label="Tokens"
        value={shown.shortCount(tokensOf(totals))}
        change={change(tokensOf)}
        about={
          <div>
            {shown.shortCount(totals.input_tokens)} in, {shown.shortCount(totals.output_tokens)} out
          </div>
        }
      />
      <Figure
        label="Read from caches"
        value={totals.cache_share === null ? "–" : shown.share(totals.cache_share)}
        about={
          <div>
            {before === undefined || before.cache_share === null
              ? "of input tokens"
              : `of input tokens; ${shown.share(before.cache_share)} before`}
          </div>
        }
      />
    </div>
  );
}

/** The slowest but five of a hundred; nothing where none was measured. */
const Slow = ({ ms }: { readonly ms: number | null }) =>
  ms === null ? null : <div>95 of 100 within {format.value.duration(ms)}</div>;
