/**
 * Seeds an empty data folder: an org, a project, a live key and a test key, and their secrets in two files that only
 * this user can read.
 *
 * No crash leaves a key whose secret is lost: the secrets are durable in their files before the one transaction that
 * writes the rows. After a kill before it, the next start finds the files and writes rows for those secrets; after a
 * kill behind it, everything exists.
 */

import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Scope } from "../base/operation/access.ts";
import { readSecret, saveSecret } from "../base/process/secret-file.ts";
import { newKey } from "./key.ts";
import { newOrg } from "./org.ts";
import { newProject } from "./project.ts";
import { DEFAULT_SCOPES, FIRST_KEY_SCOPES } from "./scopes.ts";
import { type Environment, inspectSecret, newSecret } from "./secret.ts";
import type { AccountTables } from "./tables.ts";
import { NEWEST_SVC_VERSION } from "./versions.ts";

/** In the data folder; each holds one secret and a newline, mode 0600. */
export const FIRST_KEY_FILES: Readonly<Record<Environment, string>> = {
  live: "first-key",
  test: "first-test-key",
};

export interface FirstStart {
  readonly orgId: string;
  readonly projectId: string;
  readonly liveSecret: string;
  readonly testSecret: string;
}

export interface FirstStartOptions {
  readonly accounts: AccountTables;
  readonly clock: Clock;
  readonly dataDir: string;
  readonly planId: string;
  /** Runs synchronously inside the same transaction: writes what else must exist with the org, such as its grant. */
  readonly also?: (made: { readonly orgId: string }) => void;
  readonly saveSecret?: (path: string, secret: string) => void;
}

/** Seeds an empty store; undefined, with nothing changed, where an org exists. */
export async function firstStart(options: FirstStartOptions): Promise<FirstStart | undefined> {
  const { accounts, clock, also } = options;
  if (accounts.oldestOrg() !== undefined) return undefined;
  const liveSecret = durableSecret("live", options);
  const testSecret = durableSecret("test", options);
  return await accounts.act(() => {
    // Checked again inside the transaction: two callers must make one org.
    if (accounts.oldestOrg() !== undefined) return undefined;
    const nowMs = clock.now();
    const { planId } = options;
    const org = newOrg(
      { slug: "first", name: "First organisation", kind: "team", billingCountry: "US", planId },
      nowMs,
    );
    const project = newProject(
      { orgId: org.id, slug: "first", name: "First project", environment: "live" },
      nowMs,
    );
    accounts.addOrg(org);
    accounts.addProject(project);
    const addKey = (name: string, environment: Environment, scopes: readonly Scope[], secret: string) =>
      accounts.addKey(
        newKey(
          {
            orgId: org.id,
            projectId: project.id,
            name,
            environment,
            scopes,
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
    // The live key is the owner's: the only key that can make others.
    addKey("First live key", "live", FIRST_KEY_SCOPES, liveSecret);
    addKey("First test key", "test", DEFAULT_SCOPES, testSecret);
    also?.({ orgId: org.id });
    return { orgId: org.id, projectId: project.id, liveSecret, testSecret };
  });
}

/** The secret that a killed start left in its file, else a new one; on disk before this returns. */
function durableSecret(environment: Environment, options: FirstStartOptions): string {
  const path = join(options.dataDir, FIRST_KEY_FILES[environment]);
  const left = readSecret(path);
  if (left?.startsWith(`svc-${environment}-`) === true && inspectSecret(left) === "well_formed") return left;
  const secret = newSecret(environment);
  (options.saveSecret ?? saveSecret)(path, secret);
  return secret;
}
