/**
 * What goes up when the dataset of an installation is made from the folder of one gateway: a list of parts. A room whose rows are
 * the installation's, and are not rows of shared tables, adds a part.
 */

import { keyText } from "../../store/tables/table.ts";
import { COUNT_PARTS } from "./dataset-counts.ts";
import { KEPT_PARTS } from "./dataset-kept.ts";
import { MONEY_PARTS } from "./dataset-money.ts";
import type { DatasetPart } from "./dataset-part.ts";
import { tableClass } from "./table-classes.ts";

const documents: DatasetPart = {
  name: "documents",
  *rows({ store, tables }) {
    for (const table of tables.filter((name) => tableClass(name) === "shared")) {
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
