/** The fields of a webhook: of a new one, and of one that is changed. */
import { faultAt } from "../../api/act.ts";
import type { ApiError } from "../../api/call.ts";
import { Check, Choice, TextField } from "../../parts/field.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { EVENT_GROUPS, EVENT_WORDS, type EventType } from "./event-words.ts";
import { faultsOf, type WebhookValues } from "./webhook-values.ts";

interface FieldsProps {
  readonly values: WebhookValues;
  readonly onValues: (values: WebhookValues) => void;
  /** Whether it was tried to save: a form that nobody has filled in has no faults yet. */
  readonly isTried: boolean;
  readonly fault: ApiError | undefined;
}

const PLACED = ["/url", "/description"];

export function WebhookFields({ values, onValues, isTried, fault }: FieldsProps) {
  const own = isTried ? faultsOf(values) : {};
  const set = (change: Partial<WebhookValues>) => onValues({ ...values, ...change });
  const toggle = (type: EventType, isChosen: boolean) =>
    set({ events: isChosen ? [...values.events, type] : values.events.filter((each) => each !== type) });
  return (
    <>
      <TextField
        label="Address"
        value={values.url}
        onValue={(url) => set({ url })}
        fault={own.url ?? faultAt(fault, "/url")}
        hint="Where events are sent to: https, on a public address"
        placeholder="https://example.com/hooks/weir"
        maxLength={2048}
      />
      <TextField
        label="Name"
        value={values.description}
        onValue={(description) => set({ description })}
        fault={faultAt(fault, "/description")}
        hint="Your words about it: Billing events to the back office"
        maxLength={500}
      />
      <Choice
        label="What it hears of"
        value={values.isAll ? "all" : "some"}
        onValue={(value) => set({ isAll: value === "all" })}
        options={[
          ["all", "Everything, also what later releases add"],
          ["some", "Only what is chosen below"],
        ]}
      />
      {!values.isAll && (
        <div class="event-groups">
          {own.events !== undefined && <span class="field-fault">{own.events}</span>}
          {EVENT_GROUPS.map(([group, types]) => (
            <fieldset key={group} class="scopes event-group">
              <legend>{group}</legend>
              {types.map((type) => (
                <Check
                  key={type}
                  label={EVENT_WORDS[type]}
                  value={values.events.includes(type)}
                  onValue={(isChosen) => toggle(type, isChosen)}
                />
              ))}
            </fieldset>
          ))}
        </div>
      )}
      {!PLACED.includes(fault?.param ?? "") && <FaultNote fault={fault} />}
    </>
  );
}
