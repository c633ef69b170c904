/**
 * `weir backup TO` and `weir restore FROM`. A backup of a running gateway is asked for with the operator's secret; where no gateway
 * answers, this process opens the store itself, which is refused while another has it.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type BegunCopy, type Holder, makeBackup } from "../backup/make.ts";
import type { Manifest } from "../backup/manifest.ts";
import { engineEnded } from "../backup/records.ts";
import { restoreBackup } from "../backup/restore.ts";
import { systemClock } from "../clock.ts";
import { type Config, readConfig } from "../config.ts";
import { VERSION } from "../gateway/version.ts";
import { lmdbPath } from "../store/inspection.ts";
import { openStore, type Store } from "../store/store.ts";
import type { Given, Shell } from "./command.ts";
import { ask, NoGateway, needed } from "./operate.ts";

/** The gateway waits for a batch on its way to ClickHouse. */
const BEGIN_MS = 60_000;
/** One statement for each table. */
const FREEZE_MS = 120_000;

/** @returns exit code. @throws Error with lines for the operator */
export async function backup({ operand, options }: Given, shell: Shell): Promise<number> {
  const to = needed(operand, "TO");
  const config = readConfig(shell.env);
  if (!existsSync(lmdbPath(config.dataDir)))
    throw new Error(`${config.dataDir} holds no gateway's data: DATA_DIR names the folder`);
  await assertNotSupervised(config.dataDir);
  const withRecords = options["no-records"] !== true;
  const manifest = await makeBackup({
    ...{ dataDir: config.dataDir, to, nowMs: systemClock.now() },
    withMasterKey: options["no-master-key"] !== true,
    holder: holderOf(shell, config, withRecords),
  });
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  shell.out(`${to}: ${manifest.files.length} files, ${Math.ceil(bytes / 1_000_000)} MB\n`);
  tell(shell, manifest);
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
    ...{ from, dataDir, release: VERSION, nowMs: systemClock.now() },
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

/** Any cell would answer on the port that they share, about a folder of its own. @throws Error for the operator */
async function assertNotSupervised(dataDir: string): Promise<void> {
  const { supervisorStatus } = await import("../supervisor/supervisor.ts");
  for (const folder of [dataDir, join(dataDir, "../..")]) {
    if ((await supervisorStatus(folder)) === undefined) continue;
    throw new Error(
      `several cells run under the supervisor of ${folder}: stop it, then back up its redis folder and the folder of each cell`,
    );
  }
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

/** Holds the store itself, to the end: nobody can start on it meanwhile. */
function stoppedHolder({ dataDir, clickhouseUrl }: Config, withRecords: boolean): Holder {
  let store: Store | undefined;
  let still: Promise<void> | undefined;
  let release = () => {};
  return {
    async begin() {
      const opened = openStore(dataDir);
      store = opened;
      await engineEnded(dataDir);
      const frame = await new Promise<number>((resolve, reject) => {
        still = opened.still((reached) => {
          resolve(reached);
          return new Promise<void>((ended) => {
            release = ended;
          });
        });
        still.catch(reject);
      });
      const isEmbedded = clickhouseUrl === undefined;
      const records = !isEmbedded ? "server" : withRecords ? "embedded" : "none";
      return { id: randomBytes(12).toString("hex"), frame, release: VERSION, records };
    },
    freeze: async () => undefined,
    async end() {
      release();
      await still?.catch(() => {});
      await store?.close();
    },
  };
}
