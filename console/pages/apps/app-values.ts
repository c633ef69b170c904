/** What one types in the form of an app, what is wrong with it, and the bodies it becomes; and what calls name an app by. Pure. */
import type { Operations } from "../../api/operations.ts";

export type App = Operations["getApp"]["answer"];
type NewBody = Operations["createApp"]["body"];
export type Category = NonNullable<NewBody["category"]>;

/** In the order in which they are offered. */
export const CATEGORY_WORDS: Readonly<Record<Category, string>> = {
  agents: "Agents",
  assistant: "Assistant",
  coding: "Coding",
  customer_support: "Customer support",
  data_analysis: "Data analysis",
  education: "Education",
  games: "Games",
  image_video: "Images and video",
  marketing: "Marketing",
  productivity: "Productivity",
  research: "Research",
  writing: "Writing",
  other: "Other",
};

/** A category of a later release is shown as the API calls it. */
export const categoryText = (category: string): string =>
  Object.hasOwn(CATEGORY_WORDS, category) ? CATEGORY_WORDS[category as Category] : category;

export interface AppValues {
  readonly name: string;
  /** A new app's short name; empty: made of the name. */
  readonly slug: string;
  readonly category: Category;
  readonly url: string;
  readonly isPublic: boolean;
}

export const NEW_VALUES: AppValues = { name: "", slug: "", category: "other", url: "", isPublic: false };

export const valuesOf = ({ name, slug, category, url, public: isPublic }: App): AppValues => ({
  name,
  slug,
  category: category as Category,
  url,
  isPublic,
});

export type ValueFaults = Partial<Record<"name" | "url", string>>;

export const faultsOf = ({ name, url }: AppValues): ValueFaults => ({
  ...(name.trim() === "" && { name: "Give it a name" }),
  ...(url.trim() !== "" && !/^https?:\/\/./i.test(url.trim()) && { url: "Begin with https://" }),
});

export const createBody = ({ name, slug, category, url, isPublic }: AppValues): NewBody => ({
  name: name.trim(),
  ...(slug.trim() !== "" && { slug: slug.trim() }),
  category,
  url: url.trim(),
  public: isPublic,
});

/** Only what differs; undefined where nothing does. */
export function patchBody(app: App, values: AppValues): Operations["updateApp"]["body"] | undefined {
  const { name, category, url, public: isPublic } = createBody(values);
  const body = {
    ...(name !== app.name && { name }),
    ...(category !== app.category && category !== undefined && { category }),
    ...(url !== app.url && url !== undefined && { url }),
    ...(isPublic !== app.public && isPublic !== undefined && { public: isPublic }),
  };
  return Object.keys(body).length === 0 ? undefined : body;
}

/** Names by which a call may say that it is the app's, each once: short name, name, host of the address. */
export function namesOf({ slug, name, url }: Pick<App, "slug" | "name" | "url">): readonly string[] {
  const host = url === "" ? "" : (URL.parse(url)?.host ?? "");
  return [...new Set([slug, name, host])].filter((each) => each !== "");
}

interface Used {
  readonly key: string;
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_micro: number;
}

export interface AppUse {
  readonly requests: number;
  readonly tokens: number;
  readonly costMicro: number;
}

/** What calls of any of the app's names used. @param groups usage by app */
export function useOf(app: Pick<App, "slug" | "name" | "url">, groups: readonly Used[]): AppUse {
  const names = namesOf(app);
  const sum = { requests: 0, tokens: 0, costMicro: 0 };
  for (const { key, requests, input_tokens: input, output_tokens: output, cost_micro: cost } of groups) {
    if (!names.includes(key)) continue;
    sum.requests += requests;
    sum.tokens += input + output;
    sum.costMicro += cost;
  }
  return sum;
}

/** What is copied to show the badge elsewhere. @param origin the gateway's address */
export function snippetsOf(
  { slug, name }: Pick<App, "slug" | "name">,
  origin: string,
): { readonly markdown: string; readonly markup: string } {
  const at = `${origin}/v1/apps/${encodeURIComponent(slug)}`;
  const inMarkup = name.replace(
    /[&<>"]/g,
    (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[character] ?? "&quot;",
  );
  return {
    markdown: `[![${name.replace(/[[\]\\]/g, "\\$&")}](${at}/badge)](${at}/public)`,
    markup: `<a href="${at}/public"><img src="${at}/badge" alt="${inMarkup}"></a>`,
  };
}
