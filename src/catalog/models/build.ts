/**
 * Turns the catalog's files into providers, endpoints and models, after the checks that span files: references,
 * duplicates, limits. Endpoints without a credential are built too, marked inactive, so that their prices keep their
 * history.
 */
import { type Problem, pointerTo } from "../../base/document/document.ts";
import { didYouMean, nearest } from "../../base/document/nearest.ts";
import type { Capabilities, Dialect, Endpoint, Modality, Provider, Task } from "../../base/endpoint.ts";
import type { CatalogFiles, Checked, ConfigDocument } from "./files.ts";
import type { PriceTable } from "./price-versions.ts";
import { type DatedPrices, listPriceTable, markedUp, priceFaults } from "./prices.ts";
import { buildProviders, dataPolicyOf, type Environment } from "./providers.ts";
import type { EndpointEntry, ModelEntry, ModelsFile, PriceEntry } from "./schema.ts";

/** An endpoint without its price version yet. */
export interface EndpointDraft {
  readonly endpoint: Omit<Endpoint, "prices" | "listPrices">;
  readonly prices: PriceTable;
  readonly listPrices: PriceTable;
  /** Prices that replace these at an instant, the earliest first; also those whose instant is over. */
  readonly dated: readonly DatedPrices[];
}

export interface ModelDraft {
  readonly entry: ModelEntry;
  readonly vendor: string;
  /** Empty where no tokenizer is public. */
  readonly tokenizer: string;
  readonly endpoints: readonly EndpointDraft[];
}

export interface CatalogDraft {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly models: readonly ModelDraft[];
}

/** @returns the draft, or every problem found, each with file, line and pointer. */
export async function buildDraft(
  files: CatalogFiles,
  environment: Environment,
): Promise<Checked<CatalogDraft>> {
  const problems: Problem[] = [];
  const providers = await buildProviders(files.providers, environment, problems);
  const build = new Build(providers, problems);
  for (const document of files.vendors) build.vendor(document);
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, value: { providers, models: build.models } };
}

/** `ep_<provider>_<upstream_model>_<region>`; inside a part only letters, digits, dots and dashes. */
const endpointId = (provider: string, upstreamModel: string, region: string): string =>
  `ep_${idPart(provider)}_${idPart(upstreamModel)}_${idPart(region)}`;

const idPart = (text: string): string => text.replaceAll(/[^A-Za-z0-9.-]/g, "-");

class Build {
  readonly models: ModelDraft[] = [];
  readonly #providers: ReadonlyMap<string, Provider>;
  readonly #problems: Problem[];
  /** Where each id was first seen, as `file:line`. */
  readonly #seen = new Map<string, string>();

  constructor(providers: ReadonlyMap<string, Provider>, problems: Problem[]) {
    this.#providers = providers;
    this.#problems = problems;
  }

