/** A catalog over a real store whose clock and timers a test moves: its files can be rewritten, and its process restarted. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Catalog, openCatalog } from "../../../src/catalog/models/catalog.ts";
import { type Changelog, storedChangelog } from "../../../src/catalog/models/changelog.ts";
import { type PriceVersions, storedPriceVersions } from "../../../src/catalog/models/price-versions.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { ManualTime, START } from "../jobs/fixtures.ts";

export const PROVIDERS = `providers:
  - id: near
    name: Near Inc.
    base_url: http://127.0.0.1:9/v1
    dialects: [chat]
    data_policy: { trains: false, retention_days: 0, zdr: true }
    regions: [eu, us]
`;

/** The file of vendor `real` with its one model. @param fields of the model, a line each */
export const modelFile = (endpoints: readonly string[], fields = "context: 1000\n    max_output: 100") =>
  `vendor: real
models:
  - id: real/model
    name: Model
    modalities: { in: [text], out: [text] }
    capabilities: []
    ${fields}
    endpoints:
${endpoints.map((endpoint) => `      - { ${endpoint} }\n`).join("")}`;

/** `scheduled` as pairs of seconds after the start of the test's time and the price of input. */
export function near(
  region: string,
  input: number,
  scheduled: readonly (readonly [number, number])[] = [],
): string {
  const dated = scheduled.map(
    ([s, usd]) =>
      `{ from: ${new Date(START + s * 1000).toISOString()}, price: { input: ${usd}, output: 4 } }`,
  );
  return `provider: near, upstream_model: m, region: ${region}, price: { input: ${input}, output: 4 }, scheduled: [${dated.join(", ")}]`;
}

export class CatalogWorld {
  readonly dir = mkdtempSync(join(tmpdir(), "weir-catalog-"));
  readonly time = new ManualTime();
  readonly failures: unknown[] = [];
  store!: Store;
  versions!: PriceVersions;
  changelog!: Changelog;
  catalog!: Catalog;
  /** Assigning versions fails while it is set: a full disk. */
  isFull = false;

  constructor() {
    mkdirSync(join(this.dir, "models"));
    writeFileSync(join(this.dir, "providers.yaml"), PROVIDERS);
  }

  write(text: string, file = "real"): void {
    writeFileSync(join(this.dir, `models/${file}.yaml`), text);
  }

  async open(): Promise<void> {
    const { time } = this;
    this.store = openStore(join(this.dir, "data"), { actsTwice: true });
    this.versions = storedPriceVersions(this.store, time);
    this.changelog = storedChangelog(this.store, time, this.versions);
    this.catalog = await openCatalog({
      configDir: this.dir,
      env: {},
      simulatorUrl: undefined,
      changelog: this.changelog,
      clock: time,
      timers: time,
      onFailure: (error: unknown) => this.failures.push(error),
      priceVersions: {
        history: this.versions.history,
        assign: (...given) =>
          this.isFull ? Promise.reject(new Error("the disk is full")) : this.versions.assign(...given),
      },
    });
  }

  async stop(): Promise<void> {
    this.catalog.close();
    await this.store.close();
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.open();
  }

  async end(): Promise<void> {
    await this.stop();
    rmSync(this.dir, { recursive: true });
  }

  /** List price of input in force at an endpoint, USD per million tokens, and its version. */
  price(region = "eu"): [number, string] {
    const endpoints = this.catalog.current().models.get("real/model")?.endpoints ?? [];
    const prices = endpoints.find((e) => e.region === region)?.listPrices;
    return [(prices?.input ?? 0) / 1000, prices?.version ?? ""];
  }

  /** Lets the timers that are due fire, and what they began come to an end. */
  async settle(): Promise<void> {
    this.time.fire();
    const before = this.catalog.current();
    for (let turn = 0; turn < 200 && this.catalog.current() === before; turn++) await nextTurn();
  }

  /** The changelog, oldest first, as kind, summary, and seconds after the start of both times. */
  log(): [string, string, number, number][] {
    const seconds = (ms: number) => (ms - START) / 1000;
    return this.changelog
      .of("real/model")
      .toReversed()
      .map((e) => [e.kind, e.summary, seconds(e.effectiveMs), seconds(e.createdMs)]);
  }
}
