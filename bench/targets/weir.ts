/**
 * The product in its normal configuration: keys, limits, ledger, records, the analytics engine. Only its first grant is
 * larger than in the shipped configuration, because the bench would use that up.
 */
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { freePort, untilReady } from "../processes.ts";
import { type Target, Unavailable } from "./target.ts";

const GRANT_USD = 1_000_000;
/** Records are inserted every 2 s (`src/analytics/spool.ts`), and looked at ten times a second. */
const LATER_MS = 2_200;

/**
 * @param model of `config/models/weir.yaml`: it says which dialect the upstream speaks.
 * @param checkout another checkout of the product, to compare with
 */
const product = (
  name: string,
  about: string,
  model: string,
  onlyNamed: boolean,
  checkout?: () => string | undefined,
): Target => ({
  name,
  about,
  peer: false,
  onlyNamed,
  async start(context) {
    const { processes, upstreamUrl, scratchDir } = context;
    const repoDir = checkout === undefined ? context.repoDir : checkout();
    if (repoDir === undefined) throw new Unavailable("WEIR_BEFORE does not name a checkout");
    const script = join(repoDir, "src/main.ts");
    if (!existsSync(script)) throw new Unavailable("src/main.ts does not exist");
    const port = await freePort();
    const dataDir = join(scratchDir, `${name}-data`);
    const started = await processes.start(name, process.execPath, [...nodeFlags(repoDir), script], {
      cwd: repoDir,
      env: {
        HOST: "127.0.0.1",
        PORT: String(port),
        DATA_DIR: dataDir,
        CONFIG_DIR: configDir(name, repoDir, scratchDir),
        SIMULATOR_URL: upstreamUrl,
        // The embedded engine, whatever the environment of the bench says.
        CLICKHOUSE_URL: "",
      },
    });
    const baseUrl = `http://127.0.0.1:${port}`;
    await untilReady(started, `${baseUrl}/readyz`, 30_000);
    const secret = readFileSync(join(dataDir, "first-key"), "utf8").trim();
    const headers = { authorization: `Bearer ${secret}` };
    return { baseUrl, headers, model, pid: started.pid, laterMs: LATER_MS };
  },
});

export const weir = product("weir", "the product, everything on", "weir/sim-small", false);

/** Another checkout, such as the commit before: `WEIR_BEFORE=<folder>`, with its packages installed. */
export const before = product(
  "before",
  "another checkout of the product",
  "weir/sim-small",
  true,
  () => process.env.WEIR_BEFORE,
);

/** Chat clients with an upstream of another dialect: the cost of translated calls. */
export const translating: readonly Target[] = ["responses", "messages", "gemini", "converse"].map((dialect) =>
  product(`weir-${dialect}`, `the product, translating from ${dialect}`, `weir/sim-${dialect}`, true),
);

/** The flags with which the checkout's own `npm start` runs Node. */
function nodeFlags(repoDir: string): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(repoDir, "package.json"), "utf8"));
  return String(scripts.start)
    .split(" ")
    .filter((word) => word.startsWith("--"));
}

/** A copy of the shipped configuration with the larger grant. */
function configDir(name: string, repoDir: string, scratchDir: string): string {
  const dir = join(scratchDir, `${name}-config`);
  cpSync(join(repoDir, "config"), dir, { recursive: true });
  const file = join(dir, "weir.yaml");
  const settings = parseDocument(existsSync(file) ? readFileSync(file, "utf8") : "{}");
  settings.set("grant_usd", GRANT_USD);
  writeFileSync(file, String(settings));
  return dir;
}
