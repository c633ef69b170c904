/**
 * What goes up when the dataset of an installation is made from the folder of one gateway: a list of parts. A room whose rows are
 * the installation's, and are not rows of shared tables, adds a part.
 */

import { keyText } from "../../../store/tables/table.ts";
import { isSharedTable } from "../replica/table-classes.ts";
import { COUNT_PARTS } from "./counts.ts";
import { KEPT_PARTS } from "./kept.ts";
import { MONEY_PARTS } from "./money.ts";
import type { DatasetPart } from "./part.ts";

const documents: DatasetPart = {
  *rows({ store, tables }) {
    for (const table of tables.filter(isSharedTable)) {
      for (const { key, value } of store.bytes(table).range())
        yield { table, text: keyText(key), bytes: value };
    }
  },
};

export const DATASET_PARTS: readonly DatasetPart[] = [
  documents,
  ...MONEY_PARTS,
  ...KEPT_PARTS,
  ...COUNT_PARTS,
];
