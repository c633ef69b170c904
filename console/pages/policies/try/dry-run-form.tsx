/** The fields of a hypothetical call. */
import { faultAt } from "../../../api/act.ts";
import type { ApiError } from "../../../api/call.ts";
import { Check, Choice, TextField } from "../../../parts/field.tsx";
import type { CallValues, FlagName, TextName } from "./dry-run-values.ts";

interface FieldsProps {
  readonly values: CallValues;
  readonly onValues: (values: CallValues) => void;
  /** What is wrong, before the API is asked. */
  readonly faults: Partial<Record<TextName, string>>;
  /** What the API said. */
  readonly fault: ApiError | undefined;
  readonly models: readonly string[];
  readonly projects: readonly (readonly [id: string, name: string])[];
}

/** Fields with a place of their own for what the API says of them. */
export const POINTERS: Partial<Record<TextName, string>> = {
  model: "/model",
  project: "/project_id",
  key: "/key_id",
};

const FLAG_WORDS: readonly (readonly [FlagName, string])[] = [
  ["stream", "Streamed"],
  ["tools", "Offers tools"],
  ["images", "Has images"],
  ["audio", "Has sound"],
  ["schema", "Asks for JSON by a schema"],
];

export function CallFields(props: FieldsProps) {
  const { values, onValues, models, projects } = props;
  const set = (change: Partial<CallValues>) => onValues({ ...values, ...change });
  const text = textsOf(props, set);
  const known = models.includes(values.model) || values.model === "" ? models : [values.model, ...models];
  return (
    <>
      <div class="trial-fields">
        <Choice
          label="Model"
          value={values.model}
          onValue={(model) => set({ model })}
          options={[["", "Choose a model"], ...known.map((id) => [id, id] as const)]}
          fault={text("model", "").fault}
        />
        <Choice
          label="Project"
          value={values.project}
          onValue={(project) => set({ project })}
          options={[["", "The key's, else none"], ...projects]}
          fault={text("project", "").fault}
        />
        <TextField {...text("key", "Key")} hint="Id of a key; empty: none, so that no rule about keys fits" />
      </div>
      <div class="trial-fields">
        <TextField {...text("app", "App")} hint="As the call names it; empty: none" />
        <TextField {...text("tags", "Tags")} hint="team=search, batch" />
        <TextField {...text("prompt", "Tokens of the prompt")} inputMode="numeric" hint="Empty: 1,000" />
        <TextField
          {...text("answer", "Tokens of the answer at most")}
          inputMode="numeric"
          hint="Empty: the call names no bound"
        />
      </div>
      <div class="row links">
        {FLAG_WORDS.map(([name, label]) => (
          <Check key={name} label={label} value={values[name]} onValue={(isSo) => set({ [name]: isSo })} />
        ))}
      </div>
      <More values={values} text={text} set={set} />
    </>
  );
}

type Set = (change: Partial<CallValues>) => void;
type TextOf = ReturnType<typeof textsOf>;

const textsOf =
  ({ values, faults, fault }: FieldsProps, set: Set) =>
  (name: TextName, label: string) => ({
    label,
    value: values[name],
    onValue: (next: string) => set({ [name]: next }),
    fault: faults[name] ?? faultAt(fault, POINTERS[name] ?? "none"),
  });

interface MoreProps {
  readonly values: CallValues;
  readonly text: TextOf;
  readonly set: Set;
}

/** What few calls say. */
function More({ values, text, set }: MoreProps) {
  const isSaid =
    values.user !== "" ||
    values.session !== "" ||
    values.data !== "" ||
    values.sort !== "" ||
    values.order !== "" ||
    values.only !== "" ||
    values.ignore !== "" ||
    values.regions !== "" ||
    values.attempts !== "" ||
    values.no_fallbacks;
  return (
    <details open={isSaid}>
      <summary>The caller, and what the call itself asks of routing</summary>
      <div class="stack trial-more">
        <div class="trial-fields">
          <TextField {...text("user", "End user")} hint="Whom experiments divide" />
          <TextField {...text("session", "Conversation")} hint="Which calls stay at one endpoint" />
          <Choice
            label="Data"
            value={values.data}
            onValue={(data) => set({ data })}
            options={[
              ["", "As the policy says"],
              ["no_train", "No one may train on it"],
              ["zdr", "Nothing may be kept"],
            ]}
          />
        </div>
        <div class="trial-fields">
          <Choice
            label="Order by"
            value={values.sort}
            onValue={(sort) => set({ sort })}
            options={[
              ["", "As the policy says"],
              ["price", "Price"],
              ["latency", "First token"],
              ["throughput", "Tokens a second"],
              ["balanced", "Balanced"],
            ]}
          />
          <TextField {...text("order", "These first")} hint="Providers or endpoints, with commas" />
          <TextField {...text("only", "No others than")} hint="Providers or endpoints, with commas" />
          <TextField {...text("ignore", "None of")} hint="Providers or endpoints, with commas" />
        </div>
        <div class="trial-fields">
          <TextField {...text("regions", "Only in")} hint="Regions, with commas" />
          <TextField
            {...text("attempts", "Attempts at most")}
            inputMode="numeric"
            hint="Empty: as the policy says"
          />
        </div>
        <Check
          label="Where the first endpoint fails, no other is asked"
          value={values.no_fallbacks}
          onValue={(isSo) => set({ no_fallbacks: isSo })}
        />
      </div>
    </details>
  );
}
