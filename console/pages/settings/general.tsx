/** Settings, General: name, zone, what new keys and calls do by default, and from when on the org is told of its money. */
import { useState } from "preact/hooks";
import { faultAt } from "../../api/act.ts";
import { mayCall, type Org, org } from "../../app/session.ts";
import { Copy } from "../../parts/copy.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Choice, type Option, TextField } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Panel } from "../../parts/panel.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import {
  type GeneralValues,
  generalBody,
  generalFaults,
  generalValues,
  zonesWith,
} from "./general-values.ts";
import { useOrgChange } from "./org-change.ts";
import { SaveRow } from "./save-row.tsx";

const HOLD_OPTIONS: readonly Option[] = [
  ["", "Full, as the gateway has it"],
  ["full", "Full: refuse a call whose longest answer is not covered"],
  ["fit", "Fit: ask for a shorter answer instead"],
];

const POINTERS: Partial<Record<keyof GeneralValues, string>> = {
  name: "/name",
  zone: "/settings/timezone",
  keyDays: "/settings/security/key_default_expiry_days",
  low: "/settings/credits_low_micro",
  budget: "/settings/budget/monthly_micro",
  spike: "/settings/budget/spike_alert_pct",
};

export function General() {
  const shown = org.value;
  if (shown === undefined) return null;
  return (
    <>
      <About of={shown} />
      {mayCall("updateOrg") ? <Form of={shown} /> : <Values of={shown} />}
    </>
  );
}

const About = ({ of: shown }: { readonly of: Org }) => (
  <Panel title="This organisation">
    <Facts
      rows={[
        ["Short name", <Copy key="slug" text={shown.slug} what="short name" />],
        ["Id", <Copy key="id" text={shown.id} what="id" />],
        ["Made", <When key="made" at={shown.created_at} as="day" />],
        [
          "Numbers and money",
          `as in ${format.value.place.locale === "en-IN" ? "India" : "the United States"}: ${format.value.count(1_234_567)}`,
        ],
      ]}
    />
    <p class="quiet small">
      The short name is in addresses and does not change. How numbers are written follows the billing country.
    </p>
  </Panel>
);

function Values({ of: shown }: { readonly of: Org }) {
  const values = generalValues(shown);
  const dollars = (text: string) => (text === "" ? "none" : `$${text}`);
  return (
    <Panel title="What holds for all">
      <Facts
        rows={[
          ["Name", values.name],
          ["Time zone", values.zone],
          [
            "New keys end",
            values.keyDays === "" ? "never, unless their maker says so" : `after ${values.keyDays} days`,
          ],
          ["Where credit is short", textOf(values.hold)],
          ["Told when credit is below", dollars(values.low)],
          [
            "Budget a month",
            values.budget === ""
              ? "none"
              : `$${values.budget}, ${values.isHard ? "then calls are refused" : "only told"}`,
          ],
          ["Told of a day's spend above the usual by", values.spike === "" ? "nothing" : `${values.spike} %`],
        ]}
      />
    </Panel>
  );
}

const textOf = (hold: string): string => HOLD_OPTIONS.find(([each]) => each === hold)?.[1] ?? hold;

function Form({ of: shown }: { readonly of: Org }) {
  const [values, setValues] = useState(() => generalValues(shown));
  const change = useOrgChange();
  const own = generalFaults(values);
  const body = generalBody(shown, values);
  const fields: FieldsProps = {
    values,
    set: (next) => setValues({ ...values, ...next }),
    faultOf: (name) => own[name] ?? faultAt(change.fault, POINTERS[name] ?? "none"),
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (body !== undefined && Object.keys(own).length === 0) change.save(shown, body);
      }}
    >
      <NameAndTime {...fields} />
      <KeysAndCalls {...fields} />
      <MoneyFields {...fields} />
      <SaveRow
        change={change}
        isChanged={body !== undefined}
        placed={Object.values(POINTERS)}
        onDiscard={() => {
          change.forget();
          setValues(generalValues(shown));
        }}
      />
    </form>
  );
}

interface FieldsProps {
  readonly values: GeneralValues;
  readonly set: (next: Partial<GeneralValues>) => void;
  readonly faultOf: (name: keyof GeneralValues) => string | undefined;
}

interface OneProps extends FieldsProps {
  readonly name: keyof GeneralValues;
  readonly label: string;
  readonly hint: string;
  readonly inputMode?: "text" | "numeric" | "decimal";
}

const One = ({ values, set, faultOf, name, label, hint, inputMode = "text" }: OneProps) => (
  <TextField
    label={label}
    value={String(values[name])}
    onValue={(text) => set({ [name]: text })}
    fault={faultOf(name)}
    hint={hint}
    inputMode={inputMode}
    maxLength={200}
  />
);

const NameAndTime = (fields: FieldsProps) => (
  <Panel title="Name and time">
    <div class="columns">
      <One {...fields} name="name" label="Name" hint="As people read it, here and in mails" />
      <Choice
        label="Time zone"
        value={fields.values.zone}
        onValue={(zone) => fields.set({ zone })}
        fault={fields.faultOf("zone")}
        hint="Days and months of budgets begin at its midnight, and times are shown in it"
        options={zonesWith(fields.values.zone).map((zone) => [zone, zone.replaceAll("_", " ")] as const)}
      />
    </div>
  </Panel>
);

const KeysAndCalls = (fields: FieldsProps) => (
  <Panel title="New keys and calls">
    <div class="columns">
      <One
        {...fields}
        name="keyDays"
        label="Days that a new key works"
        hint="Empty: without end. It holds for keys whose maker names no end"
        inputMode="numeric"
      />
      <Choice
        label="Where credit is short"
        value={fields.values.hold}
        onValue={(hold) => fields.set({ hold: hold as GeneralValues["hold"] })}
        hint="For calls whose project and key say nothing of it"
        options={HOLD_OPTIONS}
      />
    </div>
    {mayCall("listKeys") && (
      <p class="quiet small">
        What becomes of calls whose client leaves is a setting of each <Link to={["keys"]}>key</Link>.
      </p>
    )}
  </Panel>
);

const MoneyFields = (fields: FieldsProps) => (
  <Panel title="Money">
    <div class="columns">
      <One
        {...fields}
        name="low"
        label="Tell us when credit is below, US dollars"
        hint="Empty: never. A mail and an event, once for each fall"
        inputMode="decimal"
      />
      <One
        {...fields}
        name="spike"
        label="Tell us of a day above the usual by, percent"
        hint="Empty: never. Usual is the mean of the seven days before"
        inputMode="numeric"
      />
    </div>
    <div class="columns">
      <One
        {...fields}
        name="budget"
        label="Budget of all projects a month, US dollars"
        hint="Empty: none"
        inputMode="decimal"
      />
      <Choice
        label="Once the budget is used up"
        value={fields.values.isHard ? "hard" : "soft"}
        onValue={(value) => fields.set({ isHard: value === "hard" })}
        options={[
          ["hard", "Refuse calls until the month is over"],
          ["soft", "Only tell"],
        ]}
      />
    </div>
  </Panel>
);
