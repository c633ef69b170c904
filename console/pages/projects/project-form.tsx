/** The fields of a project: of a new one, and of one that is changed. */
import { faultAt } from "../../api/act.ts";
import type { ApiError } from "../../api/call.ts";
import { Choice, TextField } from "../../parts/field.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { faultsOf, type ProjectValues, shownSlug } from "./project-values.ts";
import { ENVIRONMENT_OPTIONS, HOLD_OPTIONS } from "./project-words.ts";

interface ProjectFieldsProps {
  readonly values: ProjectValues;
  readonly onValues: (values: ProjectValues) => void;
  /** Whether it was tried to save: a form that is not filled in has no faults yet. */
  readonly isTried: boolean;
  /** What the API said. */
  readonly fault: ApiError | undefined;
  /** Short name and environment stay what they were at first. */
  readonly isNew: boolean;
}

/** Fields with a place of their own for what the API says of them. */
const POINTERS: Partial<Record<keyof ProjectValues, string>> = {
  name: "/name",
  slug: "/slug",
  budget: "/budget/monthly_micro",
};

export function ProjectFields({ values, onValues, isTried, fault, isNew }: ProjectFieldsProps) {
  const own = isTried ? faultsOf(values) : {};
  const faultOf = (field: keyof ProjectValues) => own[field] ?? faultAt(fault, POINTERS[field] ?? "none");
  const set = (change: Partial<ProjectValues>) => onValues({ ...values, ...change });
  const isPlaced = Object.values(POINTERS).some((pointer) => pointer === fault?.param);
  return (
    <>
      <div class="columns">
        <TextField
          label="Name"
          value={values.name}
          onValue={(name) => set({ name })}
          fault={faultOf("name")}
          maxLength={200}
        />
        {isNew && (
          <TextField
            label="Short name"
            value={shownSlug(values)}
            onValue={(slug) => set({ slug })}
            fault={faultOf("slug")}
            hint="For programs and policies. It cannot be changed later"
            maxLength={63}
          />
        )}
      </div>
      {isNew && (
        <Choice
          label="Environment"
          value={values.environment}
          onValue={(value) => set({ environment: value === "test" ? "test" : "live" })}
          hint="It cannot be changed later"
          options={ENVIRONMENT_OPTIONS}
        />
      )}
      <div class="columns">
        <TextField
          label="Budget a month, US dollars"
          value={values.budget}
          onValue={(budget) => set({ budget })}
          fault={faultOf("budget")}
          hint="Empty: none of its own. Its keys' budgets of a day count beside it"
          inputMode="decimal"
        />
        <Choice
          label="Once the budget is used up"
          value={values.isHard ? "hard" : "soft"}
          onValue={(value) => set({ isHard: value === "hard" })}
          options={[
            ["hard", "Refuse calls until the month is over"],
            ["soft", "Only tell"],
          ]}
        />
      </div>
      <Choice
        label="Where credit is short"
        value={values.hold}
        onValue={(hold) => set({ hold: hold as ProjectValues["hold"] })}
        hint="A key may say otherwise"
        options={HOLD_OPTIONS}
      />
      {!isPlaced && <FaultNote fault={fault} />}
    </>
  );
}
