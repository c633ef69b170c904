/**
 * The product in its normal configuration: keys, limits, ledger, records, the analytics engine. Only its first grant is
 * larger than in the shipped configuration, because the bench would use that up.
 */
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { freePort, type Started, untilReady } from "../processes.ts";
import { type Target, type TargetContext, Unavailable } from "./target.ts";

const GRANT_USD = 1_000_000;
/** Few records wait for 10 s (`src/analytics/analytics.ts`), and are looked at ten times a second. */
export const LATER_MS = 10_200;

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
    const repoDir = checkout === undefined ? context.repoDir : checkout();
    if (repoDir === undefined) throw new Unavailable("WEIR_BEFORE does not name a checkout");
    if (!existsSync(join(repoDir, "src/main.ts"))) throw new Unavailable("src/main.ts does not exist");
    const { baseUrl, headers, started } = await startProduct({ ...context, repoDir }, name);
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

export interface StartedProduct {
  readonly started: Started;
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dataDir: string;
}

/** What the environment of the bench says of these is not for the product that is measured. */
const UNSET = { CLICKHOUSE_URL: "", REDIS_URL: "", CELL: "", CELLS: "", WEIR_SECRETS_KEY: "" };

export interface ProductRun {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** A program with its arguments that runs Node. */
  readonly under?: readonly string[];
  /** Flags of Node. They come behind those of `npm start`, so that they count where both set the same one. */
  readonly flags?: readonly string[];
  /** The start may take so long. */
  readonly readyMs?: number;
}

export const PRODUCT_HOST = "127.0.0.1";

/** Starts the product of a checkout with an empty data folder, or with the one that is there under this name. */
export async function startProduct(
  context: TargetContext,
  name: string,
  { env = {}, args = [], under = [], flags = [], readyMs = 60_000 }: ProductRun = {},
): Promise<StartedProduct> {
  const { processes, repoDir } = context;
  const port = await freePort();
  const start = startOf(repoDir);
  const settings = { ...start.env, ...productEnv(context, name), PORT: String(port), ...env };
  const script = join(repoDir, "scripts/weir.mjs");
  const node = [process.execPath, ...start.flags, ...flags, script, ...args];
  const [command = "", ...words] = [...under, ...node];
  const started = await processes.start(name, command, words, { cwd: repoDir, env: settings });
  const baseUrl = `http://${PRODUCT_HOST}:${port}`;
  await untilReady(started, `${baseUrl}/readyz`, readyMs);
  const secret = readFileSync(join(settings.DATA_DIR, "first-key"), "utf8").trim();
  return { started, baseUrl, headers: { authorization: `Bearer ${secret}` }, dataDir: settings.DATA_DIR };
}

/** Environment of a product of this name: its folders, and the upstream. */
export const productEnv = ({ upstreamUrl, scratchDir, repoDir }: TargetContext, name: string) => ({
  ...UNSET,
  HOST: PRODUCT_HOST,
  DATA_DIR: join(scratchDir, `${name}-data`),
  CONFIG_DIR: configDir(name, repoDir, scratchDir),
  SIMULATOR_URL: upstreamUrl,
});

/** What the checkout's own `npm start` gives Node: flags, and for the allocator variables of the environment. */
function startOf(repoDir: string): { flags: readonly string[]; env: Readonly<Record<string, string>> } {
  const { scripts } = JSON.parse(readFileSync(join(repoDir, "package.json"), "utf8"));
  const words = String(scripts.start).split(" ");
  const assignments = words.filter((word) => /^[A-Z_]+=/.test(word));
  return {
    flags: words.filter((word) => word.startsWith("--")),
    env: Object.fromEntries(assignments.map((word) => word.split("="))),
  };
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
