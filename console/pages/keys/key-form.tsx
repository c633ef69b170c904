/** The fields of a key: of a new one, and of one that is changed. */

import { faultAt } from "../../api/act.ts";
import type { ApiError } from "../../api/call.ts";
import { Check, Choice, TextField } from "../../parts/field.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { format } from "../../text/org-format.ts";
import { faultsOf, type KeyValues, type Scope } from "./key-values.ts";
import { DISCONNECT_OPTIONS, HOLD_OPTIONS, SCOPE_WORDS } from "./key-words.ts";

/** Limits of the plan; 0: no limit. */
export type PlanLimits = Readonly<Record<(typeof ROWS)[number][0], number>>;

export interface KeyFormProps {
  readonly values: KeyValues;
  readonly onValues: (values: KeyValues) => void;
  /** Whether it was tried to save: a form that nobody has filled in has no faults yet. */
  readonly isTried: boolean;
  /** What the API said. */
  readonly fault: ApiError | undefined;
  /** Undefined where it is not known yet. */
  readonly plan: PlanLimits | undefined;
  /** Scopes that the person may give. */
  readonly scopes: readonly Scope[];
  readonly lifetimes: readonly (readonly [string, string])[];
}

/** Fields with a place of their own for what the API says of them. */
const POINTERS: Partial<Record<keyof KeyValues, string>> = {
  name: "/name",
  rpm: "/limits/rpm",
  tpm: "/limits/tpm",
  concurrency: "/limits/concurrency",
  budget: "/budget/daily_micro",
};

const ROWS = [
  ["rpm", "Requests a minute"],
  ["tpm", "Tokens a minute"],
  ["concurrency", "Calls at once"],
] as const;

export function KeyFields({ values, onValues, isTried, fault, plan, scopes, lifetimes }: KeyFormProps) {
  const own = isTried ? faultsOf(values) : {};
  const faultOf = (field: keyof KeyValues) => own[field] ?? faultAt(fault, POINTERS[field] ?? "none");
  const set = (change: Partial<KeyValues>) => onValues({ ...values, ...change });
  const isPlaced = Object.values(POINTERS).some((pointer) => pointer === fault?.param);
  return (
    <>
      <TextField
        label="Name"
        value={values.name}
        onValue={(name) => set({ name })}
        fault={faultOf("name")}
        hint="What uses it: Batch jobs, Ada's laptop"
        maxLength={200}
      />
      <div class="columns">
        {ROWS.map(([limit, label]) => (
          <TextField
            key={limit}
            label={label}
            value={values[limit]}
            onValue={(text) => set({ [limit]: text })}
            fault={faultOf(limit)}
            hint={planHint(plan?.[limit])}
            inputMode="numeric"
          />
        ))}
      </div>
      <div class="columns">
        <TextField
          label="Budget a day, US dollars"
          value={values.budget}
          onValue={(budget) => set({ budget })}
          fault={faultOf("budget")}
          hint="Empty: none of its own"
          inputMode="decimal"
        />
        <Choice
          label="Once the budget is used up"
          value={values.isHard ? "hard" : "soft"}
          onValue={(value) => set({ isHard: value === "hard" })}
          options={[
            ["hard", "Refuse calls until the day is over"],
            ["soft", "Only tell"],
          ]}
        />
        <Choice
          label="It ends"
          value={values.expiresIn}
          onValue={(expiresIn) => set({ expiresIn })}
          options={lifetimes}
        />
      </div>
      <div class="columns">
        <Choice
          label="Where credit is short"
          value={values.hold}
          onValue={(hold) => set({ hold: hold as KeyValues["hold"] })}
          options={HOLD_OPTIONS}
        />
        <Choice
          label="Where the client leaves"
          value={values.onDisconnect}
          onValue={(value) => set({ onDisconnect: value as KeyValues["onDisconnect"] })}
          options={DISCONNECT_OPTIONS}
        />
      </div>
      <Scopes
        chosen={values.scopes}
        offered={scopes}
        fault={faultOf("scopes")}
        onChosen={(chosen) => set({ scopes: chosen })}
      />
      {!isPlaced && <FaultNote fault={fault} />}
    </>
  );
}

function planHint(most: number | undefined): string {
  if (most === undefined) return "Empty: as the plan allows";
  return most === 0 ? "Empty: no limit" : `Empty: as the plan allows, ${format.value.count(most)}`;
}

interface ScopesProps {
  readonly chosen: readonly Scope[];
  readonly offered: readonly Scope[];
  readonly fault: string | undefined;
  readonly onChosen: (scopes: readonly Scope[]) => void;
}

function Scopes({ chosen, offered, fault, onChosen }: ScopesProps) {
  const all = Object.keys(SCOPE_WORDS) as Scope[];
  // Those that it has stay in the form, also those that the person could not give.
  const shown = all.filter((scope) => offered.includes(scope) || chosen.includes(scope));
  return (
    <fieldset class="scopes">
      <legend>What it may do</legend>
      {shown.map((scope) => (
        <Check
          key={scope}
          label={SCOPE_WORDS[scope]}
          value={chosen.includes(scope)}
          onValue={(isChosen) =>
            onChosen(isChosen ? [...chosen, scope] : chosen.filter((each) => each !== scope))
          }
        />
      ))}
      {fault !== undefined && <span class="field-fault">{fault}</span>}
    </fieldset>
  );
}
