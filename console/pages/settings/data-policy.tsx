/** Settings, Data policy: what is kept of calls, which endpoints may be asked, and what is cut out of what is kept. */
import { useState } from "preact/hooks";
import { faultAt } from "../../api/act.ts";
import type { ApiError } from "../../api/call.ts";
import { mayCall, type Org, org } from "../../app/session.ts";
import { Facts } from "../../parts/facts.tsx";
import { Check, Choice, TextField } from "../../parts/field.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Agreement } from "./agreement.tsx";
import { type DataValues, dataBody, dataFaults, dataValues, isFaultless } from "./data-values.ts";
import { LOGGING_OPTIONS } from "./data-words.ts";
import { useOrgChange } from "./org-change.ts";
import { Preview } from "./preview.tsx";
import { Redaction } from "./redaction.tsx";
import { SaveRow } from "./save-row.tsx";

export function DataPolicy() {
  const shown = org.value;
  if (shown === undefined) return null;
  return (
    <>
      {mayCall("updateOrg") ? <Form of={shown} /> : <Shown of={shown} />}
      <Agreement of={shown} />
    </>
  );
}

/** For those who may read it and try it. */
function Shown({ of: shown }: { readonly of: Org }) {
  const { logging, retention, isZdr, isNoTrain, regions, presets, patterns } = dataValues(shown);
  const kept = LOGGING_OPTIONS.find(([each]) => each === logging)?.[1] ?? logging;
  return (
    <>
      <Panel title="What is kept of calls">
        <Facts
          rows={[
            ["Kept", kept],
            ["For", `${retention} days`],
            ["Endpoints that keep nothing alone", isZdr ? "yes" : "no"],
            ["Endpoints that do not train alone", isNoTrain ? "yes" : "no"],
            ["Regions", regions === "" ? "any" : regions],
          ]}
        />
      </Panel>
      <Redaction presets={presets} patterns={patterns} faults={{}} />
      {mayCall("previewRedaction") && (
        <Preview presets={presets} patterns={patterns} onFault={() => undefined} />
      )}
    </>
  );
}

const RETENTION = "/data_policy/retention_days";
const REGIONS = "/data_policy/regions";
const PATTERNS = "/data_policy/redact/patterns";

function Form({ of: shown }: { readonly of: Org }) {
  const [values, setValues] = useState(() => dataValues(shown));
  const [previewFaults, setPreviewFaults] = useState<Readonly<Record<number, string>>>({});
  const [isTried, setTried] = useState(false);
  const change = useOrgChange();
  const own = dataFaults(values);
  const body = dataBody(shown, values);
  const set = (next: Partial<DataValues>) => {
    // What the last attempt said of a pattern is not about the one that is typed now.
    if (next.patterns !== undefined) change.forget();
    setValues({ ...values, ...next });
  };
  const save = () => {
    setTried(true);
    if (body !== undefined && isFaultless(own)) change.save(shown, body);
  };
  const faults = { ...previewFaults, ...patternFaults(change.fault), ...(isTried && own.patterns) };
  return (
    <>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <Kept
          values={values}
          onValues={set}
          retentionFault={own.retention ?? faultAt(change.fault, RETENTION)}
        />
        <Endpoints values={values} onValues={set} fault={regionFault(change.fault)} />
        <Redaction presets={values.presets} patterns={values.patterns} faults={faults} onChange={set} />
        <SaveRow
          change={change}
          isChanged={body !== undefined}
          placed={[RETENTION, REGIONS, PATTERNS]}
          onDiscard={() => {
            change.forget();
            setTried(false);
            setValues(dataValues(shown));
          }}
        />
      </form>
      {mayCall("previewRedaction") && (
        <Preview presets={values.presets} patterns={values.patterns} onFault={setPreviewFaults} />
      )}
    </>
  );
}

/** What the API says of one region is said of the field that has all. */
const regionFault = (fault: ApiError | undefined): string | undefined =>
  fault?.param.startsWith(REGIONS) === true ? faultAt(fault, fault.param) : undefined;

/** By the place of the pattern. */
function patternFaults(fault: ApiError | undefined): Readonly<Record<number, string>> {
  const at =
    fault?.param.startsWith(`${PATTERNS}/`) === true ? Number(fault.param.slice(PATTERNS.length + 1)) : -1;
  return at < 0 || fault === undefined ? {} : { [at]: faultAt(fault, fault.param) ?? "" };
}

interface PartProps {
  readonly values: DataValues;
  readonly onValues: (next: Partial<DataValues>) => void;
}

const Kept = ({
  values,
  onValues,
  retentionFault,
}: PartProps & { readonly retentionFault: string | undefined }) => (
  <Panel title="What is kept of calls">
    <div class="columns">
      <Choice
        label="Keep"
        value={values.logging}
        onValue={(logging) => onValues({ logging: logging as DataValues["logging"] })}
        hint="Records have no text of anybody, and are kept 400 days in any case"
        options={LOGGING_OPTIONS}
      />
      <TextField
        label="Days that requests and answers are kept"
        value={values.retention}
        onValue={(retention) => onValues({ retention })}
        fault={retentionFault}
        hint="0: not at all. Fewer days hide older texts at once, and remove them within half a day"
        inputMode="numeric"
      />
    </div>
  </Panel>
);

const Endpoints = ({ values, onValues, fault }: PartProps & { readonly fault: string | undefined }) => (
  <Panel title="Which endpoints may be asked">
    <div class="columns">
      <div class="stack">
        <Check
          label="Only endpoints that keep nothing (zero data retention); nothing of a call's text is kept here either"
          value={values.isZdr}
          onValue={(isZdr) => onValues({ isZdr })}
        />
        <Check
          label="Only endpoints that do not train on prompts"
          value={values.isNoTrain}
          onValue={(isNoTrain) => onValues({ isNoTrain })}
        />
      </div>
      <TextField
        label="Only endpoints in these regions"
        value={values.regions}
        onValue={(regions) => onValues({ regions })}
        fault={fault}
        hint="Such as eu-central-1, ap-south-1. Empty: in any"
      />
    </div>
    <p class="quiet small">A call that no endpoint may serve is refused, and says why.</p>
  </Panel>
);
