/** Who is billed, as a form has it, and what is sent of it: only what differs. Pure. */
import type { Operations } from "../../api/operations.ts";

export type Org = Operations["updateOrg"]["answer"];
type Body = Operations["updateOrg"]["body"];

export interface ProfileValues {
  readonly legalName: string;
  readonly taxStatus: Org["tax_status"];
  readonly gstin: string;
  readonly taxId: string;
  readonly email: string;
  readonly line1: string;
  readonly city: string;
  readonly stateCode: string;
  readonly postalCode: string;
}

type Profile = Pick<
  Org,
  "legal_name" | "tax_status" | "gstin" | "tax_id" | "billing_email" | "billing_address"
>;

export const profileOf = (org: Profile): ProfileValues => ({
  legalName: org.legal_name,
  taxStatus: org.tax_status,
  gstin: org.gstin,
  taxId: org.tax_id,
  email: org.billing_email,
  line1: org.billing_address.line1,
  city: org.billing_address.city,
  stateCode: org.billing_address.state_code,
  postalCode: org.billing_address.postal_code,
});

export const TAX_STATUSES = [
  ["unregistered", "Not registered for GST"],
  ["gst_registered", "Registered for GST"],
  ["sez", "Unit of a special economic zone"],
] as const satisfies readonly (readonly [Org["tax_status"], string])[];

/** Whether a tax status comes with a GSTIN. */
export const hasGstin = (status: Org["tax_status"]): boolean =>
  status === "gst_registered" || status === "sez";

/** @returns undefined where nothing differs */
export function profileBody(org: Profile, values: ProfileValues): Body | undefined {
  const old = profileOf(org);
  const now = { ...values, gstin: hasGstin(values.taxStatus) ? values.gstin.trim().toUpperCase() : "" };
  const changed = (name: keyof ProfileValues) => now[name].trim() !== old[name];
  const address = {
    ...(changed("line1") && { line1: now.line1.trim() }),
    ...(changed("city") && { city: now.city.trim() }),
    ...(changed("stateCode") && { state_code: now.stateCode.trim() }),
    ...(changed("postalCode") && { postal_code: now.postalCode.trim() }),
  };
  const body = {
    ...(changed("legalName") && { legal_name: now.legalName.trim() }),
    ...(changed("taxStatus") && { tax_status: now.taxStatus }),
    ...(changed("gstin") && { gstin: now.gstin }),
    ...(changed("taxId") && { tax_id: now.taxId.trim() }),
    ...(changed("email") && { billing_email: now.email.trim() }),
    ...(Object.keys(address).length > 0 && { billing_address: address }),
  };
  return Object.keys(body).length === 0 ? undefined : body;
}
