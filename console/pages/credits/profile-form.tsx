/** What invoices must state of an org: asked for where a top-up lacks it. */
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../api/act.ts";
import { call } from "../../api/call.ts";
import { me, org } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Choice, TextField } from "../../parts/field.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { INDIAN_STATES } from "./indian-states.ts";
import { hasGstin, type ProfileValues, profileBody, profileOf } from "./profile-values.ts";

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

const STATUSES = [
  ["unregistered", "Not registered for GST"],
  ["gst_registered", "Registered for GST"],
  ["sez", "Unit of a special economic zone"],
] as const;

interface ProfileProps {
  /** JSON pointers of the fields that are needed. */
  readonly missing: readonly string[];
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

function Form({ of: shown, missing, onSaved }: FormProps) {
  const [values, setValues] = useState(() => profileOf(shown));
  const act = useAct();
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
            options={STATUSES}
          />
          {hasGstin(values.taxStatus) && field("gstin", "GSTIN")}
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
        <Button kind="main" type="submit" isBusy={act.isBusy} disabled={body === undefined}>
          Save and go on
        </Button>
      </div>
    </form>
  );
}
