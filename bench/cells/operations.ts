/**
 * The exchanges that cells make with Redis, one kind after the other: what each takes of Redis's processor, of its append-only file, and
 * of time. The operations are those of `src/cluster/cells/scripts/exchange/`, in the shape that a cell sends them.
 */
import { DAY_MS } from "../../src/base/time.ts";
import { Blobs, type Lane, type Operation } from "../../src/cluster/cells/exchange/exchange.ts";

/** One kind of exchange. */
export interface Kind {
  readonly name: string;
  /** What one of it is made of, for the table. */
  readonly about: string;
  /** Sends the exchange of this number, from 0. */
  send(lane: Lane, number: number): Promise<unknown>;
}

const ANSWER_BYTES = 1_024;
const ROW_BYTES = 500;
const CHARGE_MICRO_USD = 100;
const LEASE_MICRO_USD = 1_000_000;
const MOST_ANSWERS = 10_000_000;
const MOST_BYTES = 256 * 1024 * 1024;
const FINGERPRINT = "f".repeat(64);
/** Number of the first org that nobody has called for. */
const FIRST_NEW = 1_000_000;
const ID = "i".repeat(40);

/** Balances of the orgs that are charged. */
export const funds = (orgs: number): Operation => [
  "credit_begin",
  Array.from({ length: orgs }, (_, org) => [nameOf(org), 0, 1e12]).flat(),
];

const nameOf = (org: number): string => `org_${String(org).padStart(26, "0")}`;

export const KINDS: readonly Kind[] = [
  {
    name: "beat",
    about: "a cell says how far it is",
    send: (lane) => lane.send([["beat", 1]]),
  },
  {
    name: "refill",
    about: "a lease of one org grows or shrinks, no charge",
    send: (lane, number) => lane.send([credit(number, 1, 0)]),
  },
  ...[1, 10, 100].map((orgs) => ({
    name: `settle-${orgs}`,
    about: `charges of ${orgs === 1 ? "one org" : `${orgs} orgs`}, each with a key's, a project's and the org's spend`,
    send: (lane: Lane, number: number) => lane.send([credit(number, orgs, 20)]),
  })),
  {
    name: "limit",
    about: "a key asks for its next batch of rpm, tpm and slots",
    send: (lane, number) =>
      lane.send([
        [
          "limit",
          `key_${number % 50}`,
          600_000,
          1e9,
          0,
          [],
          [],
          [],
          [10, 10_000, 0, 200, 200_000, 0, 5000],
          0,
          0,
        ],
      ]),
  },
  {
    name: "new-org",
    about: "the first charge of an org, a project and a key: what Redis keeps of each",
    send: (lane, number) => {
      const org = FIRST_NEW + number;
      return lane.send([["credit_begin", [nameOf(org), 0, 1e12]], credit(number, 1, 1, org)]);
    },
  },
  {
    name: "new-key",
    about: "a key's first 20 calls of a minute, asked for one by one: what Redis keeps of its windows",
    send: (lane, number) =>
      lane.send([
        [
          "limit",
          `new_${number}`,
          600_000,
          1e9,
          0,
          [],
          [],
          Array(20).fill(100),
          [10, 10_000, 0, 200, 200_000, 0, 5000],
          0,
          0,
        ],
      ]),
  },
  {
    name: "claim",
    about: "an Idempotency-Key is claimed",
    send: (lane, number) => lane.send([["claim", `${ID}${number}`, FINGERPRINT, MOST_ANSWERS]]),
  },
  {
    name: "answer",
    about: "its answer of 1 KB is kept, which ends the claim",
    send(lane, number) {
      const blobs = new Blobs();
      const blob = blobs.add(Buffer.alloc(ANSWER_BYTES, 120));
      const facts = "req_00000000000000000000000000:200";
      return lane.send(
        [["answer", `${ID}${number}`, nameOf(0), FINGERPRINT, facts, DAY_MS, blob, MOST_BYTES]],
        blobs,
      );
    },
  },
];

/**
 * An act that reads a row and two ranges, and writes two rows of 500 bytes and an event.
 * @param start version of the dataset, and the act that made it
 */
export function actKind(start: { version: number; origin: string }, life: string): Kind {
  let { version, origin } = start;
  return {
    name: "act",
    about: "an act of three rows, which all cells then read from the stream",
    async send(lane, number) {
      const blobs = new Blobs();
      const row = blobs.add(Buffer.alloc(ROW_BYTES, 120));
      const id = number + 1;
      const writes = [
        "keys",
        `["k${number % 200}"]`,
        "",
        row,
        "key_names",
        `["p","${number % 200}"]`,
        `["p"]`,
        row,
        "events",
        `["o",${number}]`,
        `["o"]`,
        row,
      ];
      const act = [id, ["keys", `["k${number % 200}"]`], ["keys", "", "key_names", `["p"]`], writes, []];
      const answers = await lane.send([["acts", version, origin, [act]]], blobs);
      const [committed, now, why] = answers[0] ?? [];
      if (committed !== 1) throw new Error(`the act was refused: ${String(why)}`);
      version = Number(now);
      origin = `bench:${life}:${id}`;
    },
  };
}

/**
 * @param count charges of each org; 0: its lease alone
 * @param first number of the first org
 */
function credit(number: number, orgs: number, count: number, first = 0): Operation {
  const [parts, scopes]: (string | number)[][] = [[], []];
  const sum = count * CHARGE_MICRO_USD;
  const today = new Date().toISOString().slice(0, 10);
  const startsMs = Date.parse(today);
  const monthStartsMs = Date.parse(`${today.slice(0, 7)}-01`);
  // What is held changes with each exchange, so that there is something to write.
  const held = 1_000 + (number % 2);
  for (let org = first; org < first + orgs; org++) {
    parts?.push(nameOf(org), count, sum, held, LEASE_MICRO_USD, -1);
    if (count === 0) continue;
    for (const scope of [`k:key_${org}`, `p:project_${org}`, `o:${nameOf(org)}`])
      scopes?.push(
        scope,
        today,
        startsMs,
        monthStartsMs,
        sum,
        today,
        0,
        0,
        0,
        -1,
        0,
        0,
        startsMs + DAY_MS,
        -1,
        today,
        startsMs + DAY_MS,
      );
  }
  const [after, last] = count === 0 ? [0, 0] : [number, number + 1];
  return ["credit", after, last, `mark-${last}`, parts, scopes];
}
