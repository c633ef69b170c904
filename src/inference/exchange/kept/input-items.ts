/**
 * Pages of the items that stored responses were made from. Where the items of a response stand is found once for all of its pages, in
 * slices that all callers share: a client that lists ten thousand items asks a hundred times.
 */
import type { KeyContext } from "../../../account/keyring.ts";
import { fail } from "../../../base/errors.ts";
import { FairLimit } from "../../../base/turns/fair-queue.ts";
import { type GivenItems, givenItems, listedItems } from "../../../wire/responses/given-items.ts";
import { type NoSuchItem, type PageQuery, pageJson, pageOf } from "./item-pages.ts";
import type { StoredResponse } from "./kept-rows.ts";
import { MOST_QUOTED, type ResponseOwner, type StoredResponses } from "./stored-responses.ts";

/** Whose responses are listed. */
type Lister = ResponseOwner & Pick<KeyContext, "orgId">;

/** Pages in work, each of which holds its response in memory; others wait, and orgs take turns. */
const PAGES_AT_ONCE = 4;
/** Items of all responses whose places are remembered; each takes some hundred bytes. */
const MOST_REMEMBERED = 100_000;
/** What a response takes beside its items, as so many of them. */
const COUNT_OF_RESPONSE = 20;
/** Characters of a response that is looked through again for each page: that costs no more than to remember it. */
const SHORT_TEXT = 16 * 1024;
/** A page of more bytes is sent in a turn of its own. */
const LONG_PAGE_BYTES = 256 * 1024;

interface Remembered {
  readonly given: Promise<GivenItems>;
  /** 0 until the items are found. */
  count: number;
}

export class InputItems {
  readonly #responses: StoredResponses;
  /** By owner and id; from the least recently used to the most. A stored response never changes. */
  readonly #found = new Map<string, Remembered>();
  #count = 0;
  readonly #atOnce = new FairLimit(PAGES_AT_ONCE);

  constructor(responses: StoredResponses) {
    this.#responses = responses;
  }

  /**
   * JSON of the page; undefined where there is no such response.
   * @throws WeirError 400 where no item has the id that the page is to stand by; 503 as `StoredResponses.get`
   */
  page(owner: Lister, id: string, query: PageQuery): Promise<Buffer | undefined> {
    return this.#atOnce.run(owner.orgId, () => this.#page(owner, id, query));
  }

  async #page(owner: Lister, id: string, query: PageQuery): Promise<Buffer | undefined> {
    const { turns } = this.#responses;
    const { orgId } = owner;
    // A row of megabytes takes milliseconds to read: those of many callers are not read in one turn.
    await turns.next(orgId);
    const stored = await this.#responses.get(owner, id);
    if (stored === undefined) return undefined;
    const given = await this.#givenOf(owner, id, stored);
    const found = pageOf(given, query, madeFromNone);
    const texts = await turns.run(orgId, listedItems(stored.items, given, found.indices));
    const page = Buffer.from(pageJson(given, found, texts));
    // Megabytes are written and sent in two turns.
    if (page.length > LONG_PAGE_BYTES) await turns.next(orgId);
    return page;
  }

  #givenOf(owner: Lister, id: string, { items, response }: StoredResponse): Promise<GivenItems> {
    const name = `${owner.projectId}/${owner.environment}/${id}`;
    const before = this.#found.get(name);
    if (before !== undefined) {
      this.#found.delete(name);
      this.#found.set(name, before);
      return before.given;
    }
    const given = this.#responses.turns.run(owner.orgId, givenItems(items, response));
    if (items.length + response.length < SHORT_TEXT) return given;
    const kept: Remembered = { given, count: 0 };
    this.#found.set(name, kept);
    given.then(
      ({ ids }) => this.#remember(name, kept, ids.length),
      () => this.#found.delete(name),
    );
    return given;
  }

  #remember(name: string, kept: Remembered, count: number): void {
    if (this.#found.get(name) !== kept) return;
    kept.count = count + COUNT_OF_RESPONSE;
    this.#count += kept.count;
    for (const [oldest, other] of this.#found) {
      if (this.#count <= MOST_REMEMBERED || other === kept) break;
      this.#found.delete(oldest);
      this.#count -= other.count;
    }
  }
}

const madeFromNone: NoSuchItem = (id, param) =>
  fail("invalid_value", `The response was made from no item "${id.slice(0, MOST_QUOTED)}".`, { param });
