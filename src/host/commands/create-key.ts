/**
 * `weir keys create`: creates a key when no working key may create others any more. The command opens the
 * data folder itself, so the gateway must be stopped: money is exact only while one process writes to the folder.
 */

import { existsSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { newKey } from "../../account/key.ts";
import { FIRST_KEY_SCOPES, orderedScopes } from "../../account/scopes.ts";
import { newSecret } from "../../account/secret.ts";
import { AccountTables } from "../../account/tables.ts";
import { NEWEST_SVC_VERSION } from "../../account/versions.ts";
import { systemClock, systemRandom } from "../../base/clock.ts";
import { didYouMean, nearest } from "../../base/document/nearest.ts";
import { SCOPES, type Scope } from "../../base/operation/access.ts";
import { keepPrivate } from "../../base/process/private-folder.ts";
import { saveSecret } from "../../base/process/secret-file.ts";
import { membershipOf } from "../../cluster/cells/membership/membership.ts";
import { openStore, type Store } from "../../store/store.ts";
import { readConfig } from "../settings/config.ts";
import type { Given, Shell } from "./command.ts";

const MAX_NAME = 200;
const ofCells = (dataDir: string): string =>
  `${dataDir} is a cell's: a key made in it would be unknown to the other cells. Start them, and make keys signed in as an owner or admin, or with a key that may`;

/**
 * Creates a live key in the first live project of the first organisation. The secret is printed once on a terminal, or
 * written to a file (mode 0600) if `--out` is given or standard output is not a terminal.
 * @returns the exit code. @throws Error with a line for the operator.
 */
export async function createKey(options: Given["options"], shell: Shell): Promise<number> {
  const { dataDir } = readConfig(shell.env);
  const scopes = scopesOf(options.scopes);
  const name = String(options.name ?? "Made on the machine").trim();
  if (name === "" || name.length > MAX_NAME) throw new Error(`--name takes 1 to ${MAX_NAME} characters`);
  if (!existsSync(join(dataDir, "weir.lmdb"))) {
    throw new Error(
      `${dataDir} holds no gateway's data: DATA_DIR names the folder, and a first start makes it`,
    );
  }
  keepPrivate(dataDir);
  const store = opened(dataDir);
  let saved: string | undefined;
  try {
    if (membershipOf(store) !== undefined) throw new Error(ofCells(dataDir));
    const accounts = new AccountTables(store);
    const secret = newSecret("live", systemRandom);
    const { out } = options;
    const file = typeof out === "string" ? resolve(out) : shell.isTerminal ? undefined : freeName(dataDir);
    if (file !== undefined && existsSync(file)) throw new Error(`--out: ${file} is there already`);
    // The file is written before the row, so that a crash cannot leave a key whose secret is lost.
    if (file !== undefined) saveSecret(file, secret);
    saved = file;
    const row = await accounts.act(() => {
      const org = accounts.oldestOrg();
      const project = org && accounts.projectsOf(org.id).find(({ environment }) => environment === "live");
      if (org === undefined || project === undefined)
        throw new Error(`${dataDir} holds no live project to make a key in`);
      const made = newKey(orderOf(org.id, project.id, name, scopes), secret, systemClock.now());
      accounts.addKey(made);
      return made;
    });
    shell.out(`Made ${row.id} ("${name}") with ${scopes.join(", ")}.\n`);
    shell.out(file === undefined ? `Its secret, shown only now: ${secret}\n` : `Its secret is in ${file}\n`);
    return 0;
  } catch (error) {
    // The row was not written, so the secret in the file is useless.
    if (saved !== undefined) rmSync(saved, { force: true });
    throw error;
  } finally {
    await store.close();
  }
}

function opened(dataDir: string): Store {
  try {
    return openStore(dataDir);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new Error(text.includes("is in use by process") ? `${text}: stop the gateway first` : text, {
      cause: error,
    });
  }
}

const orderOf = (orgId: string, projectId: string, name: string, scopes: readonly Scope[]) => ({
  orgId,
  projectId,
  name,
  environment: "live" as const,
  scopes,
  limits: {},
  budget: { dailyMicroUsd: null, hard: true },
  onDisconnect: "cancel" as const,
  svcVersion: NEWEST_SVC_VERSION,
  lifetimeMs: null,
  rotatedFrom: null,
});

/** @throws Error that names the first unknown scope. */
function scopesOf(list: string | boolean | undefined): readonly Scope[] {
  if (typeof list !== "string") return FIRST_KEY_SCOPES;
  const words = list.split(",").map((word) => word.trim());
  const isScope = (word: string): word is Scope => (SCOPES as readonly string[]).includes(word);
  for (const word of words) {
    if (isScope(word)) continue;
    throw new Error(`--scopes: there is no scope "${word}"${didYouMean(nearest(word, SCOPES))}`);
  }
  return orderedScopes(words.filter(isScope));
}

/** `new-key`, `new-key-2`, … in the data folder. */
function freeName(dataDir: string): string {
  for (let n = 1; ; n++) {
    const file = join(dataDir, n === 1 ? "new-key" : `new-key-${n}`);
    if (!existsSync(file)) return file;
  }
}
