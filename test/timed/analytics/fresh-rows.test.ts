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

  const count = async () => Number((await side.ask("SELECT count() FROM requests")).text);

  it("S1: shows each row to the statement after its insertion", async () => {
    let inserted = await until("its process is up", count, (rows) => rows >= 0);
    /** Whether the statement behind an insertion shows it. */
    const isShownAtOnce = async () => {
      await side.clickhouse.command("INSERT INTO requests (ts, org_id) SELECT now(), 'org_a'");
      inserted++;
      const isShown = (await count()) === inserted;
      await until("it is shown", count, equals(inserted));
      return isShown;
    };
    for (let row = 0; row < ROWS; row++) {
      let isShown = await isShownAtOnce();
      for (let left = TRIES - 1; !isShown && left > 0; left--) isShown = await isShownAtOnce();
      expect(isShown).toBe(true);
    }
  });
});
