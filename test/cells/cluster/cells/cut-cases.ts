/** Every operation of an exchange, and every other script, in a state in which it has something to do. */

import { DAY_MS } from "../../../../src/base/time.ts";
import { ANY_TIME } from "../../../../src/cluster/cells/clock/shared-clock.ts";
import type { Operation } from "../../../../src/cluster/cells/exchange/exchange.ts";
import { SCRIPTS } from "../../../../src/cluster/cells/scripts/scripts.ts";

export const DATASET_ID = "c0ffee";
/** The cell whose connections are cut, and one that has something to do with it. */
export const CELL = "cut";
export const OTHER = "other";
/** Redis's time while exchanges run. */
export const NOW_MS = 1_900_000_000_000;
const DAY = "2030-03-17";
/** In place of the term, which is another one in each test. */
export const TERM = "the term";
/** Number of the bytes that each exchange of these tests brings. */
const BLOB = 1;

export interface OperationCase {
  /** By a former life of the cell. */
  readonly formerly?: Operation;
  /** By the cell, before. */
  readonly before?: readonly Operation[];
  /** By the other cell, behind these. */
  readonly other?: Operation;
  /** The term is new: nobody has restated. */
  readonly isNewTerm?: boolean;
  /** The dataset comes from a backup. */
  readonly isRestored?: boolean;
  /** It only reads. */
  readonly isRead?: boolean;
  readonly send: Operation;
}

const BEGUN: Operation = ["credit_begin", ["org", 3, 10_000]];
const LEASED: Operation = ["credit", 0, 0, "", ["org", 0, 0, 100, 500, -1]];
const CLAIMED: Operation = ["claim", "id", "fingerprint", 100];
const ANSWERED: Operation = ["answer", "id", "org", "fingerprint", "facts", DAY_MS, BLOB, 1_000_000];
/** The claim is that of `CLAIMED`. */
const CONVERSED: Operation = [
  "conversation",
  "owner",
  "conv",
  CLAIMED[1] as string,
  1,
  DAY_MS,
  BLOB,
  1_000_000,
];
const TOLD: Operation = ["calls", ["id", "{}"], []];
const STORED: Operation = ["response", "owner", "id", ["item"], DAY_MS, BLOB, 1_000_000];
/** A charge of 300 on a key with a hard budget of 5000 and a soft one of 200. */
const SPENT = [
  "k:key",
  DAY,
  NOW_MS - 1000,
  NOW_MS - DAY_MS,
  300,
  DAY,
  NOW_MS - 10,
  100,
  500,
  -1,
  5000,
  200,
  NOW_MS + DAY_MS,
  -1,
  "2030-03-10",
  NOW_MS + DAY_MS,
];
/** A call that asks for the only slot of a key. */
const SLOT: Operation = ["limit", "key", 0, 0, 1, [], [], [0], [0, 0, 0, 0, 0, 0, 0], 0, 0];
const ADDED: Operation = ["merge", "counts", "sum", [["row", 2]], 0, 10];
const WRITES = ["keys", '"key"', "", BLOB];

const DOCUMENTS: Readonly<Record<string, OperationCase>> = {
  acts: {
    before: [BEGUN],
    send: ["acts", 1, DATASET_ID, [["1", [], [], WRITES, [["org", 3, 0, -400]]]], 1],
  },
  ticket: { send: ["ticket"] },
  release: { before: [["ticket"]], send: ["release"] },
  beat: { send: ["beat", 1, 5] },
  restate: { send: ["restate", 1, DATASET_ID], isNewTerm: true, isRead: true },
  restated: { send: ["restated"], isNewTerm: true },
  leave: { before: [["beat", 1, 5]], send: ["leave", 1, 1] },
  merge: { before: [ADDED], send: ADDED },
  forget: {
    before: [
      ["acts", 1, DATASET_ID, [["1", [], [], WRITES, []]], 1],
      ["acts", 2, `${CELL}:1:1`, [["2", [], [], ["keys", '"key"', "", 0], []]], 1],
    ],
    send: ["forget", 3, ["keys"]],
  },
};

