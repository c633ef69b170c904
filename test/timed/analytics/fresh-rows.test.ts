/** Rows that analysts of the embedded engine read are those of the moment, where listing the parts takes no time. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSide, type Side } from "../../engine/analytics/isolation.fixtures.ts";
import { reason } from "../../support/analytics/confined.fixtures.ts";
import { equals, until } from "../../support/wait.ts";

const ROWS = 12;
/** A listing that the machine delays makes the next statements read what was listed before, for ten times as long. */
const TRIES = 3;

describe.skipIf(reason !== "")(`S1: the analysts' process ${reason}`, () => {
  let side: Side;
  beforeAll(async () => {
    side = await openSide(["org_a", "org_b"]);
  });
  afterAll(() => side?.close());

  const rowsOf = async (table: string, which = "1") =>
    Number((await side.ask(`SELECT countIf(${which}) FROM ${table}`)).text);
  const count = () => rowsOf("requests");
  const command = (sql: string) => side.clickhouse.command(sql);

  /**
   * Expects that the statement right behind a change sees it, in one of some tries; in the others a later one does.
   * @param change returns what is seen behind it
   */
  async function isSeenAtOnce(look: () => Promise<unknown>, change: () => Promise<unknown>): Promise<void> {
    const seen: unknown[] = [];
    for (let left = TRIES; left > 0; left--) {
      const wanted = await change();
      const first = await look();
      if (first === wanted) return;
      seen.push([first, wanted]);
      await until("it is seen", look, equals(wanted));
    }
    expect.fail(`seen at once and wanted: ${JSON.stringify(seen)}`);
  }

  it("S1: shows each row to the statement after its insertion, and each once when parts are merged", async () => {
    let rows = await until("its process is up", count, (seen) => seen >= 0);
    const insert = async () => {
      await command("INSERT INTO requests (ts, org_id) SELECT now(), 'org_a'");
      return ++rows;
    };
    for (let row = 0; row < ROWS; row++) await isSeenAtOnce(count, insert);
    const threeCounts = async () => String(await Promise.all([count(), count(), count()]));
    await isSeenAtOnce(threeCounts, async () => {
      await until("it is shown", count, equals(await insert()));
      await command("OPTIMIZE TABLE requests FINAL");
      return String([rows, rows, rows]);
    });
  });

  const PAYLOAD =
    "INSERT INTO payloads (ts, org_id, expires_at) SELECT now(), 'org_a', now() + INTERVAL 1 DAY";
  const REQUEST = "INSERT INTO requests (ts, org_id, user_agent) SELECT now(), 'org_a', 'plain'";
  const payloads = () => rowsOf("payloads");
  const named = () => rowsOf("requests", "user_agent = 'plain'");

  it.each([
    ["deleted", PAYLOAD, payloads, "ALTER TABLE payloads DELETE WHERE org_id = 'org_a'"],
    ["changed", REQUEST, named, "ALTER TABLE requests UPDATE user_agent = '' WHERE org_id = 'org_a'"],
    ["truncated", PAYLOAD, payloads, "TRUNCATE TABLE payloads"],
  ])("S1: shows nothing of rows that were %s, from the next statement on", async (_, plant, left, erase) => {
    await isSeenAtOnce(left, async () => {
      const before = await left();
      await command(plant);
      await until("there is something to erase", left, equals(before + 1));
      await command(erase.startsWith("ALTER") ? `${erase} SETTINGS mutations_sync = 1` : erase);
      return 0;
    });
  });
});
