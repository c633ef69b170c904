/** What goes up of a folder's kept answers: for repeated Idempotency-Keys, stored responses, and conversations. They stay in the folder too. */

import {
  answersInFolder,
  conversationsInFolder,
  responsesInFolder,
} from "../../../inference/exchange/kept/kept-in-folder.ts";
import {
  answerOperation,
  conversationOperation,
  type Keeping,
  MOST_BYTES,
  responseOperation,
} from "../answers/packed.ts";
import { Blobs, type Operation } from "../exchange/exchange.ts";
import type { UploadStep } from "../replica/upload.ts";
import type { DatasetPart, UploadedFolder } from "./part.ts";

const ROWS_A_STEP = 200;
const BYTES_A_STEP = 2 * 1024 * 1024;

const port = ({ store, clock }: UploadedFolder) => ({ store, nowMs: clock.now(), mostBytes: MOST_BYTES });

/** A key whose call was under way when the gateway was killed is in no row: it is free, as at the gateway's next start. */
const answers: DatasetPart = {
  *steps(folder) {
    yield* stepsOf(answersInFolder(port(folder)), ({ key: [id = ""], row }, keeping) =>
      answerOperation(id, row, keeping),
    );
  },
};

const responses: DatasetPart = {
  *steps(folder) {
    yield* stepsOf(responsesInFolder(port(folder)), ({ key: [owner = "", id = ""], row }, keeping) =>
      responseOperation(owner, id, row, keeping),
    );
  },
};

/** Those beyond the bytes that Redis keeps are read from the folder's cell. */
const conversations: DatasetPart = {
  *steps(folder) {
    yield* stepsOf(
      conversationsInFolder(port(folder)),
      ({ key: [owner = "", id = ""], row, isWithin }, keeping) =>
        conversationOperation(owner, id, row, keeping, isWithin),
    );
  },
};

function* stepsOf<Row extends { readonly leftMs: number }>(
  rows: Iterable<Row>,
  operationOf: (row: Row, keeping: Keeping) => Operation,
): Generator<UploadStep> {
  let operations: Operation[] = [];
  let blobs = new Blobs();
  for (const row of rows) {
    operations.push(operationOf(row, { blobs, leftMs: row.leftMs, mostBytes: MOST_BYTES }));
    const bytes = blobs.list.reduce((sum, { length }) => sum + length, 0);
    if (operations.length < ROWS_A_STEP && bytes < BYTES_A_STEP) continue;
    yield { operations, blobs };
    [operations, blobs] = [[], new Blobs()];
  }
  if (operations.length > 0) yield { operations, blobs };
}

export const KEPT_PARTS: readonly DatasetPart[] = [answers, responses, conversations];
