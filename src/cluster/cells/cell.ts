/** Opens one cell: its folder's store, its connections to Redis, and the parts between them. */

import type { Clock } from "../../base/clock.ts";
import type { Histogram } from "../../base/metrics/histogram.ts";
import type { Store } from "../../store/store.ts";
import { type ToldBy, toldCall } from "./answers/told-call.ts";
import { warnOfClock } from "./clock/clock-check.ts";
import { SharedClock } from "./clock/shared-clock.ts";
import type { Entered } from "./dataset/dataset.ts";
import { FORMATS, type Formats } from "./dataset/formats.ts";
import { type Lane, type Operation, Session } from "./exchange/exchange.ts";
import { type Inserting, Parts, type Restating } from "./exchange/parts.ts";
import { leave } from "./leave.ts";
import { Beats } from "./membership/beats.ts";
import { Lag } from "./membership/lag.ts";
import { RETIRE_SILENCE_MS, type Registered, registeredCells, retire } from "./membership/registry.ts";
import { Standings } from "./membership/standings.ts";
import { Wakefulness } from "./membership/wakefulness.ts";
import { Flush, type Flushed, type FlushHook } from "./messages/flush.ts";
import { Peers } from "./messages/peers.ts";
import { Questions } from "./messages/questions.ts";
import { Signals } from "./messages/signals.ts";
import { DATASET_KEY } from "./redis/keys.ts";
import { type RedisClient, type RedisLink, type RedisLog, SOCKETS } from "./redis/redis.ts";
import { assertSettings, UnsafeSettings } from "./redis/trust.ts";
import { Committer, EVERYWHERE_MS } from "./replica/committer.ts";
import { Follower } from "./replica/follower.ts";
import { MergedRows } from "./replica/merged-rows.ts";
import { Reads } from "./replica/reads.ts";
import { type AskPage, Replica } from "./replica/replica.ts";
import { RunJournal } from "./replica/run-journal.ts";
import { SharedStore } from "./replica/shared-store.ts";
import { SCRIPTS } from "./scripts/scripts.ts";
import { STALE_MS } from "./settings.ts";

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
  /** `cells.stale_ms` of the settings, which is its default. */
  readonly staleMs?: number | undefined;
  /** Replicas of Redis that must have a change before it counts. Default: 0. */
  readonly replicas?: number;
  /** Default: sockets. */
  readonly redis?: RedisClient;
  /** This process may not go on: a newer one runs under the cell's name, the cell was retired, or Redis holds something else. */
  readonly onEnd: (reason: Error) => void;
  /** Other cells write what this release cannot read: it admits nothing any more, and the process should end when its calls have. */
  readonly onOutdated: (reason: Error) => void;
  /** Default: those of this release. */
  readonly formats?: Formats;
}

