/**
 * Conversations over all cells. Redis knows of each which cell made its newest version, and has the bytes of those that were changed last;
 * others are read from the cell that has them. Whoever changes one has claimed it, as an `Idempotency-Key` is claimed.
 */
import type { Timers } from "../../../base/clock.ts";
import { FairLimit } from "../../../base/turns/fair-queue.ts";
import type {
  Conversation,
  OwnRows,
  SharedConversations,
} from "../../../inference/exchange/kept/kept-rows.ts";
import type { Cell } from "../cell.ts";
import { FILLER } from "../dataset/dataset.ts";
import { within } from "../within.ts";
import { type Claims, PATIENCE_MS, unavailable } from "./claims.ts";
import type { Forgotten } from "./forgotten.ts";
import { claimOf, ownerPart, packConversation, unpackConversation } from "./packed.ts";
import type { Sender } from "./sender.ts";

export interface SharedConversationsOptions {
  readonly cell: Pick<Cell, "name" | "lane" | "peers" | "signals" | "listed">;
  readonly timers: Timers;
  readonly claims: Claims;
  readonly sender: Sender;
  readonly forgotten: Pick<Forgotten, "hasResponse" | "add">;
  /** @throws WeirError 503 where Redis does not answer in time */
  readonly look: (names: readonly string[]) => Promise<(Buffer | null)[]>;
  readonly onFailure: (error: unknown) => void;
}

/** What another cell has made a moment ago may be on its way. */
const AGAIN_MS = 100;
const TOPIC = "conversation";
/** Names of conversations among those of other cells' files. */
export const PEER_PREFIX = "conversation:";
const PART_BYTES = 256 * 1024;
/** A conversation that was packed for a reading cell stays in memory so long: that cell asks for the next part. */
const PACKED_MS = 1000;

type Named = readonly [owner: string, id: string, version: string];

/** Another cell made this version: an older one need not be kept. */
type Superseded = readonly [owner: string, id: string, version: number];

export class ConversationsOfCells implements SharedConversations {
  readonly #options: SharedConversationsOptions;
  #own: OwnRows | undefined;
  /** One at a time is read from another cell, in dozens of messages. */
  readonly #reads = new FairLimit(1);
  /** The latest that another cell reads. */
  #packed: { readonly name: string; readonly bytes: Uint8Array } | undefined;

  constructor(options: SharedConversationsOptions) {
    this.#options = options;
  }

  start(own: OwnRows): void {
    const { cell, onFailure } = this.#options;
    this.#own = own;
    cell.signals.on(TOPIC, (content) => {
      if (!isSuperseded(content)) return;
      own.supersede(...content).catch(onFailure);
    });
    cell.peers.serve(PEER_PREFIX, async (name, offset) => {
      const packed = this.#packed?.name === name ? this.#packed : this.#pack(own, name);
      return packed?.bytes.subarray(offset, offset + PART_BYTES);
    });
  }

