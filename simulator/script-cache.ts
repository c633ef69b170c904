/**
 * Scripts that were composed, by route and body: a client that sends the same request again gets the same bytes without work. Bounded
 * by number and by memory, the oldest goes first, for a client that never repeats itself must not fill the process.
 */
import type { Script } from "./playback.ts";

export const MAX_SCRIPTS = 1_000;
export const MAX_SCRIPTS_BYTES = 16_777_216;
/** One that would take more is not kept, so that it does not drive all others out. */
const MAX_SCRIPT_BYTES = 4_194_304;
/** Memory of one script, and of one step, beside their bytes. */
const SCRIPT_BYTES = 500;
const STEP_BYTES = 250;

interface Kept {
  readonly route: string;
  readonly body: string;
  readonly bytes: number;
}

export class ScriptCache {
  /** By route, then body: no key is put together for a look. */
  readonly #scripts = new Map<string, Map<string, Script>>();
  /** Oldest first. */
  readonly #order = new Set<Kept>();
  #bytes = 0;

  get(route: string, body: string): Script | undefined {
    return this.#scripts.get(route)?.get(body);
  }

  /** Number of the replies that are kept, and the bytes of memory that they take. */
  get size(): { readonly scripts: number; readonly bytes: number } {
    return { scripts: this.#order.size, bytes: this.#bytes };
  }

  /** Keeps the reply to a body. @param body that no kept reply has */
  add(route: string, body: string, script: Script): void {
    const bytes = bytesOf(script) + body.length;
    if (bytes > MAX_SCRIPT_BYTES) return;
    const scripts = this.#scripts.get(route) ?? new Map<string, Script>();
    scripts.set(body, script);
    this.#scripts.set(route, scripts);
    this.#order.add({ route, body, bytes });
    this.#bytes += bytes;
    while (this.#order.size > MAX_SCRIPTS || this.#bytes > MAX_SCRIPTS_BYTES) this.#dropOldest();
  }

  #dropOldest(): void {
    const [oldest] = this.#order;
    if (oldest === undefined) return;
    this.#order.delete(oldest);
    this.#bytes -= oldest.bytes;
    const scripts = this.#scripts.get(oldest.route);
    scripts?.delete(oldest.body);
    if (scripts?.size === 0) this.#scripts.delete(oldest.route);
  }
}

const bytesOf = ({ steps }: Script): number =>
  steps.reduce((sum, { bytes }) => sum + STEP_BYTES + bytes.length, SCRIPT_BYTES);
