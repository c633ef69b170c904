/** A plan drawn: the endpoints that would be asked, one behind the other, with what speaks for each; and those that are left out. */
import type { Answer } from "../../../api/call.ts";
import { Badge, Note } from "../../../parts/note.tsx";
import { Table } from "../../../parts/table.tsx";
import { format } from "../../../text/org-format.ts";

type DryRun = Answer<"dryRunPolicy">;
type Step = DryRun["plan"][number];

const MICRO = 1_000_000;
/** From this on an endpoint is not what one hopes for. */
const MANY_ERRORS = 0.05;

export function PlanDrawing({ plan }: { readonly plan: DryRun["plan"] }) {
  const dearest = Math.max(1, ...plan.map(({ est_cost_micro: micro }) => micro));
  return (
    <ol class="trial-plan" aria-label="Endpoints that would be asked, in order">
      {plan.map((step, at) => (
        <li key={step.endpoint_id}>
          <span class="trial-place" aria-hidden="true">
            {step.attempt}
          </span>
          <div class="trial-step">
            <div class="row">
              <strong class="break">{step.endpoint_id}</strong>
              <span class="quiet small">
                {step.provider}, {step.region}
              </span>
            </div>
            <p class="small">
              {at === 0 ? "Asked first" : "Asked if those before it fail"}: {step.reason}
            </p>
            <StepFigures step={step} dearest={dearest} />
          </div>
        </li>
      ))}
    </ol>
  );
}

function StepFigures({ step, dearest }: { readonly step: Step; readonly dearest: number }) {
  const { money } = format.value;
  const { price, est_cost_micro: micro } = step;
  const perMillion = (usd: number) => (usd === 0 ? "free" : money(Math.round(usd * MICRO)));
  return (
    <dl class="trial-figures small">
      <div>
        <dt>Expected cost</dt>
        <dd>
          {money(micro)}
          <svg class="share-track" aria-hidden="true">
            <rect width="100%" height="100%" rx="3" />
            <rect class="share-done" width={`${(micro / dearest) * 100}%`} height="100%" rx="3" />
          </svg>
        </dd>
      </div>
      <div>
        <dt>Price in and out, per million tokens</dt>
        <dd>
          {perMillion(price.input)}, {perMillion(price.output)}
        </dd>
      </div>
      <div>
        <dt>Now</dt>
        <dd>
          <Health health={step.health} />
        </dd>
      </div>
    </dl>
  );
}

function Health({ health }: Pick<Step, "health">) {
  const { share, duration } = format.value;
  if (health === null) return <span class="quiet">not tried lately</span>;
  const { error_rate: rate, first_token_ms: first, whole_ms: whole } = health;
  const times = [
    first !== null && `first token in ${duration(first)}`,
    whole !== null && `whole answers in ${duration(whole)}`,
  ].filter(Boolean);
  return (
    <>
      {rate > 0 ? (
        <Badge tone={rate >= MANY_ERRORS ? "bad" : "warn"}>{share(rate)} fail</Badge>
      ) : (
        <Badge tone="good">none fails</Badge>
      )}{" "}
      {times.length === 0 ? <span class="quiet">no times measured lately</span> : times.join(", ")}
    </>
  );
}

/** Words for what leaves an endpoint out. */
const KINDS: Readonly<Record<string, string>> = {
  status: "switched off",
  environment: "test and live apart",
  capability: "cannot do it",
  context: "too long for it",
  data_policy: "keeps or trains",
  region: "elsewhere",
  price: "too dear",
  route: "by choice",
  saturated: "is resting",
  refused: "its key is refused",
  not_configured: "has no key",
};

export function LeftOut({ excluded }: Pick<DryRun, "excluded">) {
  if (excluded.length === 0) return <p class="quiet">Every endpoint of the model may be asked.</p>;
  return (
    <Table
      label="Endpoints that are left out, and why"
      rows={excluded}
      keyOf={({ endpoint_id: id }) => id}
      columns={[
        { head: "Endpoint", cell: ({ endpoint_id: id }) => <span class="break">{id}</span> },
        { head: "", cell: ({ kind }) => <Badge>{KINDS[kind] ?? kind}</Badge> },
        { head: "Why", cell: ({ reason }) => <span class="sentence break">{reason}</span> },
      ]}
    />
  );
}

/** What canary, experiment and shadow would do with such a call. */
export function Trials({ trials: { canary, experiment, shadow } }: Pick<DryRun, "trials">) {
  if (canary === undefined && experiment === undefined && shadow === undefined)
    return <p class="quiet">The policy tries nothing out on such a call.</p>;
  return (
    <ul class="stack trial-list">
      {canary !== undefined && <CanaryLine canary={canary} />}
      {experiment !== undefined && <ExperimentLine experiment={experiment} />}
      {shadow !== undefined && <ShadowLine shadow={shadow} />}
    </ul>
  );
}

type Trial<K extends keyof DryRun["trials"]> = NonNullable<DryRun["trials"][K]>;

const STATE_TONES = { warming: "warn", green: "good", red: "bad" } as const;

const CanaryLine = ({ canary }: { readonly canary: Trial<"canary"> }) => (
  <li>
    <strong>Canary</strong> <Badge tone={STATE_TONES[canary.state]}>{canary.state}</Badge>{" "}
    {canary.state === "red" ? (
      <>
        <span class="break">{canary.endpoint_id}</span> has failed its trial and gets no share.
      </>
    ) : (
      <>
        {canary.percent} of 100 such calls go to <span class="break">{canary.endpoint_id}</span> first. This
        one was {canary.takes_part ? "drawn for it" : "not drawn for it"}; the next may be drawn otherwise.
      </>
    )}
  </li>
);

function ExperimentLine({ experiment: { name, arms, arm } }: { readonly experiment: Trial<"experiment"> }) {
  const total = arms.reduce((sum, { weight }) => sum + weight, 0);
  return (
    <li>
      <strong>Experiment {name}</strong> divides callers:{" "}
      {arms
        .map(
          ({ arm: each, endpoint_id: id, weight }) => `${each} ${format.value.share(weight / total)} (${id})`,
        )
        .join(", ")}
      . {arm === "" ? "This call is in no arm." : `This call is in the arm ${arm}.`}
    </li>
  );
}

const ShadowLine = ({ shadow }: { readonly shadow: Trial<"shadow"> }) => (
  <li>
    <strong>Shadow</strong> {shadow.percent} of 100 such calls are sent to{" "}
    <span class="break">{shadow.endpoint_id}</span> a second time, behind the answer;{" "}
    {shadow.bill === "org" ? "your organisation pays for the copies" : "the platform pays for the copies"}.
    This one was {shadow.takes_part ? "drawn for it" : "not drawn for it"}.
  </li>
);

/** Where the policy refuses the call. */
export const Denied = ({ message }: { readonly message: string }) => (
  <Note tone="bad">
    <strong>The call would be refused.</strong> <span class="break">{message}</span>
  </Note>
);