  vendor(document: ConfigDocument<ModelsFile>): void {
    const { vendor, models, tokenizer = "" } = document.value;
    models.forEach((entry, m) => {
      const path = ["models", m];
      this.#once(document, [...path, "id"], entry.id, "model");
      if (!entry.id.startsWith(`${vendor}/`)) {
        this.#refuse(
          document,
          [...path, "id"],
          `this file's vendor is ${vendor}: expected ${vendor}/<model>`,
        );
      }
      this.#checkTask(document, path, entry);
      const endpoints = entry.endpoints.flatMap((endpoint, e) => {
        const draft = this.#endpoint(document, [...path, "endpoints", e], entry, endpoint);
        return draft === undefined ? [] : [draft];
      });
      this.models.push({ entry, vendor, tokenizer: entry.tokenizer ?? tokenizer, endpoints });
    });
  }

  /** Checks the fields that the model's task requires. */
  #checkTask(document: ConfigDocument<ModelsFile>, path: readonly PropertyKey[], model: ModelEntry): void {
    if ((model.max_output ?? 0) > model.context) {
      this.#refuse(document, [...path, "max_output"], `exceeds the context of ${model.context}`);
    }
    if (model.task !== "generate") return;
    const needed = { max_output: model.max_output, capabilities: model.capabilities };
    for (const [key, value] of Object.entries(needed)) {
      if (value === undefined) this.#refuse(document, path, `a model that generates needs ${key}`);
    }
    if (model.modalities.out.length === 0) {
      this.#refuse(document, [...path, "modalities", "out"], "a model that generates needs one at least");
    }
  }

  #endpoint(
    document: ConfigDocument<ModelsFile>,
    path: readonly PropertyKey[],
    model: ModelEntry,
    entry: EndpointEntry,
  ): EndpointDraft | undefined {
    const provider = this.#providers.get(entry.provider);
    if (provider === undefined) {
      const known = nearest(entry.provider, [...this.#providers.keys()]);
      this.#refuse(document, [...path, "provider"], `no provider "${entry.provider}"${didYouMean(known)}`);
      return undefined;
    }
    const region = this.#region(document, path, provider, entry.region);
    if (region === undefined) return undefined;
    const id = endpointId(provider.id, entry.upstream_model, region);
    this.#once(document, [...path, "upstream_model"], id, "endpoint");
    const contextLength = entry.context ?? model.context;
    if (contextLength > model.context) {
      this.#refuse(document, [...path, "context"], `exceeds the model's context of ${model.context}`);
    }
    const maxOutput =
      model.task === "generate" ? (entry.max_output ?? Math.min(model.max_output ?? 0, contextLength)) : 0;
    if (maxOutput > contextLength) {
      this.#refuse(document, [...path, "max_output"], `exceeds the context of ${contextLength}`);
    }
    this.#checkPrice(document, [...path, "price"], model.task, entry.price);
    entry.scheduled.forEach(({ price }, at) => {
      this.#checkPrice(document, [...path, "scheduled", at, "price"], model.task, price);
    });
    const dialects = this.#dialects(document, path, provider, model.task, entry.dialects);
    const beyond = entry.modalities_in?.find((m) => !model.modalities.in.includes(m));
    if (beyond !== undefined) {
      this.#refuse(document, [...path, "modalities_in"], `${beyond} is not among the model's modalities`);
    }
    const markupBps = entry.markup_bps ?? model.markup_bps;
    const modalitiesIn = entry.modalities_in ?? model.modalities.in;
    const toolPrices = model.task === "generate" ? provider.serverTools : {};
    const listPrices = listPriceTable(entry.price, toolPrices);
    return {
      endpoint: {
        id,
        model: model.id,
        provider,
        dialects,
        task: model.task,
        upstreamModel: entry.upstream_model,
        region,
        status: entry.status,
        quantization: entry.quantization,
        contextLength,
        maxOutput,
        imageTokens: entry.image_tokens ?? model.image_tokens,
        capabilities: capabilitiesOf(entry.capabilities ?? model.capabilities ?? [], modalitiesIn),
        modalitiesIn: Object.freeze([...modalitiesIn]),
        markupBps,
        dataPolicy: entry.data_policy === undefined ? provider.dataPolicy : dataPolicyOf(entry.data_policy),
      },
      prices: markedUp(listPrices, markupBps),
      listPrices,
      dated: entry.scheduled.map(({ from, price }) => {
        const list = listPriceTable(price, toolPrices);
        return { fromMs: Date.parse(from), prices: markedUp(list, markupBps), listPrices: list };
      }),
    };
  }

  #checkPrice(
    document: ConfigDocument<ModelsFile>,
    path: readonly PropertyKey[],
    task: Task,
    price: PriceEntry,
  ): void {
    for (const { key, message } of priceFaults(task, price)) {
      this.#refuse(document, key === undefined ? path : [...path, ...key], message);
    }
  }

  /** The dialects of the endpoint, or of its provider, that serve the model's task. */
  #dialects(
    document: ConfigDocument<ModelsFile>,
    path: readonly PropertyKey[],
    provider: Provider,
    task: Task,
    own: readonly Dialect[] | undefined,
  ): readonly Dialect[] {
    const stranger = own?.find((dialect) => !TASKS_OF[dialect].includes(task));
    if (stranger !== undefined) {
      this.#refuse(document, [...path, "dialects"], `nothing is asked to ${task} in ${stranger}`);
    }
    const dialects = (own ?? provider.dialects).filter((dialect) => TASKS_OF[dialect].includes(task));
    if (dialects.length === 0 && stranger === undefined) {
      const message = `${provider.id} speaks ${provider.dialects.join(", ")}: nothing is asked to ${task} in these`;
      this.#refuse(document, [...path, "provider"], message);
    }
    return Object.freeze(dialects);
  }

  #region(
    document: ConfigDocument<ModelsFile>,
    path: readonly PropertyKey[],
    provider: Provider,
    region: string | undefined,
  ): string | undefined {
    const [first, ...more] = provider.regions;
    if (region === undefined && more.length === 0) return first;
    if (region !== undefined && provider.regions.includes(region)) return region;
    const message =
      region === undefined
        ? `needs a region: ${provider.id} has ${provider.regions.join(", ")}`
        : `${provider.id} has no region "${region}"${didYouMean(nearest(region, provider.regions))}`;
    this.#refuse(document, region === undefined ? path : [...path, "region"], message);
    return undefined;
  }

  #once(document: ConfigDocument<ModelsFile>, path: readonly PropertyKey[], id: string, what: string): void {
    const before = this.#seen.get(id);
    if (before !== undefined) {
      this.#refuse(document, path, `${what} ${id} stands already at ${before}`);
      return;
    }
    this.#seen.set(id, `${document.file}:${document.at(path).line}`);
  }

  #refuse(document: ConfigDocument<ModelsFile>, path: readonly PropertyKey[], message: string): void {
    this.#problems.push({ file: document.file, ...document.at(path), pointer: pointerTo(path), message });
  }
}

export const TASKS_OF: Readonly<Record<Dialect, readonly Task[]>> = {
  chat: ["generate"],
  responses: ["generate"],
  messages: ["generate"],
  gemini: ["generate"],
  converse: ["generate"],
  openai_embeddings: ["embed"],
  gemini_embeddings: ["embed"],
  cohere: ["embed", "rerank"],
  jina: ["embed", "rerank"],
  voyage: ["embed", "rerank"],
};

const capabilitiesOf = (listed: readonly string[], modalitiesIn: readonly Modality[]): Capabilities =>
  Object.freeze({
    tools: listed.includes("tools"),
    parallelTools: listed.includes("parallel_tools"),
    jsonSchema: listed.includes("json_schema"),
    vision: modalitiesIn.includes("image"),
    audio: modalitiesIn.includes("audio"),
    reasoning: listed.includes("reasoning"),
    cache: listed.includes("cache"),
  });
