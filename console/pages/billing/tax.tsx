/** Who is billed, and what invoices will say of it while it is typed. */
import { useState } from "preact/hooks";
import { useAnswer } from "../../api/answers.ts";
import { mayCall, org } from "../../app/session.ts";
import { Facts } from "../../parts/facts.tsx";
import { FaultNote, Note } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { gstinOf, stateOfCode } from "./gstin.ts";
import { ProfileForm } from "./profile-form.tsx";
import { hasGstin, type ProfileValues, profileOf, TAX_STATUSES } from "./profile-values.ts";
import { taxWords } from "./tax-words.ts";

export function TaxDetails() {
  const shown = org.value;
  if (shown === undefined) return null;
  return <Details of={shown} />;
}

type ShownOrg = NonNullable<typeof org.value>;

function Details({ of: shown }: { readonly of: ShownOrg }) {
  const [values, setValues] = useState<ProfileValues>(() => profileOf(shown));
  const [isSaved, setSaved] = useState(false);
  return (
    <div class="columns">
      <Panel title="Who is billed">
        {mayCall("updateOrg") ? (
          <>
            <ProfileForm
              missing={[]}
              act="Save"
              onValues={(next) => {
                setValues(next);
                setSaved(false);
              }}
              onSaved={() => setSaved(true)}
            />
            {isSaved && (
              <Note tone="good">
                <div role="status">Saved. It is on documents from now on; those before stay as they are.</div>
              </Note>
            )}
          </>
        ) : (
          <>
            <Stated of={shown} />
            <p class="quiet">An owner or an admin can change it.</p>
          </>
        )}
      </Panel>
      <WillSay of={shown} values={values} />
    </div>
  );
}

function Stated({ of: shown }: { readonly of: ShownOrg }) {
  const { billing_address: address } = shown;
  return (
    <Facts
      rows={[
        ["Legal name", shown.legal_name || shown.name],
        ["Mails go to", shown.billing_email || "owners, admins and billing members"],
        [
          "Tax status",
          shown.billing_country === "IN"
            ? TAX_STATUSES.find(([status]) => status === shown.tax_status)?.[1]
            : undefined,
        ],
        ["GSTIN", shown.gstin === "" ? undefined : <code key="gstin">{shown.gstin}</code>],
        ["Tax id", shown.tax_id || undefined],
        [
          "Address",
          [
            address.line1,
            address.city,
            stateOfCode(address.state_code) ?? address.state_code,
            address.postal_code,
          ]
            .filter((part) => part !== "")
            .join(", ") || "none",
        ],
      ]}
    />
  );
}

interface WillSayProps {
  readonly of: ShownOrg;
  readonly values: ProfileValues;
}

/** The head of an invoice as it will be, and its tax. */
function WillSay({ of: shown, values }: WillSayProps) {
  const pricing = useAnswer("getPricing", {});
  const known = pricing.value.value;
  const isIndian = shown.billing_country === "IN";
  const gstin = hasGstin(values.taxStatus) ? gstinOf(values.gstin) : "";
  const town = [values.city, values.postalCode].filter((part) => part.trim() !== "").join(" ");
  const lines = [
    values.line1.trim(),
    town,
    isIndian ? `${stateOfCode(values.stateCode) ?? "State not chosen"}, India` : values.stateCode.trim(),
    isIndian ? `GSTIN: ${gstin || "unregistered"}` : "",
    values.taxId.trim() === "" || isIndian ? "" : `Tax id: ${values.taxId.trim()}`,
  ].filter((line) => line !== "");
  const tax = known === undefined ? undefined : taxWords(shown.billing_country, values, known.gst);
  return (
    <Panel title="What invoices will say">
      <FaultNote fault={pricing.fault.value} onRetry={() => pricing.refresh()} />
      <div class="paper break">
        <div>
          <div class="small quiet">Recipient</div>
          <p>
            <strong>{values.legalName.trim() || shown.name}</strong>
          </p>
          {lines.map((line) => (
            <p key={line}>{line}</p>
          ))}
        </div>
        <Facts
          rows={[
            ["Supplier", known?.supplier.legal_name || undefined],
            ["Place of supply", tax?.placeOfSupply],
            ["Tax", tax?.tax],
            ["Currency", shown.billing_currency],
          ]}
        />
      </div>
      {tax?.about !== undefined && <p class="quiet">{tax.about}</p>}
      <p class="quiet small">
        Documents that were issued stay as they are. A wrong GSTIN on one is corrected from the page of that
        invoice.
      </p>
    </Panel>
  );
}
