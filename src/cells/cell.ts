/** Opens one cell: its folder's store, its connections to Redis, and the parts between them. */
import type { Clock } from "../clock.ts";
import type { Store } from "../store/store.ts";
import { Beats } from "./beats.ts";
import { Committer } from "./committer.ts";
import { assertSettings, type Entered } from "./dataset.ts";
import { type Lane, Session, TERM_LANE } from "./exchange.ts";
import { Follower } from "./follower.ts";
import { connectRedis, type RedisLog } from "./redis.ts";
import { Replica } from "./replica.ts";
import { SharedStore } from "./shared-store.ts";

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
  /** Catches up with what is committed now. */
  caughtUp(): Promise<void>;
  /** Cuts the connections, as a fault of the network would. For tests. */
  cut(): void;
}

const CONNECT_MS = 10_000;

/** @throws Error with a line for the operator */
export async function openCell(options: CellOptions): Promise<Cell> {
  const { cell, datasetId, redisUrl: url, local, isShared, clock, log, replicas, onEnd } = options;
  const link = connectRedis({ url, log });
  const reading = connectRedis({ url, log });
  const replica = new Replica(local);
  const close = () => {
    for (const connection of [link, reading]) connection.close();
  };
  try {
    await Promise.all([link.ready(CONNECT_MS), reading.ready(CONNECT_MS)]);
    await assertSettings(link);
    // Each part knows the one before it by a function: they need each other.
    const onTerm = async (session: Session) => {
      const { version, origin } = replica.position;
      const [[isSame] = []] = await session.lane(TERM_LANE).send([["restate", version, origin]]);
      // A new folder has nothing to follow on from: what a dataset began with is in no entry.
      if (isSame !== 1 || version === 0) follower.loadAnew();
    };
    const session = new Session({
      ...{ link, datasetId, cell, onTerm, ...(replicas !== undefined && { replicas }) },
      onEnd,
    });
    const beats = new Beats({ lane: session.lane("beat"), clock, applied: () => follower.version });
    const store = new SharedStore({
      ...{ local, isShared },
      isCurrent: () => beats.isFresh() && !follower.isLoading,
      async leave() {
        await beats.stop();
        await session.lane("leave").send([["leave"]]);
        close();
        await follower.stop();
      },
    });
    const follower: Follower = new Follower({
      ...{ link: reading, replica, isShared, log },
      also: (entry) => committer.also(entry),
      onApplied(entries) {
        committer.applied(entries);
        beats.soon();
      },
      assured: async () => void (await beats.now()),
    });
    const committer: Committer = new Committer({
      ...{ lane: session.lane("documents"), beats, follower, isShared },
      onRows: (read) => store.onRows(() => read(replica.positionInAct().version)),
      setRunning: (running) => store.setRunning(running),
      origin: () => `${cell}:${session.life}`,
    });
    const entered = await session.start();
    store.connect(committer);
    follower.start();
    await follower.reached(entered.version);
    beats.start();
    await beats.now();
    return {
      ...{ store, entered },
      version: () => follower.version,
      lane: (name) => session.lane(name),
      caughtUp: async () => await follower.reached((await beats.now()).version),
      cut() {
        for (const connection of [link, reading]) connection.renew();
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}
