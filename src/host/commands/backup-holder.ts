/** Holds the files of a folder still for `weir backup` where no gateway runs on it, and how long a gateway may take to do so. */
import { randomBytes } from "node:crypto";
import { openStore, type Store } from "../../store/store.ts";
import type { Holder } from "../backup/make.ts";
import { engineEnded } from "../backup/records.ts";
import { VERSION } from "../gateway/version.ts";
import type { Config } from "../settings/config.ts";

/** The gateway waits for a batch on its way to ClickHouse. */
export const BEGIN_MS = 60_000;
/** One statement for each table. */
export const FREEZE_MS = 120_000;

/** Holds the store itself, to the end: nobody can start on it meanwhile. */
export function stoppedHolder(
  { dataDir, clickhouseUrl }: Pick<Config, "dataDir" | "clickhouseUrl">,
  withRecords: boolean,
): Holder {
  let store: Store | undefined;
  let still: Promise<void> | undefined;
  let release = () => {};
  return {
    async begin() {
      const opened = openStore(dataDir);
      store = opened;
      if (withRecords) await engineEnded(dataDir);
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
