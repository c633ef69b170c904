/** Shadows: copies of calls compared with the calls, pair by pair, with intervals of the differences. */
import type { Answer } from "../../../api/call.ts";
import { Intervals } from "../../../parts/charts/interval.tsx";
import { When } from "../../../parts/when.tsx";
import { format } from "../../../text/org-format.ts";

type Shadow = Answer<"listShadows">["data"][number];

export function ShadowList({ rows }: { readonly rows: readonly Shadow[] }) {
  if (rows.length === 0) return <p class="quiet">No call of the policy was copied to a shadow.</p>;
  return (
    <>
      <p class="small quiet">
        A shadow gets copies of calls, which no client waits for. Differences are of pairs that were both
        answered, shadow less call; where an interval of 95% does not reach 0, the two differ.
      </p>
      {rows.map((row) => (
        <ShadowPart
          key={`${row.policy_version} ${row.shadow_endpoint} ${row.primary_endpoint} ${row.bill}`}
          row={row}
        />
      ))}
    </>
  );
}

const NONE = { value: 0, name: "No difference" };
const MISSING = "two pairs are needed";

function ShadowPart({ row }: { readonly row: Shadow }) {
  const { count, share, money } = format.value;
  const { runs, compared, stop_mismatch: mismatch } = row;
  return (
    <section class="trial-part" aria-label={`Shadow ${row.shadow_endpoint} of ${row.primary_endpoint}`}>
      <div>
        <h3 class="break">
          {row.shadow_endpoint} <span class="quiet">beside {row.primary_endpoint}</span>
        </h3>
        <span class="small quiet">
          version {row.policy_version}, since <When at={row.since} />;{" "}
          {row.bill === "org" ? "paid by your organisation" : "paid by the platform"}
        </span>
      </div>
      <p>
        {count(runs)} {runs === 1 ? "copy" : "copies"}, {count(compared)} of them beside an answer of the
        call: {money(row.shadow_cost_micro)} for the copies, {money(row.primary_cost_micro)} for the calls.{" "}
        {mismatch === 0
          ? "All ended for the same reason."
          : `${count(mismatch)} ended for another reason than the call (${share(mismatch / Math.max(1, runs))}).`}
      </p>
      <Intervals
        label="Copies that failed"
        rows={[{ name: "Shadow", estimate: row.error_rate, interval: row.error_rate_interval }]}
        most={1}
        text={share}
        missing={MISSING}
      />
      <Intervals
        label="Difference in cost a call, mean"
        rows={[
          {
            name: "Shadow",
            estimate: row.cost_delta_per_run_micro,
            interval: row.cost_delta_per_run_micro_interval ?? undefined,
            tone: row.cost_delta_per_run_micro > 0 ? "bad" : "good",
          },
        ]}
        bound={NONE}
        text={(micro) => signed(micro, (absolute) => money(Math.round(absolute)))}
        missing={MISSING}
      />
      {row.ttft_delta_ms === null ? (
        <p class="small quiet">No pair of streams has a first token on both sides yet.</p>
      ) : (
        <Intervals
          label="Difference in first token, mean"
          rows={[
            {
              name: "Shadow",
              estimate: row.ttft_delta_ms,
              interval: row.ttft_delta_ms_interval ?? undefined,
              tone: row.ttft_delta_ms > 0 ? "bad" : "good",
            },
          ]}
          bound={NONE}
          text={(ms) => signed(ms, format.value.duration)}
          missing={MISSING}
        />
      )}
    </section>
  );
}

/** A minus that is as wide as a plus. */
const signed = (value: number, text: (absolute: number) => string): string =>
  value === 0 ? text(0) : `${value > 0 ? "+" : "−"}${text(Math.abs(value))}`;
