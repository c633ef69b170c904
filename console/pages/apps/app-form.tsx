/** The fields of an app: of a new one, and of one that is changed. */
import { faultAt } from "../../api/act.ts";
import type { ApiError } from "../../api/call.ts";
import { Check, Choice, TextField } from "../../parts/field.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { type AppValues, CATEGORY_WORDS, type Category, faultsOf } from "./app-values.ts";

interface FieldsProps {
  readonly values: AppValues;
  readonly onValues: (values: AppValues) => void;
  /** Its short name can be chosen: once it is made, it never changes. */
  readonly isNew: boolean;
  readonly isTried: boolean;
  readonly fault: ApiError | undefined;
}

const PLACED = ["/name", "/slug", "/url"];

export function AppFields({ values, onValues, isNew, isTried, fault }: FieldsProps) {
  const own = isTried ? faultsOf(values) : {};
  const set = (change: Partial<AppValues>) => onValues({ ...values, ...change });
  return (
    <>
      <TextField
        label="Name"
        value={values.name}
        onValue={(name) => set({ name })}
        fault={own.name ?? faultAt(fault, "/name")}
        hint="Calls that carry this name count as the app's"
        maxLength={100}
      />
      {isNew && (
        <TextField
          label="Short name, for addresses"
          value={values.slug}
          onValue={(slug) => set({ slug })}
          fault={faultAt(fault, "/slug")}
          hint="Empty: made of the name. It never changes later"
          placeholder="acme-chat"
          maxLength={63}
        />
      )}
      <div class="columns">
        <Choice
          label="Category"
          value={values.category}
          onValue={(category) => set({ category: category as Category })}
          options={Object.entries(CATEGORY_WORDS)}
        />
        <TextField
          label="Web address of the app"
          value={values.url}
          onValue={(url) => set({ url })}
          fault={own.url ?? faultAt(fault, "/url")}
          hint="Calls from pages of its host count as the app's. Empty: none"
          placeholder="https://chat.example.com"
          maxLength={300}
        />
      </div>
      <Check
        label="Public: everybody may see its name, category, tokens and requests, and which models it uses"
        value={values.isPublic}
        onValue={(isPublic) => set({ isPublic })}
      />
      {!PLACED.includes(fault?.param ?? "") && <FaultNote fault={fault} />}
    </>
  );
}