const MONEY: Readonly<Record<string, OperationCase>> = {
  credit: { before: [BEGUN], send: ["credit", 0, 2, "req_2", ["org", 2, 300, 100, 500, -1], SPENT] },
  credit_position: { before: [BEGUN, LEASED], send: ["credit_position"], isRead: true },
  credit_rewind: { send: ["credit_rewind", 3, "req_3"], isRestored: true },
  credit_skip: { send: ["credit_skip", 0, 3, "req_3"] },
  credit_return: { before: [BEGUN, LEASED], send: ["credit_return", 10] },
  credit_restate: { before: [BEGUN, LEASED], send: ["credit_restate", 0, ["org", 700]] },
  credit_funds: { before: [BEGUN], send: ["credit_funds", "org"], isRead: true },
  credit_freeze: { before: [BEGUN], send: ["credit_freeze", "org"] },
  credit_thaw: { before: [["credit_freeze", "org"]], send: ["credit_thaw", "org"] },
  credit_begin: { send: BEGUN },
  budget_restate: { send: ["budget_restate", ["k:key", 700]] },
  spend: { send: ["spend", ["o:org", DAY, NOW_MS - 1000, NOW_MS - DAY_MS]], isRead: true },
  spend_begin: { send: ["spend_begin", ["o:org", DAY, 100, 1000, 50, ["2030-03-15", 70]]] },
  spend_join: {
    before: [["spend_begin", ["k:later", DAY, 100, 1000, 0, []]]],
    send: ["spend_join", ["k:later", "k:key", DAY, NOW_MS - 1000, NOW_MS - DAY_MS]],
  },
  limit: { send: ["limit", "key", 60, 4000, 10, [], [], [100], [4, 400, 2, 64, 6400, 0, 5000], 0, 0] },
  wanted: { before: [SLOT], other: SLOT, send: ["wanted"] },
};

const ANSWERS: Readonly<Record<string, OperationCase>> = {
  claim: { send: CLAIMED },
  unclaim: { before: [CLAIMED], send: ["unclaim", "id"] },
  unclaim_any: { formerly: CLAIMED, send: ["unclaim_any", "id"] },
  claims_mine: { send: ["claims_mine", ["id", "fingerprint"]] },
  claims_over: { formerly: CLAIMED, send: ["claims_over"] },
  answer: { before: [CLAIMED], send: ANSWERED },
  forget_answers: { before: [CLAIMED, ANSWERED], send: ["forget_answers", "org", 1] },
  response: { send: STORED },
  forget_response: { before: [STORED], send: ["forget_response", "owner", "id"] },
  forget_responses: { before: [STORED], send: ["forget_responses", "owner", 1] },
  calls: { before: [TOLD], send: ["calls", ["later", "{}"], ["id"]] },
  calls_former: { formerly: TOLD, send: ["calls_former"] },
  calls_left: { before: [TOLD], send: ["calls_left", TERM] },
  conversation_new: { send: ["conversation_new", "owner", "conv", DAY_MS, 5] },
  conversation: { before: [CLAIMED], send: CONVERSED },
  forget_conversation: { before: [CONVERSED], send: ["forget_conversation", "owner", "conv"] },
  forget_conversations: { before: [CONVERSED], send: ["forget_conversations", "owner", 1] },
};

export const OPERATIONS: Readonly<Record<string, OperationCase>> = { ...DOCUMENTS, ...MONEY, ...ANSWERS };

/** Names that the files of the exchange assign into `operations`. */
export const operationNames = (): string[] =>
  [...SCRIPTS.exchange.text.matchAll(/^operations\.(\w+)\s*=/gm)].map(([, name]) => name as string);

export interface ScriptCase {
  /** How far the dataset is made. Default: cells use it. */
  readonly stage?: "nothing" | "filling";
  readonly isRead?: boolean;
  /** A repeat begins a life more, which ends the one that nobody leads. */
  readonly hasLife?: boolean;
  /** What a repeat answers where the script ran before. Default: the same. */
  readonly again?: unknown;
  /** What it is called with, behind the id; several are several scripts in one. */
  readonly calls: (term: string) => readonly (readonly (string | number)[])[];
}

/** But for `clock`, which answers with the time: it is asked again until clocks agree. */
export const OTHER_SCRIPTS: Readonly<
  Record<Exclude<keyof typeof SCRIPTS, "exchange" | "clock">, ScriptCase>
> = {
  alive: { isRead: true, calls: () => [[]] },
  call: { isRead: true, calls: () => [["id"]] },
  cells: { isRead: true, calls: () => [[1000]] },
  look: { isRead: true, calls: (term) => [[term, "frozen:org"]] },
  page: {
    isRead: true,
    calls: (term) => [
      [term, "position", CELL],
      [term, "tables", "0"],
      [term, "rows", "keys", "0", 10],
      [term, "have", "keys", '"key"', '"none"'],
    ],
  },
  // There is a dataset now, whoever began it: `weir cells init` says so, and clears it when it is run again.
  create: { stage: "nothing", again: 0, calls: () => [[":upload", 1]] },
  fill: { stage: "filling", calls: () => [["keys", '"key"', "row"]] },
  open: { stage: "filling", calls: () => [["upload"]] },
  enter: { hasLife: true, calls: () => [[CELL, "", 1, 1, 0, ...ANY_TIME]] },
  restored: { calls: () => [[]] },
  retire: { hasLife: true, calls: () => [[CELL, -Number.MAX_SAFE_INTEGER, ...ANY_TIME, 0]] },
};
