/** A batch is a range of numbers: everything in it was read, or it would be acknowledged without having been sent. */
import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { openOutbox } from "../../../src/analytics/outbox/outbox.ts";
import { decodeRow } from "../../../src/record/row.ts";
import { openStore } from "../../../src/store/store.ts";
import { record, rowsOfBatch, temporaryFolder } from "../../support/analytics/records.ts";

test.each([
  // So many are committed, so many more on their way while the batch is made. 250 rows are read in one turn.
  [240, 20],
  [0, 260],
  [249, 2],
  [250, 300],
  [999, 1],
])(
  "T35: with %d rows committed and %d on their way, no row of a batch is passed over",
  async (there, coming) => {
    const folder = temporaryFolder();
    const store = openStore(folder);
    const outbox = openOutbox(store);
    const sent: string[] = [];
    const all: string[] = [];
    const put = () => {
      const made = record();
      all.push(made.requestId);
      return store.act(() => outbox.add(made));
    };
    await Promise.all(Array.from({ length: there }, put));
    const commits = Array.from({ length: coming }, put);
    for (let committed = false; ; ) {
      const found = await outbox.nextBatch({ rows: 5000, bytes: 1e9 }, () => `token-${sent.length}`);
      if (found === undefined) {
        if (committed) break;
        await Promise.all(commits);
        committed = true;
        continue;
      }
      sent.push(...(await rowsOfBatch(found)).map((row) => decodeRow(row)?.requestId ?? ""));
      await outbox.acknowledge(found.batch);
    }
    expect(sent).toEqual(all);
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  },
);
