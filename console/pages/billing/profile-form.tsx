/** What invoices must state of an org. What can be seen of a GSTIN is said while it is typed; the API has the last word. */
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../api/act.ts";
import { call } from "../../api/call.ts";
import { me, org } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Choice, TextField } from "../../parts/field.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { type GstinWords, gstinOf, gstinWords } from "./gstin.ts";
import { INDIAN_STATES } from "./indian-states.ts";
import { hasGstin, type ProfileValues, profileBody, profileOf, TAX_STATUSES } from "./profile-values.ts";

/** Where the API says something of a field. */
const POINTERS: Readonly<Record<keyof ProfileValues, string>> = {
  legalName: "/legal_name",
  taxStatus: "/tax_status",
  gstin: "/gstin",
  taxId: "/tax_id",
  email: "/billing_email",
  line1: "/billing_address/line1",
  city: "/billing_address/city",
  stateCode: "/billing_address/state_code",
  postalCode: "/billing_address/postal_code",
};

interface ProfileProps {
  /** JSON pointers of the fields that are needed. */
  readonly missing: readonly string[];
  /** Text of its button. */
  readonly act: string;
  /** What the form has, each time something is typed. */
  readonly onValues?: (values: ProfileValues) => void;
  readonly onSaved: () => void;
}

export function ProfileForm(props: ProfileProps) {
  const shown = org.value;
  if (shown === undefined) return null;
  return <Form of={shown} {...props} />;
}

interface FormProps extends ProfileProps {
  readonly of: NonNullable<typeof org.value>;
}

function Form({ of: shown, missing, act: actText, onValues, onSaved }: FormProps) {
  const [values, setOwn] = useState(() => profileOf(shown));
  const act = useAct();
  const setValues = (next: ProfileValues) => {
    setOwn(next);
    onValues?.(next);
  };
  const isIndian = shown.billing_country === "IN";
  const body = profileBody(shown, values);
  const save = () => {
    if (body === undefined) return;
    act.run(async () => {
      await call("updateOrg", { params: { org: shown.id }, body });
      me.value = await call("getMe", {});
      onSaved();
    });
  };
  const isRegistered = isIndian && hasGstin(values.taxStatus);
  const gstin = gstinWords(values.gstin, values.stateCode);
  const faultOf = (name: keyof ProfileValues) =>
    faultAt(act.fault, POINTERS[name]) ??
    (missing.includes(POINTERS[name]) && values[name] === "" ? "Needed." : undefined);
  const field = (name: keyof ProfileValues, label: string, hint?: string) => (
    <TextField
      label={label}
      value={values[name]}
      onValue={(text) => setValues({ ...values, [name]: text })}
      fault={faultOf(name)}
      hint={hint}
      maxLength={200}
    />
  );
  const isPlaced = Object.values(POINTERS).some((pointer) => pointer === act.fault?.param);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <div class="columns">
        {field("legalName", "Legal name", `Empty: ${shown.name}`)}
        {field("email", "Address for invoices", "An e-mail address")}
      </div>
      {isIndian && (
        <div class="columns">
          <Choice
            label="Tax status"
            value={values.taxStatus}
            onValue={(value) => setValues({ ...values, taxStatus: value as ProfileValues["taxStatus"] })}
            fault={faultOf("taxStatus")}
            options={TAX_STATUSES}
          />
          {isRegistered && (
            <Gstin
              value={values.gstin}
              onValue={(text) => setValues(withGstin(values, text))}
              words={gstin}
              fault={faultOf("gstin")}
            />
          )}
        </div>
      )}
      <div class="columns">
        {field("line1", "Street")}
        {field("city", "City")}
        {isIndian ? (
          <Choice
            label="State"
            value={values.stateCode}
            onValue={(stateCode) => setValues({ ...values, stateCode })}
            fault={faultOf("stateCode")}
            options={[["", "Choose"], ...INDIAN_STATES]}
          />
        ) : (
          field("stateCode", "State or region")
        )}
        {field("postalCode", isIndian ? "PIN code" : "Postal code")}
      </div>
      {!isIndian && field("taxId", "Tax id", "Empty: none")}
      {!isPlaced && <FaultNote fault={act.fault} />}
      <div class="row">
        <Button
          kind="main"
          type="submit"
          isBusy={act.isBusy}
          disabled={body === undefined || (isRegistered && gstin.state === "bad")}
        >
          {actText}
        </Button>
      </div>
    </form>
  );
}

/** A GSTIN that is whole says which State it is, where none is chosen yet. */
function withGstin(values: ProfileValues, gstin: string): ProfileValues {
  const isWhole = values.stateCode === "" && gstinWords(gstin, "").state === "good";
  return { ...values, gstin, ...(isWhole && { stateCode: gstinOf(gstin).slice(0, 2) }) };
}

interface GstinProps {
  readonly value: string;
  readonly onValue: (text: string) => void;
  readonly words: GstinWords;
  /** What the API said of it. */
  readonly fault: string | undefined;
}

const Gstin = ({ value, onValue, words, fault }: GstinProps) => (
  <TextField
    label="GSTIN"
    value={value}
    onValue={onValue}
    maxLength={40}
    hint={words.text}
    fault={words.state === "bad" ? words.text : fault}
  />
);
