/** Which of our models a provider's name stands for: makers serve their own, hosts name the maker in front. */

/** Providers that serve their own models → the vendor of these. */
const MAKERS: Readonly<Record<string, string>> = {
  openai: "openai",
  "azure-openai": "openai",
  anthropic: "anthropic",
  google: "google",
  mistral: "mistralai",
  deepseek: "deepseek",
  xai: "x-ai",
  cohere: "cohere",
  jina: "jina",
  voyage: "voyage",
};

/** Names of makers at hosts, in lower case → our vendor. */
const VENDORS: Readonly<Record<string, string>> = {
  "deepseek-ai": "deepseek",
  minimaxai: "minimax",
  "zai-org": "z-ai",
  zai: "z-ai",
  xai: "x-ai",
  mistral: "mistralai",
  liquidai: "liquid",
  "meta-llama": "meta-llama",
  meta: "meta-llama",
};

const own = (table: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** `<vendor>/<model>`; undefined where the name does not tell who made the model. */
export function modelIdOf(provider: string, upstream: string): string | undefined {
  const maker = own(MAKERS, provider);
  if (maker !== undefined) return /^[\w.-]+$/.test(upstream) ? `${maker}/${upstream}` : undefined;
  const [, org = "", name = ""] = /^([A-Za-z0-9-]{1,60})\/([\w.-]{1,120})$/.exec(upstream) ?? [];
  const vendor = org.toLowerCase();
  return name === "" ? undefined : `${own(VENDORS, vendor) ?? vendor}/${name.toLowerCase()}`;
}

/** Catalogues write 4.5 and 4-5 of one model. */
export const sameModel = (id: string): string => id.toLowerCase().replaceAll(".", "-");
