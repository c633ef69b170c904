/** A part of what goes up when the dataset of an installation is made from the folder of one gateway. */

import type { Clock } from "../../../base/clock.ts";
import type { Store } from "../../../store/store.ts";
import type { DatasetRow } from "../dataset/dataset.ts";
import type { UploadStep } from "../replica/upload.ts";

/** The folder of a gateway that was stopped. */
export interface UploadedFolder {
  readonly store: Store;
  readonly clock: Clock;
  /** Names of its tables, without those of the store itself. */
  readonly tables: readonly string[];
}

/** Whatever a part yields may be sent again after a crash, to a dataset that is empty then. */
export interface DatasetPart {
  /** Rows that every cell has. */
  rows?(folder: UploadedFolder): Iterable<DatasetRow>;
  /** Exchanges, after all rows of all parts. */
  steps?(folder: UploadedFolder): Iterable<UploadStep>;
}
