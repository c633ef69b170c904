/**
 * Detached calls of this process: those that run, and those that ended some minutes ago. What a running call says is stored a few times
 * a second, in one act for all calls; its end is stored in the commit that settles it, so a log without an end is a call that nobody
 * was charged for.
 */
import type { KeyObject } from "node:crypto";
import type { Clock } from "../../../base/clock.ts";
import { MINUTE_MS } from "../../../base/time.ts";
import type { Store } from "../../../store/store.ts";
import type { ClientReply } from "../../client-reply.ts";
import type { PlannedCall } from "../call.ts";
import type { Broken } from "../errors/broken-off.ts";
import { keepsText } from "../record.ts";
import type { BrokenEnd, CallLog, LoggedCall } from "./call-log.ts";
import { DetachedReply, type LogKeeper } from "./detached-reply.ts";
import { EndedLog } from "./ended-log.ts";
import { EventLog, type StoredParts } from "./event-log.ts";
import { type LogCipher, logCiphers } from "./log-cipher.ts";
import { type CallRow, howBroken, LogRows, oldest } from "./log-rows.ts";
import { type CallProgress, LogWriter, type Running } from "./log-writer.ts";
import { OrgLogs } from "./org-logs.ts";
import { type ReadableCall, readable } from "./readable-call.ts";

/** How long the log of a call is kept that has ended. */
export const KEEP_MS = 10 * MINUTE_MS;
/** How often old logs are looked for, and readers that are silent for long. */
const TICK_MS = 1000;

export interface DetachedBounds {
  /** Bytes of events of one call, and of all calls of an org, that are kept. */
  readonly callBytes: number;
  readonly orgBytes: number;
}

export interface DetachedPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly masterKeys: readonly [KeyObject, ...KeyObject[]];
  readonly bounds: DetachedBounds;
  /** The life of this cell; empty in a gateway alone. */
  readonly life: string;
  readonly onFault: (error: unknown, requestId: string) => void;
  /** The response in the background of a call of this folder, as failed: JSON text. */
  readonly failedResponse: (call: LoggedCall) => string | undefined;
  /** Nothing of the org's calls is kept once they have ended. */
  readonly isClosed: (orgId: string) => boolean;
  /** Undefined in a gateway alone. */
  readonly elsewhere?: CallsElsewhere | undefined;
}

/** Detached calls of other cells. */
export interface CallsElsewhere {
  /**
   * Undefined: no cell has it.
   * @param cell that is asked; absent: all others are
   * @throws WeirError 503 (as a rejection) where a cell that may have it is away
   */
  find(id: string, cell?: string): Promise<ReadableCall | undefined>;
  /** Readers elsewhere know of a call that this cell has from now on, whatever happens to the cell. */
  began(call: LoggedCall): void;
  /** Its stream cannot be read any more. */
  forgot(call: LoggedCall): void;
  close(): Promise<void>;
}

export class DetachedCalls implements LogKeeper {
  readonly rows: LogRows;
  readonly #ports: DetachedPorts;
  readonly #cipherOf: (callId: string) => LogCipher;
  readonly #logs = new Map<string, CallLog>();
  readonly #running = new Map<string, Running>();
  readonly #orgs = new OrgLogs();
  readonly #writer: LogWriter;
  readonly #timer: NodeJS.Timeout;
  /** Calls that ended since the last tick. */
  #justEnded: DetachedReply[] = [];

