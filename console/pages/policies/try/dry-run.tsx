/** One hypothetical call under a version: the call is in the address, and what would become of it is drawn. */
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../../../api/answers.ts";
import type { Answer, ApiError } from "../../../api/call.ts";
import { query, setFilters } from "../../../app/router.ts";
import { mayCall } from "../../../app/session.ts";
import { Button } from "../../../parts/button.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { TextField } from "../../../parts/field.tsx";
import { FaultNote, Waiting } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { countOf } from "../../../text/amounts.ts";
import { format } from "../../../text/org-format.ts";
import { PolicyTabs } from "../policy-tabs.tsx";
import { CallFields, POINTERS } from "./dry-run-form.tsx";
import { bodyOf, type CallValues, faultsOf, filtersOf, valuesOf } from "./dry-run-values.ts";
import { Denied, LeftOut, PlanDrawing, Trials } from "./plan-drawing.tsx";
import type { PolicyProps } from "./policy-props.ts";

export function DryRunPage({ name, version }: PolicyProps) {
  const asked = valuesOf(query.value);
  const body = bodyOf(asked, version);
  const answer = useAnswer("dryRunPolicy", body === undefined ? undefined : { params: { name }, body });
  const { value, fault, isBusy, refresh } = answer;
  // What is shown of another question is not the answer to this one.
  const shown = body === undefined || fault.value !== undefined ? undefined : value.value;
  return (
    <Page
      title={`${name}: one call`}
      about="What a version would do with a call. Nothing is called, nothing is billed."
    >
      <PolicyTabs name={name} current="dry-run" />
      <Panel title="The call">
        <Form
          asked={asked}
          version={version}
          fault={fault.value}
          isBusy={isBusy.value}
          onSame={body === undefined ? () => undefined : refresh}
        />
      </Panel>
      {body !== undefined && value.value === undefined && fault.value === undefined && <Waiting />}
      {shown !== undefined && <Result run={shown} isBusy={isBusy.value} />}
      {body === undefined && (
        <div class="empty">
          <p>Choose a model, and plan the call: the endpoints that it would be sent to are drawn here.</p>
        </div>
      )}
    </Page>
  );
}

interface FormProps {
  readonly asked: CallValues;
  readonly version: number | undefined;
  readonly fault: ApiError | undefined;
  readonly isBusy: boolean;
  /** The same call again: health and draws may be others by now. */
  readonly onSame: () => void;
}

function Form({ asked, version, fault, isBusy, onSame }: FormProps) {
  const models = useAnswer("listModels", mayCall("listModels") ? {} : undefined);
  const projects = useAnswer("listProjects", mayCall("listProjects") ? {} : undefined);
  const [values, setValues] = useState(asked);
  const [ofVersion, setVersion] = useState(version === undefined ? "" : String(version));
  const [isTried, setTried] = useState(false);
  // The back button, and links, change the call that is shown.
  const key = JSON.stringify([asked, version]);
  useEffect(() => {
    setValues(asked);
    setVersion(version === undefined ? "" : String(version));
  }, [key]);
  const faults = isTried ? faultsOf(values) : {};
  const isNumber = ofVersion.trim() === "" || countOf(ofVersion) !== undefined;
  const plan = () => {
    setTried(true);
    if (Object.keys(faultsOf(values)).length > 0 || !isNumber) return;
    const next = { ...filtersOf(values), version: ofVersion.trim() };
    const isSame = Object.entries(next).every(([filter, value]) => (query.value.get(filter) ?? "") === value);
    if (isSame) onSame();
    else setFilters(next);
  };
  const isPlaced = Object.values(POINTERS).includes(fault?.param ?? "none") || fault?.param === "/version";
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        plan();
      }}
    >
      <CallFields
        values={values}
        onValues={setValues}
        faults={faults}
        fault={fault}
        models={(models.value.value?.data ?? []).map(({ id }) => id)}
        projects={(projects.value.value?.data ?? []).map(({ id, name }) => [id, name] as const)}
      />
      <div class="trial-hours">
        <TextField
          label="Version"
          value={ofVersion}
          onValue={setVersion}
          inputMode="numeric"
          hint="Empty: the one in force, else the newest"
          fault={!isNumber ? "A number from 1." : fault?.param === "/version" ? fault.message : undefined}
        />
      </div>
      {!isPlaced && <FaultNote fault={fault} />}
      <div class="row">
        <Button kind="main" type="submit" isBusy={isBusy}>
          Plan the call
        </Button>
      </div>
    </form>
  );
}

function Result({ run, isBusy }: { readonly run: Answer<"dryRunPolicy">; readonly isBusy: boolean }) {
  const { decision, plan, excluded, trials, version, reserve_micro: reserve } = run;
  const { money } = format.value;
  return (
    <>
      <Panel title={`What version ${version} decides`} isBusy={isBusy}>
        {decision?.deny !== undefined && <Denied message={decision.deny} />}
        <Facts
          rows={[
            [
              "Rule",
              decision === undefined
                ? undefined
                : decision.rule === ""
                  ? "none fits: the defaults"
                  : decision.rule,
            ],
            ["Ordered by", decision === undefined ? undefined : SORT_WORDS[decision.sort]],
            ["Stays together", decision === undefined ? undefined : AFFINITY_WORDS[decision.affinity]],
            ["Attempts", decision === undefined ? undefined : `${decision.max_attempts} at most`],
            [
              "Held meanwhile",
              plan.length === 0 ? undefined : `about ${money(reserve)}; what is not used is given back`,
            ],
          ]}
        />
        {(decision?.notes ?? []).length > 0 && (
          <ul class="stack small trial-list">
            {decision?.notes.map((note) => (
              <li key={note} class="break">
                {note}
              </li>
            ))}
          </ul>
        )}
      </Panel>
      {decision?.deny === undefined && (
        <Panel title="The plan" isBusy={isBusy}>
          {plan.length === 0 ? (
            <p>No endpoint is left: the call would be refused. What leaves each out is below.</p>
          ) : (
            <PlanDrawing plan={plan} />
          )}
        </Panel>
      )}
      <div class="columns">
        {decision?.deny === undefined && (
          <Panel title="Left out" isBusy={isBusy}>
            <LeftOut excluded={excluded} />
          </Panel>
        )}
        <Panel title="What is tried out on it" isBusy={isBusy}>
          <Trials trials={trials} />
        </Panel>
      </div>
    </>
  );
}

const SORT_WORDS = {
  price: "price",
  latency: "first token",
  throughput: "tokens a second",
  balanced: "a balance of price, health and first token",
} as const;

const AFFINITY_WORDS = {
  session: "calls of a conversation",
  user: "calls of an end user",
  prompt: "calls with the same prompt",
  none: "no calls",
} as const;