export interface Cell {
  readonly name: string;
  readonly store: SharedStore;
  readonly entered: Entered;
  /** The cell acts without Redis for so long at most. */
  readonly staleMs: number;
  /** Wall time of all cells, which is Redis's; see `shared-clock.ts`. */
  readonly clock: SharedClock;
  /** The version of the shared rows here. */
  version(): number;
  /** See `Session.term`. */
  term(): string;
  /** A conversation with the dataset for another part of the cell. */
  lane(name: string): Lane;
  /** A part of the cell says what others must know: see `Restating`. Before `opened`. */
  restates(part: Restating): void;
  /** All parts are open. A term that began meanwhile grants nothing before this. @throws Error once this process may not go on */
  opened(): Promise<void>;
  /** Values of keys of the dataset, named without their prefix; null where there is none. @throws Error where Redis cannot be asked */
  look(names: readonly string[]): Promise<(Buffer | null)[]>;
  /** What a cell told of a call (`answers/told-calls.ts`); undefined where none did. @throws as `look` */
  toldCall(id: string): Promise<ToldBy | undefined>;
  /** Files of other cells' folders. */
  readonly peers: Peers;
  /** Questions to other cells whose answers may take their time. */
  readonly questions: Questions;
  /** How each cell stands, as Redis knew it half a second ago at most. */
  readonly standings: Standings;
  /** Catches up with what is committed now. */
  caughtUp(): Promise<void>;
  /** Another part of the cell found that the process may not go on. */
  end(reason: Error): void;
  /** Short messages to other cells. */
  readonly signals: Signals;
  /** Called when a read at another cell asks for what this one alone knows yet. */
  onFlush(hook: FlushHook): void;
  /** Resolves once the other cells have brought out what they had at this call, or could not within this time (default: 1 s). */
  flushOthers(withinMs?: number): Promise<Flushed>;
  /** The part that inserts this cell's records. */
  inserts(part: Inserting): void;
  /** Rows that all cells add to. */
  readonly merged: MergedRows;
  /** How the cell stands to the others now. */
  standing(): CellStanding;
  /** Resolves true if the cell is in touch, also where it stood still and catches up in a moment; false if that takes longer than 1 s. */
  currentSoon(): Promise<boolean>;
  /**
   * Resolves once all cells have what this one has, or after the time that an act waits for them: for an answer that tells of an act
   * which another caller, or a job, has made.
   */
  seenEverywhere(): Promise<void>;
  /** When rows may be read. */
  readonly reads: Reads;
  /** Since the start. */
  counts(): CellCounts;
  /** The cells of the installation. @throws Error of Redis */
  listed(): Promise<Registered>;
  /** See `retire` of `registry.ts`. */
  retire(cell: string): Promise<boolean | "alive">;
  /** Cuts the connections, as a fault of the network would. For tests. */
  cut(): void;
}

export interface CellCounts {
  /** From the first sending to the reply. */
  readonly exchanges: Histogram;
  readonly exchangeFailures: number;
  /** Runs of acts on shared rows. */
  readonly actsCommitted: number;
  readonly actsRefused: number;
  /** Not a count: acts under way now. */
  readonly actsPending: number;
}

export interface CellStanding {
  /** It hears the others, and may admit calls. */
  readonly isInTouch: boolean;
  readonly isConnected: boolean;
  readonly version: number;
  /** Versions that were committed, by the latest beat, and are not applied here. */
  readonly lag: number;
  /** Cells with a sign of life by the latest beat, this one included. */
  readonly cellsAlive: number;
  /** Since the latest beat that Redis answered; infinite before the first. */
  readonly beatAgeMs: number;
}

const CONNECT_MS = 10_000;

