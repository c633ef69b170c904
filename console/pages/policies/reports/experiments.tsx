/** Experiments: their arms beside each other, by errors, cost and first token, with intervals; the first arm is what the others are compared with. */
import type { Answer } from "../../../api/call.ts";
import { Intervals } from "../../../parts/charts/interval.tsx";
import { Badge, Note } from "../../../parts/note.tsx";
import { Table } from "../../../parts/table.tsx";
import { Money, When } from "../../../parts/when.tsx";
import { format } from "../../../text/org-format.ts";
import { type NamedEstimate, NO_VERDICT, verdicts } from "./report-words.ts";

type Report = Answer<"listExperiments">;
type Arm = Report["data"][number];

export function ExperimentList({ report }: { readonly report: Report }) {
  const names = [...new Set(report.data.map(({ experiment }) => experiment))];
  return (
    <>
      {report.incomplete_since !== undefined && (
        <Note tone="warn">
          Calls since <When at={report.incomplete_since} /> may be missing.
        </Note>
      )}
      {names.length === 0 ? (
        <p class="quiet">No call of this range was in an experiment of the policy.</p>
      ) : (
        <p class="small quiet">
          An experiment keeps each caller in one arm, and a call counts for its arm whichever endpoint
          answered. The intervals of 95% hold for one look: choose the range before, not while watching.
        </p>
      )}
      {names.map((name) => (
        <Experiment
          key={name}
          name={name}
          arms={report.data.filter(({ experiment }) => experiment === name)}
        />
      ))}
    </>
  );
}

function Experiment({ name, arms }: { readonly name: string; readonly arms: readonly Arm[] }) {
  const { share, money, duration } = format.value;
  const errors = estimates(
    arms,
    (arm) => arm.error_rate,
    (arm) => arm.error_rate_interval,
  );
  const costs = estimates(
    arms,
    (arm) => arm.cost_per_request_micro,
    (arm) => arm.cost_per_request_micro_interval,
  );
  const timed = arms.filter(({ ttft_p50_ms: ms }) => ms !== null && ms > 0);
  const times = estimates(
    timed,
    (arm) => arm.ttft_p50_ms ?? 0,
    (arm) => arm.ttft_p50_ms_interval,
  );
  const found = [
    ...verdicts(errors, "fails less often", "fails more often"),
    ...verdicts(costs, "costs less a call", "costs more a call"),
    ...verdicts(times, "begins sooner", "begins later"),
  ];
  const first = arms[0]?.arm ?? "";
  const beside = (rows: readonly NamedEstimate[]) => {
    const [control] = rows;
    return control === undefined ? {} : { bound: { value: control.estimate, name: `Arm ${first}` } };
  };
  const cents = (micro: number) => money(Math.round(micro));
  return (
    <section class="trial-part" aria-label={`Experiment ${name}`}>
      <div class="row">
        <h3 class="break">{name}</h3>
        {arms[0]?.environment === "test" && <Badge>test calls</Badge>}
      </div>
      {arms.length > 1 &&
        (found.length === 0 ? <p>{NO_VERDICT}</p> : found.map((line) => <p key={line}>{line}</p>))}
      <ArmTable arms={arms} />
      <Intervals
        label="Error rate"
        rows={errors}
        {...beside(errors)}
        most={1}
        text={share}
        missing="no calls"
      />
      <Intervals
        label="Cost of a call, mean"
        rows={costs}
        {...beside(costs)}
        text={cents}
        missing="two calls are needed"
      />
      {times.length > 0 && (
        <Intervals
          label="First token of streams, median"
          rows={times}
          {...beside(times)}
          text={duration}
          missing="six streams are needed"
        />
      )}
    </section>
  );
}

const estimates = (
  arms: readonly Arm[],
  figureOf: (arm: Arm) => number,
  intervalOf: (arm: Arm) => { readonly low: number; readonly high: number } | null,
): readonly NamedEstimate[] =>
  arms.map((arm) => ({ name: arm.arm, estimate: figureOf(arm), interval: intervalOf(arm) ?? undefined }));

const ArmTable = ({ arms }: { readonly arms: readonly Arm[] }) => (
  <Table
    label="Arms of the experiment"
    rows={arms}
    keyOf={({ arm }) => arm}
    columns={[
      { head: "Arm", cell: ({ arm }) => <span class="break">{arm}</span> },
      { head: "Calls", isNumber: true, cell: ({ requests }) => format.value.count(requests) },
      { head: "At its own endpoint", isNumber: true, cell: ({ tried }) => format.value.count(tried) },
      { head: "Errors", isNumber: true, cell: ({ errors }) => format.value.count(errors) },
      { head: "Cost", isNumber: true, cell: ({ cost_micro: micro }) => <Money micro={micro} /> },
      { head: "Tokens out", isNumber: true, cell: ({ output_tokens: tokens }) => format.value.count(tokens) },
      {
        head: "First token, 95 of 100",
        isNumber: true,
        cell: ({ ttft_p95_ms: ms }) => (ms === null || ms === 0 ? "–" : format.value.duration(ms)),
      },
    ]}
  />
);
