/** Orgs that no route can make: with so much credit and not a micro-USD more, or with a data policy of their own. */

import { join } from "node:path";
import { newKey } from "../../../src/account/key.ts";
import { newOrg, type OrgDataPolicy } from "../../../src/account/org.ts";
import { newProject } from "../../../src/account/project.ts";
import { newSecret } from "../../../src/account/secret.ts";
import { AccountTables } from "../../../src/account/tables.ts";
import { NEWEST_SVC_VERSION } from "../../../src/account/versions.ts";
import { systemClock, systemRandom } from "../../../src/base/clock.ts";
import { SCOPES } from "../../../src/base/operation/access.ts";
import { openStore } from "../../../src/store/store.ts";
import { openCredits } from "../credits/fixtures.ts";

export interface OrgSpec {
  readonly creditMicroUsd: number;
  readonly dataPolicy?: Partial<OrgDataPolicy>;
  /** Default: `local`. */
  readonly planId?: string;
}

/** Adds orgs to the data folder of a gateway that does not run; returns the secret of each one's key. */
export async function addOrgs<Name extends string>(
  folder: string,
  specs: Readonly<Record<Name, OrgSpec>>,
): Promise<Record<Name, string>> {
  const store = openStore(join(folder, "data"));
  const accounts = new AccountTables(store);
  const credits = openCredits({ store, clock: systemClock });
  const secrets: Record<string, string> = {};
  for (const [name, spec] of Object.entries<OrgSpec>(specs)) {
    const orgId = await accounts.act(() => {
      const secret = newSecret("live", systemRandom);
      secrets[name] = secret;
      return addOrg(accounts, name.replaceAll("_", "-"), spec, secret);
    });
    if (spec.creditMicroUsd > 0) {
      const grant = { kind: "grant", refType: "test", refId: orgId } as const;
      await credits.post(orgId, { ...grant, amountMicroUsd: spec.creditMicroUsd });
    }
  }
  await store.close();
  return secrets as Record<Name, string>;
}

function addOrg(accounts: AccountTables, slug: string, spec: OrgSpec, secret: string): string {
  const nowMs = systemClock.now();
  const { planId = "local" } = spec;
  const made = newOrg({ slug, name: slug, kind: "team", billingCountry: "US", planId }, nowMs);
  const org = { ...made, dataPolicy: { ...made.dataPolicy, ...spec.dataPolicy } };
  const project = newProject({ orgId: org.id, slug, name: slug, environment: "live" }, nowMs);
  accounts.addOrg(org);
  accounts.addProject(project);
  accounts.addKey(
    newKey(
      {
        orgId: org.id,
        projectId: project.id,
        name: slug,
        environment: "live",
        scopes: SCOPES,
        limits: {},
        budget: { dailyMicroUsd: null, hard: true },
        onDisconnect: "cancel",
        svcVersion: NEWEST_SVC_VERSION,
        lifetimeMs: null,
        rotatedFrom: null,
      },
      secret,
      nowMs,
    ),
  );
  return org.id;
}
