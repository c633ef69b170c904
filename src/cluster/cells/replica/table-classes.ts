/**
 * Which tables all cells of an installation share, and how. A table that is not named here does not open in an installation of
 * several cells: whoever adds one decides.
 */

/**
 * - `shared`: every cell has the same rows; an act that changes one is committed by the dataset (`src/cluster/cells`).
 * - `money`: amounts that the dataset adds up; a cell spends what it leased, and reports in batches.
 * - `merged`: sums and maxima of what each cell counted for itself; no act depends on them.
 * - `fetched`: written once and rarely read: kept in the dataset, and asked for when somebody wants one.
 * - `local`: of this cell and its folder alone.
 */
type TableClass = "shared" | "money" | "merged" | "fetched" | "local";

/** By the part of the name before the dot, if all tables of the room are alike; otherwise by the whole name. */
const CLASSES: Readonly<Record<string, TableClass>> = {
  account: "shared",
  apps: "shared",
  audit: "shared",
  billing: "shared",
  events: "shared",
  identity: "shared",
  invoices: "shared",
  jobs: "shared",
  mail: "shared",
  payments: "shared",
  policies: "shared",
  receipts: "shared",
  scim: "shared",
  webhooks: "shared",
  // Rows only: a file is in the folder of the cell that wrote it.
  exports: "shared",
  // By content: a cell that reads the same files puts the same rows.
  catalog: "shared",
  price_versions: "shared",
  "analytics.users": "shared",
  // Where each cell listens.
  cell_addresses: "shared",
  // Somebody is told once, whichever cell noticed.
  "limits.told": "shared",
  "limits.told_days": "shared",
  "limits.near": "shared",
  "limits.near_days": "shared",
  "routing.down_told": "shared",
  "routing.down_told_hours": "shared",
  // Postings; charges have numbers of the dataset and are listed in the analytics.
  "ledger.posted": "shared",
  "ledger.posted_references": "shared",
  "ledger.posted_kinds": "shared",
  "ledger.former": "shared",
  "ledger.gone": "shared",
  "credits.lots": "shared",
  "credits.grant_expiries": "shared",
  "credits.told_falls": "shared",
  "credits.uncharged": "shared",
  // Ledger and spend of a gateway alone, and of a cell that was one.
  ledger: "money",
  "ledger.references": "money",
  "ledger.kinds": "money",
  spend: "money",
  "spend.orgs": "money",
  "spend.orgs_built": "money",
  "spend.lineages_joined": "money",
  "account.key_last_used": "merged",
  "policies.canaries": "merged",
  "routing.health": "merged",
  // What this cell keeps of orgs' calls; each tells the others its sums.
  kept: "merged",
  idempotent_answers: "fetched",
  idempotent_answers_of_orgs: "fetched",
  idempotent_hours: "fetched",
  responses: "fetched",
  response_items: "fetched",
  response_days: "fetched",
  response_runs: "fetched",
  // The newest version of each is at the cell that changed it last.
  conversations: "fetched",
  conversation_items: "fetched",
  conversation_days: "fetched",
  conversation_counts: "local",
  // Names of answers and responses that were deleted or erased: each cell removes its own of them.
  forgotten: "shared",
  // Streams of detached calls: other cells ask the one that runs them.
  detached: "local",
  // Records and ledger entries on their way to ClickHouse.
  outbox: "local",
  outbox_apart: "local",
  outbox_ids: "local",
  outbox_spills: "local",
  outbox_state: "local",
  shadow_runs: "local",
  shadow_runs_state: "local",
  ledger_rows: "local",
  ledger_rows_apart: "local",
  ledger_rows_state: "local",
  // This machine's clock, and this folder's restores.
  wall_clock: "local",
  restores: "local",
  // How far the cell has followed the others.
  cells: "local",
  // From releases before 0.1.0: nothing reads them any more.
  installation: "local",
  spend_parts: "local",
};

/** The names that are classed. */
export const CLASSED: readonly string[] = Object.keys(CLASSES);

const classOf = (name: string): TableClass | undefined =>
  CLASSES[name] ?? CLASSES[name.split(".", 1)[0] as string];

/** The first name of those in a folder that this release does not know. */
export const unknownTable = (names: readonly string[]): string | undefined =>
  names.find((name) => classOf(name) === undefined);

/** @throws Error for a table that nobody classed */
export function tableClass(name: string): TableClass {
  const found = classOf(name);
  if (found === undefined)
    throw new Error(`table ${name} has no class: name it in src/cluster/cells/replica/table-classes.ts`);
  return found;
}

/** Whether all cells have the same rows of it. */
export const isSharedTable = (table: string): boolean => tableClass(table) === "shared";
