/**
 * The form of the table of what changes a provider's bill. Rows are data, each with its source; `scan.ts` reads bodies by them.
 * What is allowed is listed: a tool type, tier, speed or beta without a row counts as priced, and no endpoint has its price.
 */
import type { Aspect } from "../neutral/asked-extras.ts";

/** A tool that the provider runs, at the price of this name. */
export interface PricedTool {
  readonly is: "tool";
  readonly name: string;
  readonly isRead?: true;
  /** Uses that are charged where the provider reports none. */
  readonly assumed?: number;
}

/** A member of a body. */
export type MemberRow =
  /** Costs nothing beyond the tokens that are reported. */
  | { readonly is: "free" }
  /**
   * Each word's name at the endpoint's prices; empty: the standard price. @param at the word is a member of the value
   */
  | {
      readonly is: "tier";
      readonly aspect: Aspect;
      readonly words: Readonly<Record<string, string>>;
      readonly at?: string;
    }
  /** Its presence asks for a tool. False, an empty list and an empty object do not, unless `always`. */
  | (PricedTool & {
      /** It only belongs to a tool of this name, whose uses are held where the tool is. */
      readonly isPart?: true;
      readonly always?: true;
      /** It is a list, and only elements with these ids are at the tool's price. */
      readonly ids?: readonly string[];
    })
  /** Tokens that the body does not show, charged as reported. */
  | { readonly is: "tokens" }
  /**
   * Never sent on the platform's credential: what it costs has no price of the forms that endpoints have. False, an empty list and
   * an empty object are.
   */
  | { readonly is: "unpriced" }
  /** The list of tools. */
  | { readonly is: "tools" }
  /** A list of betas, as the header has them. */
  | { readonly is: "betas" }
  /** A list of kinds of output, of which only the free ones are at the price of tokens. */
  | { readonly is: "words"; readonly free: readonly string[] }
  /** An object of which single members have rows; all others are free. */
  | { readonly is: "object"; readonly rows: Readonly<Record<string, MemberRow>> }
  /** A list of objects, which their `type` tells apart. */
  | { readonly is: "typed"; readonly rows: Readonly<Record<string, MemberRow>> }
  /** A list of items, of which some hold tools. */
  | { readonly is: "items" }
  /** An object whose members a provider reads like those of the body. */
  | { readonly is: "body" };

/** A tool by its type, or by its member. */
export type ToolRow =
  /** The client runs it, or the provider without a charge. */
  | { readonly is: "free" }
  | (PricedTool & {
      /** Member of the tool that holds the machine it runs on: one with more memory than this has another price. */
      readonly machineAt?: string;
    })
  /** Free if all that it holds is. */
  | { readonly is: "group"; readonly at: string }
  /** Free if the client runs it, as its environment says. */
  | { readonly is: "environment"; readonly name: string };

/** A row as the documentation shows it. */
export interface Sourced<Row> {
  /** Name of the member, or type of the tool. */
  readonly of: string;
  readonly row: Row;
  /** Public documentation. */
  readonly source: string;
}

export interface DialectRows {
  readonly members: readonly Sourced<MemberRow>[];
  readonly tools: readonly Sourced<ToolRow>[];
  /** A tool is told apart by the members that it has, not by its type. */
  readonly areToolsNamed?: true;
  /** The version behind a tool's type. */
  readonly toolVersion?: RegExp;
  /** Members that cost nothing beyond reported tokens, by the dialect's reference. */
  readonly free: readonly string[];
  /** The API reference that lists them. */
  readonly reference: string;
  /** Member that bounds the uses of all tools. */
  readonly usesAt?: string;
}

/** A tool at the price of this name, and what it finds is read by the model. */
export const pricedTool = (name: string) => ({ is: "tool", name, isRead: true }) as const;

/** The same where the provider reports no uses: one is charged. */
export const unreportedTool = (name: string) => ({ ...pricedTool(name), assumed: 1 }) as const;

export const SPEED: MemberRow = { is: "tier", aspect: "speed", words: { standard: "", fast: "fast" } };
export const GEO: MemberRow = { is: "tier", aspect: "geo", words: { global: "", us: "us" } };

export const OPENROUTER = "https://openrouter.ai/docs";

/** Other plugins have other prices: https://openrouter.ai/docs/features/multimodal/pdfs */
export const PLUGINS: Sourced<MemberRow> = {
  of: "plugins",
  row: { ...unreportedTool("web_search"), ids: ["web"] },
  source: `${OPENROUTER}/features/web-search`,
};

/** Another host of a model may have another price. */
export const ROUTED: Sourced<MemberRow> = {
  of: "provider",
  row: {
    is: "object",
    rows: {
      order: { is: "unpriced" },
      only: { is: "unpriced" },
      ignore: { is: "unpriced" },
      sort: { is: "unpriced" },
      quantizations: { is: "unpriced" },
    },
  },
  source: `${OPENROUTER}/features/provider-routing`,
};

/** The memory of a machine at a tool's price: https://developers.openai.com/api/docs/pricing */
export const USUAL_MEMORY = "1g";

export const FREE = Object.freeze({ is: "free" } as const);
