/** What goes up of what a folder counted and no act depends on: when keys were last used, and results of canaries. */

import { sliced } from "../../../base/lists.ts";
import type { CanaryRow } from "../../../routing/policies/canary/canary-row.ts";
import { countsName } from "../../../routing/policies/canary/shared-canaries.ts";
import { packContent } from "../../../store/lmdb/checked.ts";
import { keyText } from "../../../store/tables/table.ts";
import type { DatasetRow } from "../dataset/dataset.ts";
import { mergeOperation } from "../replica/merged-rows.ts";
import type { DatasetPart } from "./part.ts";

const ROWS_A_STEP = 1000;

const lastUsed: DatasetPart = {
  *steps({ store }) {
    const table = "account.key_last_used";
    for (const rows of sliced(store.table<number>(table).range(), ROWS_A_STEP)) {
      const merged = rows.map(({ key, value }) => [String(key), value] as const);
      yield { operations: [mergeOperation({ table, kind: "max" }, merged)] };
    }
  },
};

const CANARIES = "policies.canaries";
type CanaryKey = [orgId: string, policy: string, version: number, endpointId: string];

/** One that failed stays out at every cell, and nobody is told of it once more. */
const canaries: DatasetPart = {
  *rows({ store }): Generator<DatasetRow> {
    for (const { key, value } of store.table<CanaryRow>(CANARIES).range())
      if (value.state === "red")
        yield { table: "policies.canary_reds", text: keyText(key), bytes: packContent(value) };
  },
  *steps({ store }) {
    for (const rows of sliced(store.table<CanaryRow>(CANARIES).range(), ROWS_A_STEP)) {
      const merged = rows.map(({ key: canaryKey, value }) => {
        const [orgId, policy, version] = canaryKey as CanaryKey;
        const name = countsName({ key: { orgId, policy, version }, ...value });
        return [name, value.samples, value.failures] as const;
      });
      yield { operations: [mergeOperation({ table: CANARIES, kind: "sum" }, merged)] };
    }
  },
};

export const COUNT_PARTS: readonly DatasetPart[] = [lastUsed, canaries];
