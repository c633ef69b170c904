/**
 * The gateway killed at a random moment of `weir backup`, under load: the backup is whole or not there. `WEIR_BACKUP_KILLS=100` for
 * many rounds.
 */
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { seededRandom } from "../../../../src/base/clock.ts";
import {
  chargesOf,
  chargesOfStarted,
  envOf,
  load,
  restoredFrom,
  typed,
} from "../../../support/backup/backup.fixtures.ts";
import { amount } from "../../../support/effort.ts";
import { removeFolder } from "../../../support/gateway.ts";
import { anyMoment } from "../../../support/pace.ts";
import { type SpawnedGateway, spawnGateway } from "../../../support/spawned-gateway.ts";
import { until } from "../../../support/wait.ts";

const ROUNDS = Number(process.env.WEIR_BACKUP_KILLS ?? amount(20, 2));
/** A backup takes one to two seconds here. */
const LATEST_MS = 3000;

test("a backup whose gateway is killed meanwhile is whole, or refused and gone", {
  timeout: ROUNDS * 60_000,
}, async () => {
  const home = mkdtempSync(join(tmpdir(), "weir-backup-kills-"));
  const random = seededRandom(Number(process.env.WEIR_SEED ?? 20_261_123));
  let folder: string | undefined;
  let gateway: SpawnedGateway | undefined;
  const answered: string[] = [];
  let made = 0;
  try {
    for (let round = 0; round < ROUNDS; round++) {
      gateway = await spawnGateway(folder === undefined ? {} : { folder });
      folder = gateway.folder;
      const clients = load(gateway);
      await until("calls are answered", () => clients.answered().length > 20);
      const before = [...answered, ...clients.answered()];
      const to = join(home, `b${round}`);
      const backup = typed(["backup", to], envOf(folder, gateway.url));
      await anyMoment(random, LATEST_MS);
      await gateway.kill("SIGKILL");
      await clients.stop();
      answered.push(...clients.answered());
      await gateway.simulator.close();
      const { code, err } = await backup;
      if (code !== 0) {
        expect([round, err, existsSync(to)]).toEqual([round, expect.stringMatching(/./), false]);
        continue;
      }
      made++;
      const restored = await restoredFrom(to, folder);
      expect(chargesOf(join(restored, "data"))).toEqual(expect.arrayContaining(before));
      await chargesOfStarted(restored);
      removeFolder(to);
    }
    // After the last kill nobody is there: the backup is made of what was left, which has all that was answered.
    const to = join(home, "last");
    expect(await typed(["backup", to], envOf(folder ?? ""))).toMatchObject({ code: 0, err: "" });
    const restored = await restoredFrom(to, folder ?? "");
    expect(chargesOf(join(restored, "data"))).toEqual(expect.arrayContaining(answered));
    await chargesOfStarted(restored);
  } finally {
    console.info(`${made} of ${ROUNDS} backups were made although their gateway was killed`);
    for (const left of [home, folder]) if (left !== undefined) removeFolder(left);
  }
});