  #pack(own: OwnRows, name: string): { readonly name: string; readonly bytes: Uint8Array } | undefined {
    const [owner = "", id = "", version] = name.slice(PEER_PREFIX.length).split("|");
    const found = own.conversation(owner, id);
    // Parts of two versions would be none.
    if (found === undefined || `${found.head.version}` !== version) return undefined;
    const packed = { name, bytes: packConversation(found) };
    this.#packed = packed;
    this.#options.timers.after(PACKED_MS, () => {
      if (this.#packed === packed) this.#packed = undefined;
    });
    return packed;
  }

  /** Tells the cell that had the version before. One that does not hear it keeps its row until that ends. */
  superseded(cell: string, owner: string, id: string, version: number): void {
    const content: Superseded = [owner, id, version];
    this.#options.cell.signals.tellOne(cell, TOPIC, content);
  }

  async mayAdd(owner: string, id: string, leftMs: number, most: number): Promise<boolean> {
    const sent = this.#options.cell
      .lane("conversations")
      .send([["conversation_new", ownerPart(owner), id, leftMs, most]]);
    const results = await sent.catch(() => {
      throw unavailable();
    });
    return results[0]?.[0] === 1;
  }

  async claim(owner: string, id: string): Promise<boolean> {
    const claimed = await this.#options.claims.claim(claimOf(owner, id), "", "");
    return claimed.kind === "first";
  }

  unclaim(owner: string, id: string): void {
    void this.#options.claims.unclaim(claimOf(owner, id));
  }

  willShare(owner: string, id: string): void {
    this.#options.sender.willShareConversation(owner, id);
  }

  shared(owner: string, id: string): Promise<void> {
    return this.#options.sender.shared(["c", owner, id]);
  }

  isForgotten(owner: string, id: string): boolean {
    return this.#options.forgotten.hasResponse(owner, id);
  }

  forget(owner: string, id: string): void {
    this.#options.forgotten.add(["response", owner, id]);
  }

  async newest(
    owner: string,
    id: string,
    ownVersion: number | undefined,
  ): Promise<Conversation | "own" | undefined> {
    const name = `${ownerPart(owner)}/${id}`;
    const names = [`conversation:${name}`, `bytes:c/${name}`];
    let [known = null, bytes = null] = await this.#options.look(names);
    if (known === null && ownVersion !== undefined) return "own";
    if (known === null) {
      await new Promise<void>((resolve) => void this.#options.timers.after(AGAIN_MS, resolve));
      [known = null, bytes = null] = await this.#options.look(names);
    }
    // Deleted meanwhile.
    if (known === null || this.isForgotten(owner, id)) return undefined;
    const [version = "", cell = ""] = known.toString().split(" ");
    if (ownVersion !== undefined && ownVersion >= Number(version)) return "own";
    // It was away when it would have been told.
    if (ownVersion !== undefined)
      this.#own?.supersede(owner, id, Number(version)).catch(this.#options.onFailure);
    if (bytes !== null) return unpackConversation(bytes);
    return await this.#inTurn(owner, () => this.#fromOther(cell, [owner, id, version]));
  }

  /** @throws WeirError 503 where its turn does not come in time */
  async #inTurn<T>(owner: string, read: () => Promise<T>): Promise<T | undefined> {
    const turn = Promise.withResolvers<void>();
    let isLate = false;
    const done = this.#reads.run(owner, async () => {
      turn.resolve();
      return isLate ? undefined : await read();
    });
    done.catch(() => {});
    isLate = !(await within(PATIENCE_MS, turn.promise));
    if (isLate) throw unavailable();
    return await done;
  }

  /** @throws WeirError 503 where the cell is away; one that was retired has left nothing */
  async #fromOther(of: string, named: Named): Promise<Conversation | undefined> {
    const { cell } = this.#options;
    const found = of === FILLER ? undefined : await this.#fromCell(of, named);
    if (found !== undefined) return found;
    const { cells } = await cell.listed().catch(() => {
      throw unavailable();
    });
    const running = cells.filter(({ status }) => status !== "retired");
    if (of !== FILLER) {
      if (running.every((each) => each.cell !== of)) return undefined;
      throw unavailable();
    }
    // A used folder that became a cell's has it, and had no name when that was told.
    for (const { cell: name } of running) {
      const one = name === cell.name ? undefined : await this.#fromCell(name, named);
      if (one !== undefined) return one;
    }
    throw unavailable();
  }

  async #fromCell(cell: string, named: Named): Promise<Conversation | undefined> {
    const name = PEER_PREFIX + named.join("|");
    const parts: Uint8Array[] = [];
    for (let offset = 0; ; ) {
      const part = await this.#options.cell.peers.part(cell, name, offset);
      if (part === undefined) return undefined;
      parts.push(part);
      offset += part.length;
      if (part.length < PART_BYTES) return unpackConversation(Buffer.concat(parts));
    }
  }
}

function isSuperseded(content: unknown): content is Superseded {
  if (!Array.isArray(content) || content.length !== 3) return false;
  const [owner, id, version] = content;
  return typeof owner === "string" && typeof id === "string" && typeof version === "number";
}
