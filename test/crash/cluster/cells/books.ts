/** Books of an installation at rest: what clients hold, the ledger, the balance, and the tables of ClickHouse say the same. */
import { strict as assert } from "node:assert";
import { type Entry, sum } from "../../../support/money/fixtures.ts";
import { until } from "../../../support/wait.ts";
import type { Held } from "./clients.ts";
import type { CellsWorld } from "./world.ts";

/** Ids that a failure names. */
const NAMED = 5;

export class Books {
  readonly #world: CellsWorld;
  readonly #held: Held;
  /** Newest entry that was read, and the sum up to it. */
  #seq = 0;
  #sum = 0;
  readonly #charges = new Map<string, number>();
  readonly #grants = new Map<string, number>();

  constructor(world: CellsWorld, held: Held) {
    this.#world = world;
    this.#held = held;
  }

  /** So many calls were charged. */
  get charged(): number {
    return this.#charges.size;
  }

  /** Call it when the installation is at rest. @throws AssertionError for what is not as it must be */
  async check(): Promise<void> {
    await this.#readLedger();
    this.#compareHeld();
    await this.#compareBalance();
    await this.#compareSpend();
    await this.#compareTables();
    await this.#compareKeys();
  }

  /** Entries that are new since the last time: numbered on from there. */
  async #readLedger(): Promise<void> {
    const pages: Entry[][] = [];
    for (let cursor = "", oldest = Number.POSITIVE_INFINITY; oldest > this.#seq + 1; ) {
      const path = `/v1/credits/ledger?limit=500&cursor=${encodeURIComponent(cursor)}`;
      const page = await this.#world.read<{ data: (Entry & { ref_id?: string })[]; next_cursor: string }>(
        path,
      );
      pages.push(page.data);
      oldest = page.data.at(-1)?.seq ?? 0;
      cursor = page.next_cursor;
      if (cursor === "") break;
    }
    const fresh = pages
      .flat()
      .reverse()
      .filter(({ seq }) => seq > this.#seq);
    const first = this.#seq + 1;
    assert.deepEqual(
      fresh.map(({ seq }) => seq),
      fresh.map((_, at) => first + at),
      "entries are numbered one after the other",
    );
    for (const entry of fresh) this.#enter(entry);
    this.#seq += fresh.length;
  }

  #enter({ kind, amount_micro_usd: amount, request_id = "", ...more }: Entry & { ref_id?: string }): void {
    this.#sum += amount;
    if (kind === "settle") {
      assert.ok(!this.#charges.has(request_id), `${request_id} is charged twice`);
      this.#charges.set(request_id, -amount);
    } else if (kind === "grant") {
      const { ref_id: reference = "" } = more;
      assert.ok(!this.#grants.has(reference), `grant ${reference} is posted twice`);
      this.#grants.set(reference, amount);
    }
  }

  #compareHeld(): void {
    const { answers, grants, faults } = this.#held;
    assert.deepEqual(faults.slice(0, NAMED), []);
    for (const [id, cost] of answers)
      assert.equal(this.#charges.get(id) ?? 0, cost, `what ${id} cost is not what was charged`);
    answers.clear();
    for (const [reference, amount] of grants)
      assert.equal(this.#grants.get(reference), amount, `grant ${reference} was answered and is not posted`);
  }

  async #compareBalance(): Promise<void> {
    const credits = await this.#world.read<Record<string, number>>("/v1/credits");
    assert.equal(credits.held_micro_usd, 0);
    assert.equal(credits.available_micro_usd, this.#sum, "the balance is not the sum of the ledger");
    const kept = await this.#world.hash(`credit:${this.#world.orgId}`);
    assert.deepEqual([Number(kept?.get("n")), Number(kept?.get("b"))], [this.#seq, this.#sum]);
  }

  async #compareSpend(): Promise<void> {
    const spent = sum(this.#charges.values());
    const { keys, org } = await this.#world.read<{
      keys: { spend_month_micro: number }[];
      org: { spend_month_micro: number };
    }>("/v1/limits");
    assert.equal(
      sum(keys.map((key) => key.spend_month_micro)),
      spent,
      "the spend of keys is not what was charged",
    );
    assert.equal(org.spend_month_micro, spent, "the spend of the org is not what was charged");
  }

  /** Each charge has one row of `requests` and one of `ledger`, with its cost; no call under an `Idempotency-Key` was charged twice. */
  async #compareTables(): Promise<void> {
    const org = `org_id = '${this.#world.orgId}'`;
    const records = await this.#rows(
      `SELECT request_id, sum(cost_micro), count() FROM weir.requests WHERE ${org} GROUP BY 1`,
    );
    const twice = records.filter(([, , rows]) => rows !== "1").map(([id]) => id);
    assert.deepEqual(twice.slice(0, NAMED), [], "requests with more than one row");
    this.#assertCharges(records, "the costs in requests are not the charges");
    const entries = await this.#rows(
      `SELECT request_id, -amount_micro FROM weir.ledger FINAL WHERE ${org} AND kind = 'settle'`,
    );
    assert.equal(entries.length, this.#charges.size, "charges in the table of the ledger");
    this.#assertCharges(entries, "the table of the ledger has not the charges");
    await this.#allListed(org);
    const again = await this.#rows(
      `SELECT tags['call'] AS call, groupArray(request_id) FROM weir.requests WHERE ${org} AND cost_micro > 0 AND call != '' GROUP BY 1 HAVING count() > 1`,
    );
    assert.deepEqual(again.slice(0, NAMED), [], "calls that were charged twice");
  }

  /** All entries but the first, which was posted before the cells were, come to the table: postings by a job, a moment later. */
  async #allListed(org: string): Promise<void> {
    let listed: string[][] = [];
    await until("all entries are listed", async () => {
      listed = await this.#rows(`SELECT DISTINCT seq FROM weir.ledger WHERE ${org} AND seq > 1 ORDER BY seq`);
      return listed.length >= this.#seq - 1;
    }).catch((error: Error) => {
      const missing = new Set(Array.from({ length: this.#seq - 1 }, (_, at) => at + 2));
      for (const [seq] of listed) missing.delete(Number(seq));
      assert.fail(`${error.message}: ${[...missing].slice(0, NAMED)} of ${this.#seq} are not there`);
    });
    assert.equal(listed.length, this.#seq - 1, "more entries are listed than there are");
  }

  #assertCharges(rows: readonly string[][], what: string): void {
    const costs = new Map(rows.map(([id = "", cost]) => [id, Number(cost)]));
    const wrong = [...this.#charges].filter(([id, amount]) => (costs.get(id) ?? 0) !== amount);
    const more = [...costs].filter(([id, cost]) => cost > 0 && !this.#charges.has(id));
    assert.deepEqual(
      { wrong: wrong.slice(0, NAMED), more: more.slice(0, NAMED) },
      { wrong: [], more: [] },
      what,
    );
  }

  async #rows(query: string): Promise<string[][]> {
    let rows: string[][] = [];
    // The engine may be on its way back.
    await until("ClickHouse answers", async () => {
      const found = await this.#world.sql(query).catch(() => undefined);
      rows = found ?? [];
      return found !== undefined;
    });
    return rows;
  }

  async #compareKeys(): Promise<void> {
    for (const made of this.#held.keys.values()) {
      const { id, secret, limits, revoked } = made;
      const key = await this.#world.read<{ status: string; limits: { rpm: number } }>(`/v1/keys/${id}`);
      if (revoked !== "asked") assert.equal(key.status, revoked === "yes" ? "revoked" : "active", id);
      assert.ok(limits.includes(key.limits.rpm), `${id}: rpm is ${key.limits.rpm}, none of ${limits}`);
      const { status } = await until(
        `${id} is known`,
        () => this.#world.ask("GET", "/v1/limits", { key: secret }),
        (answer) => answer.status !== 503,
      );
      assert.equal(status, key.status === "revoked" ? 401 : 200, id);
      if (key.status === "revoked") this.#held.keys.delete(id);
    }
  }
}
