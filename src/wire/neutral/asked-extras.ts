/**
 * What a request asks of a provider beyond tokens at the standard price: a tier, a tool that the provider runs. The table in
 * this folder says which members of a body ask for it. Plain data: it crosses from one thread to another.
 */
import { pointerTo } from "../../base/document/document.ts";

/** Prices of these combine: an answer may be fast and in one country. In this order their names make up a tier's name. */
export const ASPECTS = ["tier", "speed", "geo", "latency"] as const;
export type Aspect = (typeof ASPECTS)[number];

/** Names by aspect; an empty name is the standard price, and an absent one unknown. */
export type TierNames = { readonly [A in Aspect]?: string };

export interface Ask {
  /**
   * `tier`: another price for tokens. `tool`: a price for each use. `tokens`: tokens that the body does not show, at the price of
   * tokens. `beta`: it belongs to the tier of this name, and costs nothing by itself.
   */
  readonly kind: "tier" | "tool" | "tokens" | "beta";
  /** Endpoints have their price under this name. Empty: the table knows no name for it, so that no endpoint has a price. */
  readonly name: string;
  /** Only of a tier. */
  readonly aspect?: Aspect;
  /** Where it is in the body: a member, or an element within a member. */
  readonly path: readonly [string, ...(string | number)[]];
  /** In the words of the request, for people; bounded and printable. */
  readonly said: string;
  /** Words by which a choice among tools may name it. */
  readonly called?: readonly string[];
  /** The most uses, if the request bounds them. */
  readonly uses?: number;
  /** What it finds is read by the model as prompt. */
  readonly isRead?: boolean;
  /** Uses that are charged where the provider reports none, because its dialect has no place for them. */
  readonly assumed?: number;
}

export interface Extras {
  readonly asks: readonly Ask[];
  /** Members that the table does not list. They are passed on. */
  readonly unlisted: readonly string[];
}

/** Nearly all requests have this value; it is compared by identity. */
export const NO_EXTRAS: Extras = Object.freeze({ asks: [], unlisted: [] });

/** JSON pointer into the body. */
export const pointerOf = ({ path }: Pick<Ask, "path">): string => pointerTo(path);

const MOST_SAID = 80;

/** A client's word, fit for a warning. */
export const saidOf = (word: string): string =>
  word.slice(0, MOST_SAID).replace(/[^\x20-\x7e]/g, "?") || "(empty)";

/** What an answer reports beside tokens: the tier that served it, and uses of tools that the provider ran. */
export interface Report {
  /** By aspect, named as endpoints price them. Empty: the standard price; absent: not reported. */
  readonly tiers: TierNames;
  /** Uses by tool. */
  readonly uses: Readonly<Record<string, number>>;
}
