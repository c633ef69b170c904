/** `weir.yaml` and `plans.yaml` of gateways under test. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";

const NONE = { reads: 0, changes: 0 };

/** Tests make more requests from one address, and more changes a day, than any client does; those of the limits set their own. */
const MANY = 1_000_000;
const UNLIMITED = {
  quotas: {
    changes_per_day: MANY,
    changes_per_month: MANY,
    orgs_made_per_day: MANY,
    mails_per_day: MANY,
    person_mails_per_day: MANY,
    org_address_mails_per_day: MANY,
    address_mails_per_day: MANY,
  },
  request_limits: {
    key: NONE,
    keys_of_org: NONE,
    person: NONE,
    directory: NONE,
    address: { ...NONE, failures: 0 },
  },
};

interface Written {
  /** What the test sets; without it a file of an earlier gateway stays. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly plans?: readonly Readonly<Record<string, unknown>>[];
}

export function writeSettings(folder: string, { settings, plans }: Written): void {
  const file = join(folder, "weir.yaml");
  if (settings !== undefined || !existsSync(file))
    writeFileSync(file, stringify({ ...UNLIMITED, ...settings }, { aliasDuplicateObjects: false }));
  if (plans !== undefined) writeFileSync(join(folder, "plans.yaml"), stringify({ plans }));
}
