/** Canaries: where each is, the interval of its error rate beside its limit, and what follows. */
import type { Answer } from "../../../api/call.ts";
import { Intervals } from "../../../parts/charts/interval.tsx";
import { Bar } from "../../../parts/figure.tsx";
import { Badge, Note } from "../../../parts/note.tsx";
import { When } from "../../../parts/when.tsx";
import { format } from "../../../text/org-format.ts";
import { canaryText, RED_ENDS } from "./report-words.ts";

type Canary = Answer<"listCanaries">["data"][number];

const TONES = { warming: "warn", green: "good", red: "bad" } as const;

export function CanaryList({ rows }: { readonly rows: readonly Canary[] }) {
  if (rows.length === 0) return <p class="quiet">No version in force has a canary.</p>;
  return (
    <>
      <p class="small quiet">
        A canary gets a share of the calls. After each result its error rate is tested against its limit, in
        such a way that looking often makes no false alarm: at most 1 of 100 endpoints that keep within their
        limit ever turn red. The interval is of that test.
      </p>
      {rows.map((row) => (
        <CanaryPart key={`${row.version} ${row.endpoint_id}`} row={row} />
      ))}
    </>
  );
}

function CanaryPart({ row }: { readonly row: Canary }) {
  const { endpoint_id: endpoint, state, samples, min_samples: least, max_error_rate: limit } = row;
  const { share, count } = format.value;
  const isWarming = state === "warming";
  return (
    <section class="trial-part" aria-label={`Canary ${endpoint}, version ${row.version}`}>
      <div class="row">
        <h3 class="break">{endpoint}</h3>
        <Badge tone={TONES[state]}>{state}</Badge>
        <span class="small quiet">
          version {row.version}
          {row.active_since === null ? (
            ", no longer in force"
          ) : (
            <>
              , in force since <When at={row.active_since} />
            </>
          )}
          {row.evaluated_at !== null && (
            <>
              ; last result <When at={row.evaluated_at} />
            </>
          )}
        </span>
      </div>
      <p>{canaryText(row, count, share(limit))}</p>
      <Intervals
        label="Error rate"
        rows={[
          {
            name: "Canary",
            estimate: row.error_rate,
            interval: samples === 0 ? undefined : row.error_rate_interval,
            tone: state === "red" ? "bad" : "good",
          },
        ]}
        bound={{ value: limit, name: "Limit" }}
        most={1}
        text={share}
        missing="no result yet"
      />
      {isWarming && (
        <Bar
          label="Results"
          value={`${count(samples)} of ${count(least)}`}
          done={samples / least}
          state="fine"
          what="of the results are in"
        />
      )}
      {state === "red" && <Note tone="bad">{RED_ENDS}</Note>}
    </section>
  );
}