  constructor(ports: DetachedPorts) {
    this.#ports = ports;
    this.rows = new LogRows(ports.store);
    this.#writer = new LogWriter(ports, this.rows, (running) => this.#bound(running));
    this.#cipherOf = logCiphers(ports.masterKeys);
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /** Number of calls that run detached, and of logs that are kept. */
  counts(): { readonly running: number; readonly kept: number; readonly bytes: number } {
    return { running: this.#running.size, kept: this.#logs.size, bytes: this.#orgs.bytes };
  }

  /** The log of a call of this process. */
  find(id: string): CallLog | undefined {
    return this.#logs.get(id);
  }

  /** A call of this process, for a reader. */
  own(id: string): ReadableCall | undefined {
    const log = this.#logs.get(id);
    return log && readable(log);
  }

  /** A call of this process or of another cell; else as `CallsElsewhere.find`. */
  async readable(id: string, cell?: string): Promise<ReadableCall | undefined> {
    return this.own(id) ?? (await this.#ports.elsewhere?.find(id, cell));
  }

  /** Finds the logs of ended calls that are in the store. Once, before the first call. */
  load(): void {
    for (const [id, row] of this.rows.all()) {
      const { orgId, projectId, environment, format, isStream, startedMs } = row;
      const call = { id, orgId, projectId, environment, format, isStream, startedMs, isInMemory: false };
      const cipher = this.#cipherOf(id);
      const parts = [...this.rows.partsOf(id)];
      const starts = parts.map(({ first }) => first);
      const events = new EventLog(this.#storedParts(id, cipher), row.end ?? 0, starts);
      events.keptFrom = row.keptFrom;
      for (const { length } of parts) events.bytes += length;
      events.end();
      const { endedMs = 0, status } = row;
      const brokenOff = this.#brokenEnd(call, howBroken(row));
      const part = () => this.rows.part(id, 0, cipher);
      this.#logs.set(id, new EndedLog({ call, events, endedMs, brokenOff, status, part }));
      this.#orgs.add(orgId, id);
      this.#orgs.count(orgId, id, events.bytes);
      this.#ports.elsewhere?.began(call);
      // It was closed while this process was away.
      if (this.#ports.isClosed(orgId)) void this.forget(id);
    }
  }

  #brokenEnd(call: LoggedCall, how: Broken | undefined): BrokenEnd | undefined {
    const { failedResponse } = this.#ports;
    return (
      how && {
        how,
        get response() {
          return failedResponse(call);
        },
      }
    );
  }

  /** Ends an org's calls and forgets their logs. @returns whether some are left, as of one that has not ended yet */
  async erase(orgId: string): Promise<boolean> {
    for (const id of this.#orgs.of(orgId)) {
      if (this.#running.has(id)) this.#logs.get(id)?.cancel();
      else await this.forget(id);
    }
    return this.#orgs.bytesOf(orgId) > 0;
  }

  /** Removes the call's log; its readers are told so. Does nothing where there is none. Never rejects: rows that stay go at the next start. */
  async forget(id: string): Promise<void> {
    const log = this.#logs.get(id);
    if (log === undefined) return;
    this.#logs.delete(id);
    this.#orgs.remove(log.call.orgId, id);
    this.#ports.elsewhere?.forgot(log.call);
    log.events.forget();
    if (log.call.isInMemory) return;
    try {
      await this.rows.remove(id);
    } catch (error) {
      // Found at the next start.
      this.#ports.onFault(error, id);
    }
  }

  /** From now on the call goes on whatever its client does. @param client that made it @returns what takes the place of its client */
  begin(call: PlannedCall, client: ClientReply): DetachedReply {
    const { incoming, key, requestId: id } = call;
    // What its log holds may not be stored.
    const isInMemory = !keepsText(call, call.isZdr) || key.dataPolicy.retentionDays === 0;
    const { orgId, projectId, environment } = key;
    const { life, clock } = this.#ports;
    const format = incoming.format.name;
    const isStream = call.request.facts.stream;
    const about: LoggedCall = {
      id,
      orgId,
      projectId,
      environment,
      format,
      isStream,
      isInMemory,
      startedMs: incoming.tsMs,
      ...(call.isPolled && { isPolled: true }),
    };
    const cipher = this.#cipherOf(id);
    const events = new EventLog(isInMemory ? undefined : this.#storedParts(id, cipher));
    const reply = new DetachedReply(about, events, client, this, clock);
    const row = { orgId, projectId, environment, format, isStream, startedMs: incoming.tsMs, life };
    // Who is to poll for it has its answer as it begins, and that is kept by then.
    const named = call.isPolled ? undefined : call.idempotencyLock?.named;
    const unsaid = { progress: undefined, metered: undefined, isStored: isInMemory };
    this.#running.set(id, { reply, row, key: named, cipher, ...unsaid });
    this.#logs.set(id, reply);
    this.#orgs.add(orgId, id);
    return reply;
  }

  /** Its first attempt is about to begin. */
  began(id: string, progress: CallProgress): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    running.progress = progress;
    this.#ports.elsewhere?.began(running.reply.call);
  }

  /** Stores the beginning of a call's log, before anything is told: a killed process then finds each call that a client or a reader knows of. */
  storeBeginning(id: string): void {
    const running = this.#running.get(id);
    if (running === undefined || running.isStored) return;
    const { reply } = running;
    reply.hold();
    const fault = (error: unknown) => this.#ports.onFault(error, id);
    this.#writer
      .begin(running)
      .catch(fault)
      .then(() => reply.kept())
      .catch(fault);
  }

  /** @returns does the same in an act of the caller, before anything is said */
  beginning(id: string): () => void {
    const running = this.#running.get(id);
    return running === undefined || running.isStored ? NOTHING : this.#writer.written(running).put;
  }

  /**
   * The last the call says, before its settlement is committed. @param last as for `DetachedReply.ending`
   * @returns puts the end of the log; to be called in the act of the settlement
   */
  ending(id: string, last: Buffer, status: number): () => void {
    const running = this.#running.get(id);
    if (running === undefined) return NOTHING;
    const { reply, row, cipher } = running;
    this.#writer.leave(running);
    const { parts, end, status: wholeStatus } = reply.ending(last, status);
    // A call that no upstream was asked for is not kept.
    if (reply.call.isInMemory || running.progress === undefined) return NOTHING;
    const sealed = parts.map(({ first, bytes }) => [first, cipher.seal(first, bytes)] as const);
    running.isStored = true;
    const ended: CallRow = {
      ...row,
      keptFrom: reply.events.keptFrom,
      endedMs: this.#ports.clock.now(),
      end,
      ...(wholeStatus !== undefined && { status: wholeStatus }),
    };
    return () => {
      for (const [first, part] of sealed) this.rows.putPart(id, first, part);
      this.rows.putEnded(id, ended);
    };
  }

  // -- LogKeeper --

  grew(reply: DetachedReply): void {
    const running = this.#running.get(reply.call.id);
    if (running === undefined) return;
    if (reply.call.isInMemory) {
      this.#bound(running);
      return;
    }
    if (running.progress !== undefined) this.#writer.add(running);
  }

  ended(reply: DetachedReply): void {
    const { id, orgId, isInMemory } = reply.call;
    const running = this.#running.get(id);
    if (running === undefined) return;
    this.#running.delete(id);
    this.#writer.leave(running);
    this.#orgs.count(orgId, id, reply.bytes);
    if (running.progress === undefined) {
      this.#logs.delete(id);
      this.#orgs.remove(orgId, id);
      return;
    }
    // Else the others would say, once this process is gone, that the call ended with it and is not charged.
    if (isInMemory) this.#ports.elsewhere?.forgot(reply.call);
    const dropped = this.#bound(running);
    this.#justEnded.push(reply);
    if (dropped.length > 0 && !isInMemory) void this.#drop(id, dropped, reply.events.keptFrom);
  }

  /** What a call said at its end was more than is kept of one. */
  async #drop(id: string, dropped: readonly number[], keptFrom: number): Promise<void> {
    const act = () => {
      for (const number of dropped) this.rows.removePart(id, number);
      const row = this.rows.get(id);
      if (row !== undefined) this.rows.put(id, { ...row, keptFrom });
    };
    await this.#ports.store
      .act(act, { isOwed: true })
      .catch((error: unknown) => this.#ports.onFault(error, id));
  }

  /** Its readers have had a second for its last events: from now on it is in the store alone, or nowhere. */
  #leaveMemory(reply: DetachedReply): void {
    const { id, orgId, isInMemory } = reply.call;
    if (this.#ports.isClosed(orgId)) void this.forget(id);
    if (isInMemory || reply.isWithdrawn) return;
    if (this.#logs.get(id) === reply) this.#logs.set(id, this.#endedLog(id, reply));
    reply.leaveMemory();
  }

  #endedLog(id: string, reply: DetachedReply): CallLog {
    const { call, events, endedMs } = reply;
    const status = reply.whole()?.status;
    const cipher = this.#cipherOf(id);
    const part = () => this.rows.part(id, 0, cipher);
    return new EndedLog({ call, events, endedMs, brokenOff: undefined, status, part });
  }

  #storedParts(id: string, cipher: LogCipher): StoredParts {
    return { read: (first) => this.rows.part(id, first, cipher) };
  }

  /** Keeps a log and its org's logs within their bounds. @returns the parts that are to be removed from the store */
  #bound({ reply, isStored }: Running): readonly number[] {
    const { callBytes, orgBytes } = this.#ports.bounds;
    const { call, events } = reply;
    const { id, orgId } = call;
    this.#orgs.count(orgId, id, reply.bytes);
    const beyondOrg = this.#makeRoom(orgId, id) - orgBytes;
    const beyond = Math.max(events.bytes - callBytes, Math.min(beyondOrg, events.bytes / 2));
    if (beyond <= 0) return [];
    const parts = isStored && !call.isInMemory ? this.rows.partsOf(id) : events.inMemory();
    // Some more, so that not each event has something dropped.
    const { dropped, keptFrom, bytes } = oldest(parts, beyond + Math.min(callBytes, events.bytes) / 16);
    if (dropped.length > 0) events.dropTo(keptFrom, bytes);
    this.#orgs.count(orgId, id, reply.bytes);
    return dropped;
  }

  /** Forgets ended calls of an org, the oldest first, while its logs are beyond their bound. @returns bytes of those that are left */
  #makeRoom(orgId: string, but: string): number {
    const { orgBytes } = this.#ports.bounds;
    const has = this.#orgs.bytesOf(orgId);
    if (has <= orgBytes) return has;
    for (const id of this.#orgs.of(orgId)) {
      if (this.#orgs.bytesOf(orgId) <= orgBytes) break;
      if (id !== but && !this.#running.has(id)) void this.forget(id);
    }
    return this.#orgs.bytesOf(orgId);
  }

  // -- time --

  #tick(): void {
    const oldestMs = this.#ports.clock.now() - KEEP_MS;
    for (const reply of this.#justEnded.splice(0)) this.#leaveMemory(reply);
    for (const [id, log] of this.#logs) {
      if (log.endedMs > 0 && log.endedMs < oldestMs) void this.forget(id);
      else log.events.look();
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#writer.close();
    await this.#ports.elsewhere?.close();
  }
}

const NOTHING = (): void => {};
