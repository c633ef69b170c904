/** Reads from a streamed response what it reports beside tokens: its tier, and the items that show uses of the provider's tools. */

import {
  laterOpenAiTiers,
  NO_TIERS,
  reportOf,
  responsesTool,
  tellOpenAiUses,
  Uses,
} from "../extras/reports.ts";
import type { Report, TierNames } from "../neutral/asked-extras.ts";
import { isObject, type JsonObject, listOf, objectOf, SseStreamReader } from "../neutral/reader.ts";

/** More items than any answer has. */
const MOST_ITEMS = 4096;

export abstract class ReportedStream extends SseStreamReader {
  /** The tool of each item, by its place; what an item did is known when it is done. */
  readonly #tools = new Map<unknown, string>();
  #uses = new Uses();
  #tiers: TierNames = NO_TIERS;

  get report(): Report | undefined {
    return reportOf(this.#tiers, this.#counted());
  }

  get toolUses(): number {
    return this.#tools.size === 0 && this.#uses.isEmpty ? 0 : this.#counted().total;
  }

  /** Reads one event of any shape. */
  protected abstract takeEvent(event: JsonObject, name: string): void;

  protected take(event: JsonObject, name: string): void {
    if (isObject(event.item)) this.#note(event.output_index, event.item);
    else if (isObject(event.response)) this.#end(event.response);
    this.takeEvent(event, name);
  }

  #note(place: unknown, item: JsonObject): void {
    const tool = responsesTool(item);
    if (tool === "") this.#tools.delete(place);
    else if (this.#tools.size < MOST_ITEMS || this.#tools.has(place)) this.#tools.set(place, tool);
  }

  /** The response at its start and its end. At the end it has all items; some servers send no others. */
  #end(response: JsonObject): void {
    this.#tiers = laterOpenAiTiers(this.#tiers, response);
    const items = listOf(response.output);
    for (const [place, item] of items.entries()) this.#note(place, objectOf(item));
    this.#uses = new Uses();
    tellOpenAiUses(response.usage, this.#uses);
  }

  #counted(): Uses {
    const uses = new Uses();
    for (const tool of this.#tools.values()) uses.see(tool);
    for (const [name, count] of Object.entries(this.#uses.record())) uses.tell(name, count);
    return uses;
  }
}
