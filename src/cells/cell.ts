/** Opens one cell: its folder's store, its connections to Redis, and the parts between them. */
import type { Clock } from "../clock.ts";
import type { Store } from "../store/store.ts";
import { Beats } from "./beats.ts";
import { Committer } from "./committer.ts";
import { assertSettings, type Entered } from "./dataset.ts";
import { type Lane, type Operation, Session, TERM_LANE } from "./exchange.ts";
import { Follower } from "./follower.ts";
import { DATASET_KEY } from "./keys.ts";
import { connectRedis, type RedisLink, type RedisLog } from "./redis.ts";
import { Replica } from "./replica.ts";
import { RunJournal } from "./run-journal.ts";
import { SCRIPTS } from "./scripts.ts";
import { SharedStore } from "./shared-store.ts";
import { Wakefulness } from "./wakefulness.ts";

export interface CellOptions {
  /** The cell's name: of its folder for ever. */
  readonly cell: string;
  readonly datasetId: string;
  readonly redisUrl: string;
  readonly local: Store;
  /** Whether all cells have a table. */
  readonly isShared: (table: string) => boolean;
  readonly clock: Clock;
  readonly log: RedisLog;
  /** Replicas of Redis that must have a change before it counts. Default: 0. */
  readonly replicas?: number;
  /** This process may not go on: a newer one runs under the cell's name, the cell was retired, or Redis holds something else. */
  readonly onEnd: (reason: Error) => void;
}

export interface Cell {
  readonly store: SharedStore;
  readonly entered: Entered;
  /** The version of the shared rows here. */
  version(): number;
  /** A conversation with the dataset for another part of the cell. */
  lane(name: string): Lane;
  /** What another part of the cell says at the beginning of each new term, before any cell is granted anything. */
  restates(operations: () => readonly Operation[]): void;
  /** Catches up with what is committed now. */
  caughtUp(): Promise<void>;
  /** Cuts the connections, as a fault of the network would. For tests. */
  cut(): void;
}

const CONNECT_MS = 10_000;
/** A cell that stops tells the others, who do not wait for it then; without Redis they learn it by its silence. */
const LEAVE_MS = 1000;

/** @throws Error with a line for the operator */
export async function openCell(options: CellOptions): Promise<Cell> {
  const { redisUrl: url, local, log } = options;
  const link = connectRedis({ url, log });
  const reading = connectRedis({ url, log });
  const restating: (() => readonly Operation[])[] = [];
  const close = () => {
    for (const connection of [link, reading]) connection.close();
  };
  try {
    await Promise.all([link.ready(CONNECT_MS), reading.ready(CONNECT_MS)]);
    await assertSettings(link);
    const parts = partsOf(options, { link, reading, close, replica: new Replica(local), restating });
    const { session, store, committer, follower, journal, beats, awake, caughtUp } = parts;
    const entered = await session.start();
    store.connect(committer);
    follower.start();
    await follower.reached(entered.version);
    await journal.forgetBefore(session.life);
    beats.start();
    await beats.now();
    awake.start();
    return {
      ...{ store, entered },
      version: () => follower.version,
      lane: (name) => session.lane(name),
      caughtUp,
      restates: (operations) => void restating.push(operations),
      cut() {
        for (const connection of [link, reading]) connection.renew();
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}

interface Ground {
  readonly link: RedisLink;
  readonly reading: RedisLink;
  readonly replica: Replica;
  readonly close: () => void;
  /** What other parts say first in each term. */
  readonly restating: readonly (() => readonly Operation[])[];
}

/** Each part knows the one before it by a function: they need each other. */
function partsOf(options: CellOptions, { link, reading, replica, close, restating }: Ground) {
  const { cell, datasetId, local, isShared, clock, log, replicas, onEnd } = options;
  const onTerm = async (session: Session) => {
    const { version, origin } = replica.position;
    const others = restating.flatMap((operations) => operations());
    const answers = await session.lane(TERM_LANE).send([...others, ["restate", version, origin]]);
    const [isSame, lastRun, newest] = answers.at(-1) ?? [];
    // A new folder has nothing to follow on from: what a dataset began with is in no entry. And rows that were loaded ahead of
    // the position may be of a past that is lost.
    if (isSame !== 1 || version === 0 || replica.isMixed) follower.loadAnew();
    follower.newTerm(Number(newest));
    committer.restated(String(lastRun));
  };
  const session = new Session({
    ...{ link, datasetId, cell, log, onTerm, ...(replicas !== undefined && { replicas }) },
    onEnd(reason) {
      follower.end(reason);
      committer.end();
      awake.stop();
      onEnd(reason);
    },
  });
  const beats = new Beats({ lane: session.lane("beat"), clock, applied: () => follower.version });
  const caughtUp = async () => await follower.reached((await beats.now()).version);
  const awake = new Wakefulness({ clock, catchUp: caughtUp });
  const store = new SharedStore({
    ...{ local, isShared },
    isCurrent: () => !session.hasEnded && awake.isCurrent() && beats.isFresh() && !follower.isLoading,
    async leave() {
      awake.stop();
      await said(session.lane("leave").send([["leave"]]));
      session.close();
      close();
      await Promise.all([beats.stop(), follower.stop()]);
    },
  });
  const journal = new RunJournal(local, cell);
  const follower: Follower = new Follower({
    ...{ link: reading, replica, isShared, log },
    ask: (what, ...args) =>
      reading.run(
        SCRIPTS.page,
        DATASET_KEY,
        datasetId,
        session.term,
        what,
        ...(args.length > 0 ? args : [cell]),
      ),
    also: (entry) => committer.also(entry),
    alsoUpTo: (lastRun) => journal.takeUpTo(lastRun),
    onApplied(entries) {
      committer.applied(entries);
      beats.soon();
    },
    onLoaded: (lastRun) => committer.loaded(lastRun),
    assured: async () => void (await beats.now()),
    heard: () => beats.latest.version,
  });
  const committer: Committer = new Committer({
    ...{ lane: session.lane("documents"), beats, follower, journal, clock, isShared, cell },
    onRows: (read) => store.onRows(() => read(replica.positionInAct())),
    setRunning: (running) => store.setRunning(running),
    life: () => session.life,
    onFault: (error) => session.end(error),
  });
  return { session, store, committer, follower, journal, beats, awake, caughtUp };
}

/** Resolves once this is said, or cannot be within the time. */
async function said(saying: Promise<unknown>): Promise<void> {
  saying.catch(() => {});
  await Promise.race([saying, new Promise((resolve) => setTimeout(resolve, LEAVE_MS))]).catch(() => {});
}