/** @throws Error with a line for the operator */
export async function openCell(options: CellOptions): Promise<Cell> {
  const { link, reading, signals, peers, questions, standings, cut, close } = connectionsOf(options);
  const { cell, datasetId, local, staleMs = STALE_MS } = options;
  const parts = new Parts();
  try {
    await Promise.all([link.ready(CONNECT_MS), reading.ready(CONNECT_MS)]);
    await assertSettings(link);
    await Promise.all([signals.ready(CONNECT_MS), questions.ready(CONNECT_MS)]);
    const replica = new Replica(local);
    const made = partsOf(options, { link, reading, close, replica, parts });
    const { session, store, committer, follower, journal, beats, awake, caughtUp } = made;
    const entered = await session.start();
    store.connect(committer);
    follower.start();
    await follower.reached(entered.version);
    await journal.forgetBefore(session.life);
    beats.start();
    await beats.now();
    awake.start();
    const flush = new Flush(signals);
    return {
      name: cell,
      store,
      entered,
      staleMs,
      clock: made.time,
      signals,
      peers,
      questions,
      standings,
      merged: new MergedRows({ lane: session.lane("merged"), term: () => session.term }),
      counts: () => countsOf(session, committer),
      onFlush: (hook) => flush.onFlush(hook),
      flushOthers: (withinMs) => flush.others(withinMs),
      inserts: (part) => {
        parts.inserting = part;
      },
      standing: () => ({
        isInTouch: made.isCurrent(),
        isConnected: [link, reading].every((one) => one.isReady()) && signals.isListening(),
        version: follower.version,
        beatAgeMs: beats.ageMs(),
        cellsAlive: beats.latest.alive,
        lag: Math.max(0, beats.latest.version - follower.version),
      }),
      currentSoon: made.currentSoon,
      reads: made.reads,
      seenEverywhere: () => beats.everyoneHas(replica.positionRead().version, EVERYWHERE_MS),
      version: () => follower.version,
      term: () => session.term,
      lane: (name) => session.lane(name),
      caughtUp,
      look: async (names) =>
        (await link.run(SCRIPTS.look, DATASET_KEY, datasetId, session.term, ...names)) as (Buffer | null)[],
      toldCall: (id) => toldCall(link, datasetId, id),
      end: (reason) => session.end(reason),
      listed: () => registeredCells(link, datasetId),
      retire: (cell) => retire(link, datasetId, cell, RETIRE_SILENCE_MS, made.time.expectedWall()),
      restates: (part) => parts.add(part),
      async opened() {
        parts.areOpen = true;
        await parts.say(session, [], [["restated"]]);
      },
      cut,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** Connections of one cell: for exchanges, for the stream, and for messages. */
function connectionsOf({ redisUrl: url, cell, datasetId, clock, log, redis = SOCKETS }: CellOptions) {
  const link = redis.connect({ url, log });
  const reading = redis.connect({ url, log });
  const hearing = { cell, datasetId, url, link, clock, listen: redis.listen };
  const signals = new Signals(hearing);
  const peers = new Peers(hearing);
  const standings = new Standings(() => registeredCells(link, datasetId, 0), clock);
  const questions = new Questions({ ...hearing, standings });
  const close = () => {
    for (const connection of [peers, questions, link, reading, signals]) connection.close();
  };
  const cut = () => {
    for (const connection of [link, reading]) connection.renew();
    for (const hearing of [signals, questions]) hearing.cut();
  };
  return { link, reading, signals, peers, questions, standings, cut, close };
}

function countsOf(
  { counts: { failures }, times: exchanges }: Session,
  { counts: { committed, refused }, pending }: Committer,
): CellCounts {
  const acts = { actsCommitted: committed, actsRefused: refused, actsPending: pending };
  return { exchanges, exchangeFailures: failures, ...acts };
}

interface Ground {
  readonly link: RedisLink;
  readonly reading: RedisLink;
  readonly replica: Replica;
  readonly close: () => void;
  /** Those that have something to say first in each term. */
  readonly parts: Parts;
}

/** Each part knows the one before it by a function: they need each other. */
function partsOf(options: CellOptions, { link, reading, replica, close, parts }: Ground) {
  const { cell, local, isShared, clock, log, onEnd } = options;
  const { staleMs = STALE_MS, replicas = 0, formats = FORMATS } = options;
  const onTerm = (session: Session) => restate({ link, session, replica, parts, follower, committer });
  const time = new SharedClock(clock, warnOfClock(log, clock));
  const session = new Session({
    ...options,
    link,
    time,
    onTerm,
    onEnd(reason) {
      for (const part of [follower, committer]) part.end(reason);
      awake.stop();
      onEnd(reason);
    },
  });
  const beats = new Beats({
    lane: session.lane("beat"),
    clock,
    staleMs,
    time,
    applied: () => follower.version,
    onStale: () => awake.missed(),
    onVersion: (version) => lag.heard(version),
    insertedMs: () => parts.inserting.untilMs(),
  });
  const lag = new Lag({ clock, applied: () => follower.version, onLate: () => awake.missed() });
  const format = () => beats.latest.format;
  const caughtUp = async () => await follower.reached((await beats.now()).version);
  const awake = new Wakefulness({ clock, catchUp: caughtUp });
  const isCurrent = () =>
    !session.hasEnded && !follower.hasEnded && awake.isCurrent() && beats.isFresh() && !follower.isLoading;
  const currentSoon = async () => (await awake.currentSoon()) && isCurrent();
  const store = new SharedStore({
    local,
    isShared,
    isCurrent,
    currentSoon,
    format,
    forget: () => forget({ link, session, replica, beats }),
    leave: () => leave({ session, beats, follower, awake, parts, close }),
  });
  const journal = new RunJournal(local, cell);
  const follower: Follower = new Follower({
    link: reading,
    replica,
    log,
    formats,
    replicas,
    ask: pagesOf(options, reading, session),
    also: (entry) => committer.also(entry),
    alsoUpTo: (lastRun) => journal.takeUpTo(lastRun),
    onApplied(entries) {
      committer.applied(entries);
      beats.soon();
    },
    onLoaded: (lastRun, version) => committer.loaded(lastRun, version),
    onLater(reason) {
      // Others need not wait for what it applies.
      void beats.stop();
      for (const part of [follower, committer]) part.end(reason);
      options.onOutdated(reason);
    },
    assured: async () => void (await beats.now()),
    heard: () => beats.latest.version,
  });
  const committer: Committer = new Committer({
    lane: session.lane("documents"),
    beats,
    follower,
    journal,
    clock,
    isShared,
    cell,
    format,
    onRows: (read) => store.onRows(() => read(replica.positionRead())),
    setRunning: (running) => store.setRunning(running),
    life: () => session.life,
    onFault: (error) => session.end(error),
  });
  const reads = new Reads({ clock, beats, follower, isCurrent, currentSoon, caughtUp });
  const made = { session, store, committer, follower, journal, beats, time, awake, reads };
  return { ...made, caughtUp, isCurrent, currentSoon };
}

interface Restated extends Pick<Ground, "link" | "replica" | "parts"> {
  readonly session: Session;
  readonly follower: Follower;
  readonly committer: Committer;
}

/** What the cell says first in a new term. */
async function restate({ link, session, replica, parts, follower, committer }: Restated): Promise<void> {
  // A failover may have led to a server with other settings.
  await assertSettings(link).catch((error: unknown) => {
    if (error instanceof UnsafeSettings) session.end(error);
    throw error;
  });
  const { version, origin } = replica.position;
  const restated: Operation[] = parts.areOpen ? [["restated"]] : [];
  const [[isSame, lastRun, newest] = []] = await parts.say(session, [["restate", version, origin]], restated);
  // A new folder has nothing to follow on from: what a dataset began with is in no entry. And rows that were loaded ahead of
  // the position may be of a past that is lost.
  if (isSame !== 1 || version === 0 || replica.isMixed) follower.loadAnew();
  follower.newTerm(Number(newest));
  committer.restated(String(lastRun));
}

interface Forgetting extends Pick<Ground, "link" | "replica"> {
  readonly session: Session;
  readonly beats: Beats;
}

/**
 * Removed rows leave the dataset, and then the append-only file of Redis, which writes it anew in the background.
 * @throws Error once this process may not go on
 */
async function forget({ link, session, replica, beats }: Forgetting): Promise<void> {
  const { version } = replica.position;
  // A cell that lacks entries which go loads all rows anew.
  await beats.everyoneHas(version, EVERYWHERE_MS);
  let left = 1;
  while (left > 0) {
    const [[answer] = []] = await session.lane("forget").send([["forget", version, replica.tables]]);
    left = Number(answer);
  }
  // It may be at work on it already, or be told by its operator alone.
  await link.call("BGREWRITEAOF").catch(() => {});
}

const pagesOf =
  ({ cell, datasetId }: CellOptions, link: RedisLink, session: Session): AskPage =>
  (what, ...args) =>
    link.run(SCRIPTS.page, DATASET_KEY, datasetId, session.term, what, ...(args.length > 0 ? args : [cell]));
