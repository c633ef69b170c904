/**
 * The process that the crash test of dated prices kills: it opens the catalog of a folder and says each price that comes into force.
 * Run: `node test/crash/catalog/opener.ts <folder> <step>`. Lines: `price <USD> <version>`. It kills itself before or behind the
 * commit that the step names, counted from 1.
 */
import { join } from "node:path";
import { systemClock, systemTimers } from "../../../src/base/clock.ts";
import { openCatalog } from "../../../src/catalog/models/catalog.ts";
import { storedChangelog } from "../../../src/catalog/models/changelog.ts";
import { storedPriceVersions } from "../../../src/catalog/models/price-versions.ts";
import { openStore } from "../../../src/store/store.ts";
import { again } from "../../support/pace.ts";

const [folder = "", step = "0"] = process.argv.slice(2);
const store = openStore(join(folder, "data"));
let steps = 0;
function at(): void {
  if (++steps === Number(step)) process.kill(process.pid, "SIGKILL");
}
const versions = storedPriceVersions(store, systemClock);
const catalog = await openCatalog({
  configDir: folder,
  env: {},
  simulatorUrl: undefined,
  clock: systemClock,
  timers: systemTimers,
  changelog: storedChangelog(store, systemClock, versions),
  priceVersions: {
    history: versions.history,
    async assign(...given) {
      at();
      const assigned = await versions.assign(...given);
      at();
      return assigned;
    },
  },
});
let last = "";
again(() => {
  const [endpoint] = catalog.current().models.get("real/model")?.endpoints ?? [];
  const line = `price ${(endpoint?.listPrices.input ?? 0) / 1000} ${endpoint?.listPrices.version}\n`;
  if (line !== last) process.stdout.write(line);
  last = line;
}, 5);
