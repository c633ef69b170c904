/**
 * `weir backup TO`, of one gateway or of all cells under a supervisor, and `weir restore FROM`. A backup of a running gateway is asked for with the operator's secret; where no gateway
 * answers, this process opens the store itself, which is refused while another has it.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { hasSupervisedCells } from "../../cluster/supervisor/cell-folders.ts";
import { lmdbPath } from "../../store/recovery/inspection.ts";
import { type BegunCopy, type Holder, makeBackup } from "../backup/make.ts";
import type { Manifest } from "../backup/manifest.ts";
import { restoreBackup } from "../backup/restore.ts";
import { VERSION } from "../gateway/version.ts";
import { type Config, readConfig } from "../settings/config.ts";
import { BEGIN_MS, FREEZE_MS, stoppedHolder } from "./backup-holder.ts";
import type { Given, Shell } from "./command.ts";
import { ask, NoGateway, needed } from "./operate.ts";

/** @returns exit code. @throws Error with lines for the operator */
export async function backup({ operand, options }: Given, shell: Shell): Promise<number> {
  const to = needed(operand, "TO");
  const config = readConfig(shell.env);
  if (!existsSync(lmdbPath(config.dataDir)))
    throw new Error(`${config.dataDir} holds no gateway's data: DATA_DIR names the folder`);
  assertWhole(config.dataDir);
  const withRecords = options["no-records"] !== true;
  const asked = {
    dataDir: config.dataDir,
    to,
    nowMs: systemClock.now(),
    withMasterKey: options["no-master-key"] !== true,
  };
  const manifest = hasSupervisedCells(config.dataDir)
    ? await (await import("./backup-cells.ts")).backUpCells(asked, config, withRecords)
    : await makeBackup({ ...asked, holder: holderOf(shell, config, withRecords) });
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  shell.out(`${to}: ${manifest.files.length} files, ${Math.ceil(bytes / 1_000_000)} MB\n`);
  tell(shell, manifest);
  if (manifest.cells !== undefined) tellCells(shell, manifest);
  if (manifest.records === "server")
    shell.out("Records of calls are on the server of CLICKHOUSE_URL: back it up now, after this backup.\n");
  if (manifest.records === "none") shell.out("Records of calls in ClickHouse are not in it.\n");
  if (!manifest.has_master_key)
    shell.out(
      "The master key is not in it: without it, providers' keys and secrets of webhooks cannot be read.\n",
    );
  return 0;
}

/** @returns exit code. @throws Error with lines for the operator */
export async function restore({ operand }: Given, shell: Shell): Promise<number> {
  const from = needed(operand, "FROM");
  const { dataDir, secretsKey } = readConfig(shell.env);
  const { manifest, copyId } = await restoreBackup({
    from,
    dataDir,
    release: VERSION,
    nowMs: systemClock.now(),
  });
  shell.out(
    `${dataDir}: restored as of ${manifest.made_at}, by release ${manifest.release}; copy ${copyId}\n`,
  );
  tell(shell, manifest);
  if (!manifest.has_master_key && secretsKey === undefined)
    shell.out(
      `Put secrets.key, or WEIR_SECRETS_KEY, back before the first start: the backup has no master key.\n`,
    );
  return 0;
}

/** A folder of one cell is no installation. @throws Error for the operator */
function assertWhole(dataDir: string): void {
  const machine = resolve(dataDir, "../..");
  if (resolve(dataDir, "..") === join(machine, "cells") && existsSync(lmdbPath(machine)))
    throw new Error(`DATA_DIR=${dataDir} is that of one cell: DATA_DIR=${machine} has all of them`);
}

function tellCells(shell: Shell, { cells = [], redis }: Manifest): void {
  shell.out(`${cells.length + 1} cells\n`);
  if (redis === undefined)
    shell.out(
      "Balances and what the cells share are in the Redis of REDIS_URL: back its append-only file up now, after this backup.\n",
    );
  else shell.out("Balances and what the cells share are in the Redis that is in it.\n");
}

function tell(shell: Shell, { ledger }: Manifest): void {
  const usd = (ledger.sum_micro_usd / 1e6).toFixed(6);
  shell.out(`ledger: ${ledger.entries} entries of ${ledger.orgs} orgs, together ${usd} USD; it adds up\n`);
}

/** Decides at its beginning who holds the files still. */
function holderOf(shell: Shell, config: Config, withRecords: boolean): Holder {
  let inHand: Holder | undefined;
  return {
    async begin() {
      inHand = runningHolder(shell, withRecords);
      try {
        return await inHand.begin();
      } catch (error) {
        if (!(error instanceof NoGateway)) throw error;
      }
      inHand = stoppedHolder(config, withRecords);
      return await inHand.begin();
    },
    freeze: async (begun) => await inHand?.freeze(begun),
    end: async () => await inHand?.end(),
  };
}

const runningHolder = (shell: Shell, withRecords: boolean): Holder => ({
  begin: async () =>
    (await ask(shell, "POST", "/backups", { records: withRecords }, BEGIN_MS)) as unknown as BegunCopy,
  async freeze({ id }) {
    const { frozen } = await ask(shell, "POST", `/backups/${id}/freeze`, undefined, FREEZE_MS);
    return typeof frozen === "string" ? frozen : undefined;
  },
  // It ends by itself.
  end: async () => {},
});
