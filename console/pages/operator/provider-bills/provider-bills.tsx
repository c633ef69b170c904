/** A provider's bill against the records of this gateway: by day and model, the largest differences first. Nothing of it is kept. */
import { useState } from "preact/hooks";
import { type Act, faultAt, useAct } from "../../../api/act.ts";
import { useAnswer } from "../../../api/answers.ts";
import { call } from "../../../api/call.ts";
import { Button } from "../../../parts/button.tsx";
import { Choice, TextArea, TextField } from "../../../parts/field.tsx";
import { FaultNote } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { type Bill, basisPoints, FORMATS, faultOfFile, isJson } from "./bill-words.ts";
import { Compared } from "./compared.tsx";

type Format = (typeof FORMATS)[number][0];

interface Values {
  readonly provider: string;
  readonly format: Format;
  readonly text: string;
  /** Per cent, as typed. */
  readonly tolerance: string;
}

const EMPTY: Values = { provider: "", format: "plain", text: "", tolerance: "0.5" };

export function ProviderBills() {
  const providers = useAnswer("operatorListProviders", {});
  const [values, setValues] = useState(EMPTY);
  const [isTried, setTried] = useState(false);
  const [bill, setBill] = useState<Bill | undefined>(undefined);
  const act = useAct();
  const known = (providers.value.value?.data ?? []).map(({ id, name }) => [id, name] as const);
  const provider = values.provider === "" ? (known[0]?.[0] ?? "") : values.provider;
  const tolerance = basisPoints(values.tolerance);
  const compare = () => {
    setTried(true);
    const { text, format } = values;
    if (provider === "" || tolerance === undefined || fileFault(text) !== undefined) return;
    act.run(async () => {
      setBill(
        await call("operatorCheckProviderBill", {
          body: {
            provider,
            format,
            tolerance_bps: tolerance,
            ...(isJson(text) ? { json: text } : { csv: text }),
          },
        }),
      );
    });
  };
  return (
    <Page title="Provider bills" about="What a provider bills, compared with what its calls used here.">
      <Panel title="The bill">
        <FaultNote fault={providers.fault.value} onRetry={providers.refresh} />
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            compare();
          }}
        >
          <Fields
            values={{ ...values, provider }}
            onValues={setValues}
            providers={known}
            isTried={isTried}
            act={act}
          />
          <div class="row">
            <Button kind="main" type="submit" isBusy={act.isBusy} disabled={provider === ""}>
              Compare
            </Button>
            <span class="quiet small">Nothing of the bill is kept, and nothing is changed.</span>
          </div>
        </form>
      </Panel>
      {bill !== undefined && <Compared bill={bill} />}
    </Page>
  );
}

const fileFault = (text: string): string | undefined =>
  faultOfFile(text, new TextEncoder().encode(text).byteLength);

interface FieldsProps {
  readonly values: Values;
  readonly onValues: (values: Values) => void;
  readonly providers: readonly (readonly [string, string])[];
  readonly isTried: boolean;
  readonly act: Act;
}

function Fields({ values, onValues, providers, isTried, act }: FieldsProps) {
  const set = (change: Partial<Values>) => onValues({ ...values, ...change });
  const told = faultAt(act.fault, "/csv") ?? faultAt(act.fault, "/json");
  const fault = (isTried ? fileFault(values.text) : undefined) ?? told;
  return (
    <>
      <div class="columns">
        <Choice
          label="Provider"
          value={values.provider}
          onValue={(provider) => set({ provider })}
          options={providers}
          fault={faultAt(act.fault, "/provider")}
        />
        <Choice
          label="Whose columns"
          value={values.format}
          onValue={(format) => set({ format: format as Format })}
          options={FORMATS}
        />
        <TextField
          label="Tokens may differ by, per cent"
          value={values.tolerance}
          onValue={(tolerance) => set({ tolerance })}
          inputMode="decimal"
          fault={basisPoints(values.tolerance) === undefined ? "A share from 0 to 100." : undefined}
        />
      </div>
      <label class="file">
        <span class="small quiet">File, CSV or JSON</span>
        <input
          type="file"
          accept=".csv,.json,text/csv,application/json"
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            if (file !== undefined) void file.text().then((text) => set({ text }));
          }}
        />
      </label>
      <TextArea
        label="Or paste it"
        value={values.text}
        onValue={(text) => set({ text })}
        rows={8}
        isCode
        placeholder={"day,model,input_tokens,output_tokens,cost_usd\n2026-11-22,gpt-5.4-mini,1000,200,0.25"}
        fault={fault}
      />
      {told === undefined && <FaultNote fault={act.fault} />}
    </>
  );
}
