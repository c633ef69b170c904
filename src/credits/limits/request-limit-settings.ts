/** The part of `weir.yaml` that bounds how often the control plane is asked. */
import { z } from "zod";
import type { RequestLimitSettings } from "./request-limits.ts";

const count = z.int().nonnegative();

/** Control-plane requests a minute; 0: unlimited. */
const rates = (reads: number, changes: number) => ({
  reads: count.default(reads),
  changes: count.default(changes),
});

export const requestLimitsField = z
  .strictObject({
    key: z.strictObject(rates(1200, 300)).prefault({}),
    /** All keys of an org together. */
    keys_of_org: z.strictObject(rates(12_000, 1200)).prefault({}),
    person: z.strictObject(rates(1200, 120)).prefault({}),
    /** An org's identity provider (SCIM), whichever token it has. */
    directory: z.strictObject(rates(3000, 1200)).prefault({}),
    /** An IPv4 address or the /64 of an IPv6 one: requests without a credential, sign-ins, and credentials that are refused. */
    address: z.strictObject({ ...rates(1200, 120), failures: count.default(300) }).prefault({}),
  })
  .prefault({});

/** As `requestLimits` takes them. */
export const requestLimitsOf = ({
  request_limits: { keys_of_org: keysOfOrg, ...others },
}: {
  readonly request_limits: z.output<typeof requestLimitsField>;
}): RequestLimitSettings => ({ ...others, keysOfOrg });
